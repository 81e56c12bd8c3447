#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace nl::cli {

// So many at a time; the others wait.
class Turns {
 public:
  explicit Turns(int most) : free_(most) {}

  class Turn {
   public:
    Turn(Turns& turns, const std::stop_token& stop);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    explicit operator bool() const { return has_; }  // false: it was asked to stop while it waited

   private:
    Turns& turns_;
    bool has_;
  };

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  int free_;
};

}  // namespace nl::cli

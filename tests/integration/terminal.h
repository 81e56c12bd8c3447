#pragma once

#include <string>
#include <thread>

namespace nl::test {

// A terminal of its own, so many places wide, that keeps what is written to it.
class Terminal {
 public:
  explicit Terminal(int columns);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  const std::string& device() const { return device_; }  // what a program opens as its output
  std::string text();                                    // all of it, once the program has ended; line ends are \n

 private:
  void read_on();

  int master_ = -1, slave_ = -1;
  std::string device_, text_;
  std::thread reader_;
};

}  // namespace nl::test

#pragma once

#include <deque>
#include <mutex>
#include <optional>
#include <string>

namespace nl::servers::mcp {

std::string random_name();  // 128 bits in hex: no client guesses it

// The whole of answers that were cut, for a while: the oldest go first.
class KeptAnswers {
 public:
  std::string keep(std::string text);  // its address
  std::optional<std::string> read(const std::string& uri);

 private:
  struct Kept {
    std::string uri, text;
  };
  std::mutex mutex_;
  std::deque<Kept> kept_;
  std::size_t bytes_ = 0;
};

}  // namespace nl::servers::mcp

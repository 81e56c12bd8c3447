#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace nl::collector {

// "arm window=w1 steps=20 most_ns=2000000000": a word, and words with values.
class Request {
 public:
  explicit Request(const char* line) : line_(line) {}

  bool is(const char* what) const {
    const std::size_t length = std::strlen(what);
    return std::strncmp(line_, what, length) == 0 && (line_[length] == '\0' || line_[length] == ' ');
  }
  std::int64_t number(const char* key, std::int64_t otherwise) const {
    const char* at = value(key);
    if (at == nullptr) return otherwise;
    char* end = nullptr;
    const long long number = std::strtoll(at, &end, 10);
    return end != at && (*end == '\0' || *end == ' ') ? number : otherwise;
  }
  // False: it is not there, too long, or no name of a folder.
  bool word(const char* key, char* to, std::size_t bytes) const {
    const char* at = value(key);
    if (at == nullptr) return false;
    const std::size_t length = std::strcspn(at, " ");
    if (length == 0 || length >= bytes || *at == '.' || std::memchr(at, '/', length) != nullptr) return false;
    std::memcpy(to, at, length);
    to[length] = '\0';
    return true;
  }

 private:
  const char* value(const char* key) const {
    const std::size_t length = std::strlen(key);
    for (const char* at = std::strchr(line_, ' '); at != nullptr; at = std::strchr(at, ' ')) {
      ++at;
      if (std::strncmp(at, key, length) == 0 && at[length] == '=') return at + length + 1;
    }
    return nullptr;
  }

  const char* line_;
};

}  // namespace nl::collector

#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

// What an agent reads costs it: an answer is cut to a number of tokens, between elements, and says what was left out.
namespace nl::servers::mcp {

inline constexpr std::size_t kBytesPerToken = 4;  // of English text and JSON, as tokenizers of today have it, roughly
inline constexpr std::size_t kDefaultTokens = 2000;
inline constexpr std::size_t kLeastTokens = 200, kMostTokens = 200'000;

std::size_t tokens_of(std::size_t bytes);

struct LeftOut {
  std::string pointer;  // JSON pointer into the whole answer
  std::size_t kept = 0, of = 0;
  const char* what = "";  // "elements", "members", "bytes"
};

struct Shortened {
  nlohmann::ordered_json content;
  std::vector<LeftOut> left_out;  // empty: nothing
};

// The whole where it fits, else the beginning of long lists and texts; what is small stays whole, and what is large shares the room.
Shortened shortened(const nlohmann::ordered_json& whole, std::size_t most_bytes);

// As an object whose first member says what was left out and where the whole is.
nlohmann::ordered_json with_note(Shortened shortened, std::size_t whole_tokens, const std::string& whole_uri);

}  // namespace nl::servers::mcp

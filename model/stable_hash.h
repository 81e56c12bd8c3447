#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nl {

// FNV-1a: the same on every machine and in every version, for keys and signatures that files keep. Not for secrets.
constexpr std::uint64_t stable_hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

// The first digits of it, at most 16.
inline std::string stable_hash_text(std::string_view text, std::size_t digits) {
  std::string out;
  for (std::uint64_t hash = stable_hash(text); out.size() < digits; hash <<= 4) out += "0123456789abcdef"[hash >> 60];
  return out;
}

}  // namespace nl

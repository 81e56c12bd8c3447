#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace nl {

struct StringId {
  std::uint32_t value = 0;
  friend bool operator==(StringId, StringId) = default;
  friend auto operator<=>(StringId, StringId) = default;
};

// Every distinct string of a trace, once. Id 0 is the empty string.
class StringPool {
 public:
  StringPool() { intern({}); }
  StringPool(StringPool&&) = default;
  StringPool& operator=(StringPool&&) = default;
  StringPool(const StringPool&) = delete;
  StringPool& operator=(const StringPool&) = delete;

  StringId intern(std::string_view text) {
    if (auto found = ids_.find(text); found != ids_.end()) return found->second;
    StringId id{static_cast<std::uint32_t>(texts_.size())};
    texts_.emplace_back(text);
    ids_.emplace(texts_.back(), id);
    return id;
  }
  const std::string& operator[](StringId id) const { return texts_[id.value]; }
  std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;  // a deque, so that the views in ids_ stay valid
  std::unordered_map<std::string_view, StringId> ids_;
};

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

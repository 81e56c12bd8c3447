#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "model/strings.h"
#include "parsers/nsys/database.h"

namespace nl::parsers {

// The text with every byte that is not UTF-8 replaced by U+FFFD; nothing where it is UTF-8 already.
std::optional<std::string> mended_utf8(std::string_view text);
std::string as_utf8(std::string_view text);  // invalid bytes are replaced

// The table StringIds, whose rows are read only when they are asked for: the table also holds blobs of many megabytes that no
// other table refers to.
class NsysStrings {
 public:
  NsysStrings(const NsysDatabase& database, StringPool& pool);

  StringId by_id(std::int64_t id);  // the empty string where the table has no such id
  std::optional<StringId> find(std::int64_t id);
  StringId intern(std::string_view text);
  std::uint64_t missing() const { return missing_; }
  std::uint64_t mended() const { return mended_; }

 private:
  void load_all(const NsysDatabase& database);

  StringPool& pool_;
  std::unique_ptr<NsysTexts> lookup_;  // empty where there is no such table, or it was loaded whole
  std::unordered_map<std::int64_t, std::optional<StringId>> known_;
  std::uint64_t missing_ = 0;
  std::uint64_t mended_ = 0;
};

}  // namespace nl::parsers

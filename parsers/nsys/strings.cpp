#include "parsers/nsys/strings.h"

namespace nl::parsers {
namespace {

// How many bytes the well-formed UTF-8 sequence at `at` has; 0 where there is none. `bad` is then how
// many bytes one U+FFFD stands for (the longest beginning of a sequence, as Unicode recommends).
std::size_t sequence_bytes(std::string_view text, std::size_t at, std::size_t& bad) {
  auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  unsigned lead = byte(at);
  bad = 1;
  if (lead < 0x80) return 1;
  std::size_t length = lead >= 0xC2 && lead <= 0xDF ? 2 : lead >= 0xE0 && lead <= 0xEF ? 3 : lead >= 0xF0 && lead <= 0xF4 ? 4 : 0;
  if (length == 0) return 0;
  unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  for (std::size_t i = 1; i < length; ++i, low = 0x80, high = 0xBF) {
    unsigned next = byte(at + i);
    if (next < low || next > high) return 0;
    bad = i + 1;
  }
  return length;
}

}  // namespace

std::optional<std::string> mended_utf8(std::string_view text) {
  std::size_t bad = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t length = sequence_bytes(text, at, bad);
    if (length == 0) break;
    at += length;
  }
  if (at == text.size()) return std::nullopt;
  std::string mended(text.substr(0, at));
  while (at < text.size()) {
    std::size_t length = sequence_bytes(text, at, bad);
    if (length == 0) mended += "\xEF\xBF\xBD";
    else mended += text.substr(at, length);
    at += length == 0 ? bad : length;
  }
  return mended;
}

std::string as_utf8(std::string_view text) { return mended_utf8(text).value_or(std::string(text)); }

NsysStrings::NsysStrings(const NsysDatabase& database, StringPool& pool) : pool_(pool) {
  if (!database.has_columns("StringIds", {"id", "value"})) return;
  lookup_ = database.texts("StringIds", "id", "value");
  if (lookup_ == nullptr) load_all(database);
}

void NsysStrings::load_all(const NsysDatabase& database) {
  NsysRows rows = database.select("StringIds", {"id", "value"});
  while (rows.next())
    if (!rows.is_null(1)) known_.emplace(rows.integer(0), intern(rows.text(1)));
}

std::optional<StringId> NsysStrings::find(std::int64_t id) {
  if (auto found = known_.find(id); found != known_.end()) return found->second;
  std::optional<StringId> value;
  if (lookup_)
    if (const auto found = lookup_->find(id)) value = intern(*found);
  if (!value) ++missing_;
  return known_[id] = value;
}

StringId NsysStrings::by_id(std::int64_t id) { return find(id).value_or(StringId()); }

StringId NsysStrings::intern(std::string_view text) {
  if (auto mended = mended_utf8(text)) {
    ++mended_;
    return pool_.intern(*mended);
  }
  return pool_.intern(text);
}

}  // namespace nl::parsers

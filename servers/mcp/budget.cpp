#include "servers/mcp/budget.h"

#include <algorithm>

namespace nl::servers::mcp {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostNotes = 8;
constexpr std::size_t kNoteBytes = 560;     // of the note itself: eight lists, and where the whole is
constexpr std::size_t kFewElements = 12;    // of a list whose elements share the room; of a longer one the first are kept
constexpr std::size_t kSeparatorBytes = 1;  // a comma

std::size_t size_of(const ordered_json& value) { return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace).size(); }

std::string escaped(const std::string& key) {
  std::string text;
  for (const char c : key) text += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return text;
}

class Cutter {
 public:
  ordered_json cut(const ordered_json& value, std::size_t most, const std::string& pointer) {
    if (size_of(value) <= most) return value;
    if (value.is_string()) return cut_text(value.get<std::string>(), most, pointer);
    if (value.is_array()) return value.size() <= kFewElements ? share_array(value, most, pointer) : begin_of_array(value, most, pointer);
    return value.is_object() ? cut_object(value, most, pointer) : value;  // a number is as short as it gets
  }

  std::vector<LeftOut> left_out;

 private:
  ordered_json cut_text(std::string text, std::size_t most, const std::string& pointer) {
    const std::size_t whole = text.size();
    std::size_t end = std::min(whole, most > 5 ? most - 5 : 0);                       // two quotes, and "…"
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // not within a character
    text.resize(end);
    left_out.push_back({pointer, end, whole, "bytes"});
    return text + "…";
  }

  ordered_json begin_of_array(const ordered_json& value, std::size_t most, const std::string& pointer) {
    ordered_json out = ordered_json::array();
    std::size_t left = most > 2 ? most - 2 : 0;
    for (const ordered_json& element : value) {
      const std::size_t size = size_of(element) + kSeparatorBytes;
      if (size > left) break;
      left -= size;
      out.push_back(element);
    }
    left_out.push_back({pointer, out.size(), value.size(), "elements"});
    return out;
  }

  ordered_json share_array(const ordered_json& value, std::size_t most, const std::string& pointer) {
    std::vector<std::size_t> sizes;
    for (const ordered_json& element : value) sizes.push_back(size_of(element));
    const std::size_t frame = 2 + value.size() * kSeparatorBytes;
    const std::size_t share = share_of(sizes, most > frame ? most - frame : 0);
    if (share < kLeastShare) return begin_of_array(value, most, pointer);
    ordered_json out = ordered_json::array();
    for (std::size_t i = 0; i < value.size(); ++i) out.push_back(cut(value[i], share, pointer + "/" + std::to_string(i)));
    return out;
  }

  ordered_json cut_object(const ordered_json& value, std::size_t most, const std::string& pointer) {
    std::vector<std::size_t> sizes;
    std::size_t frame = 2;
    for (const auto& [key, member] : value.items()) {
      sizes.push_back(size_of(member));
      frame += size_of(key) + 2;
    }
    const std::size_t share = share_of(sizes, most > frame ? most - frame : 0);
    if (share < kLeastShare) return begin_of_object(value, most, pointer);
    ordered_json out = ordered_json::object();
    for (const auto& [key, member] : value.items()) out[key] = cut(member, share, pointer + "/" + escaped(key));
    return out;
  }

  ordered_json begin_of_object(const ordered_json& value, std::size_t most, const std::string& pointer) {
    ordered_json out = ordered_json::object();
    std::size_t left = most > 2 ? most - 2 : 0;
    for (const auto& [key, member] : value.items()) {
      const std::size_t size = size_of(key) + size_of(member) + 2;
      if (size > left) continue;  // a smaller one may follow
      left -= size;
      out[key] = member;
    }
    left_out.push_back({pointer, out.size(), value.size(), "members"});
    return out;
  }

  // What each may have at most so that all together have `room`: the small ones stay whole, the large ones share what these leave.
  static std::size_t share_of(std::vector<std::size_t> sizes, std::size_t room) {
    std::sort(sizes.begin(), sizes.end());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const std::size_t share = room / (sizes.size() - i);
      if (sizes[i] > share) return share;
      room -= sizes[i];
    }
    return room;
  }

  static constexpr std::size_t kLeastShare = 12;
};

}  // namespace

std::size_t tokens_of(std::size_t bytes) { return (bytes + kBytesPerToken - 1) / kBytesPerToken; }

Shortened shortened(const ordered_json& whole, std::size_t most_bytes) {
  if (size_of(whole) <= most_bytes) return {whole, {}};
  Cutter cutter;
  ordered_json content = cutter.cut(whole, most_bytes > kNoteBytes ? most_bytes - kNoteBytes : 0, "");
  return {std::move(content), std::move(cutter.left_out)};
}

ordered_json with_note(Shortened shortened, std::size_t whole_tokens, const std::string& whole_uri) {
  if (shortened.left_out.empty()) return std::move(shortened.content);
  ordered_json note = {{"whole_tokens", whole_tokens}, {"whole", whole_uri}, {"left_out", ordered_json::array()}};
  for (const LeftOut& each : shortened.left_out) {
    if (note["left_out"].size() == kMostNotes) {
      note["more_left_out"] = shortened.left_out.size() - kMostNotes;
      break;
    }
    note["left_out"].push_back({{"at", each.pointer}, {"kept", each.kept}, {"of", each.of}, {"what", each.what}});
  }
  ordered_json out = {{"cut", std::move(note)}};
  if (shortened.content.is_object()) out.update(shortened.content);
  else out["value"] = std::move(shortened.content);
  return out;
}

}  // namespace nl::servers::mcp

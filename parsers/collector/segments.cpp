#include <algorithm>
#include <utility>

#include "parsers/collector/records.h"

namespace nl::parsers::collector_trace {
namespace {

bool continues(const File& earlier, const File& later) {
  return earlier.segment.began_ns != 0 && earlier.segment.began_ns == later.segment.began_ns && earlier.header.pid == later.header.pid;
}

// Texts of both under numbers of their own. Handles are written into every file again, so that many are the same.
class Renumbering {
 public:
  Renumbering(File& whole, const File& part) {
    for (const auto& [number, text] : whole.strings) next_ = std::max(next_, number < kFirst ? kFirst : number + 1);
    for (const auto& [number, text] : part.strings) {
      const auto known = whole.strings.find(number);
      const bool same = known != whole.strings.end() && known->second == text;
      numbers_[number] = same ? number : next_++;
      if (!same) whole.strings.emplace(numbers_[number], text);
    }
  }
  std::uint32_t operator[](std::uint32_t number) const {
    const auto found = numbers_.find(number);
    return found != numbers_.end() ? found->second : number;
  }

 private:
  static constexpr std::uint32_t kFirst = 0xC0000000;  // beyond those that the collector gives
  std::uint32_t next_ = kFirst;
  std::unordered_map<std::uint32_t, std::uint32_t> numbers_;
};

void join(File& whole, File&& part) {
  const Renumbering strings(whole, part);
  std::uint64_t after = 0;
  for (const Piece& piece : whole.pieces) after = std::max(after, piece.sequence + 1);
  for (Piece& piece : part.pieces) {
    piece.sequence += after;
    for (Event& event : piece.events) {
      event.name = strings[event.name];
      event.domain = strings[event.domain];
    }
    whole.pieces.push_back(std::move(piece));
  }
  whole.thread_names.merge(part.thread_names);
  for (const auto& [tid, string] : part.nvtx_thread_names) whole.nvtx_thread_names.insert_or_assign(tid, strings[string]);
  whole.more_gpu.push_back(std::move(part.gpu));
}

}  // namespace

void join_segments(std::vector<File>& files) {
  std::vector<File> joined;
  for (File& file : files) {
    const auto whole = std::find_if(joined.begin(), joined.end(), [&](const File& each) { return continues(each, file); });
    if (whole == joined.end()) joined.push_back(std::move(file));
    else join(*whole, std::move(file));
  }
  files = std::move(joined);
}

}  // namespace nl::parsers::collector_trace

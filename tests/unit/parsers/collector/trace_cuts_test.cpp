// Traces of a real GPU that end early, as those of a killed process do. What must be left is worked out from the
// bytes alone, by a walk that knows how long each record is and little else.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "collector/trace_format.h"
#include "parsers/collector/trace.h"
#include "tests/catch.h"
#include "tests/unit/unpacked.h"

using namespace nl;
using namespace nl::parsers;
namespace format = nl::trace_format;
using format::Kind;
using format::Tag;

namespace {

struct Counts {
  std::size_t kernels = 0, mem_ops = 0, calls = 0, syncs = 0, pushed = 0, popped = 0, marks = 0;
  bool session = false;
  friend bool operator==(const Counts&, const Counts&) = default;
};

enum class Where { kBetween, kInRecord, kInPacked };  // records; a block is one, and holds packed ones

struct Cut {
  std::size_t length;
  Where where;
  Counts before;  // in the records that end before it
};

// The end of each record, packed or not, and the middle of it.
class Walk {
 public:
  explicit Walk(const std::string& bytes) : bytes_(bytes) {
    for (std::size_t chunk = 0; chunk < bytes.size(); chunk += format::kChunkBytes) walk_chunk(chunk);
  }
  std::vector<Cut> cuts;
  std::vector<Ns> kernel_starts;  // in the order of the file, by its clock

 private:
  template <typename Record>
  Record load(std::size_t at) const {
    Record record;
    std::memcpy(&record, bytes_.data() + at, sizeof record);
    return record;
  }
  void cut(std::size_t length, Where where) { cuts.push_back({length, where, counts_}); }

  void walk_chunk(std::size_t chunk) {
    std::size_t at = chunk == 0 ? sizeof(format::FileHeader) : chunk, end = chunk + format::kChunkBytes;
    cut(at, Where::kBetween);
    while (at < end) {
      auto head = load<format::Head>(at);
      if (head.kind == Kind{0}) break;
      REQUIRE(head.bytes >= sizeof head);
      if (head.kind == Kind::kGpuBlock) walk_block(at, at + head.bytes);
      else cut(at + head.bytes / 2u, Where::kInRecord);
      count(head.kind);
      at += head.bytes;
      cut(at, Where::kBetween);
    }
    if (at < end) cut(at + (end - at) / 2, Where::kBetween);  // space that was not used
  }

  void count(Kind kind) {
    counts_.pushed += kind == Kind::kPush;
    counts_.popped += kind == Kind::kPop;
    counts_.marks += kind == Kind::kMark;
    counts_.session = counts_.session || kind == Kind::kGpuSession;
  }

  void walk_block(std::size_t block, std::size_t end) {
    cut(block + sizeof(format::Head) / 2, Where::kInRecord);
    work_ns_ = load<format::GpuBlock>(block).base_ns;
    at_ = block + sizeof(format::GpuBlock);
    while (at_ < end && (bytes_[at_] & format::kTagMask) != 0) {
      std::size_t begin = at_;
      Counts before = counts_;
      walk_packed(static_cast<std::uint8_t>(bytes_[at_++]));
      cuts.push_back({(begin + at_) / 2, Where::kInPacked, before});
      if (at_ < end) cut(at_, Where::kInRecord);
    }
    REQUIRE(at_ <= end);
  }

  void walk_packed(std::uint8_t tag) {
    auto kind = static_cast<Tag>(tag & format::kTagMask);
    bool work = kind == Tag::kKernel || kind == Tag::kCopy || kind == Tag::kSet;
    if ((work || kind == Tag::kCall) && (tag & format::kTagSamePlace) == 0) number();
    // How many numbers come before the start, and after it.
    static const std::map<Tag, std::pair<int, int>> numbers{{Tag::kKernel, {1, 2}}, {Tag::kCopy, {3, 3}},   {Tag::kSet, {2, 3}},
                                                            {Tag::kCall, {1, 2}},   {Tag::kSync, {4, 2}},   {Tag::kShape, {10, 0}},
                                                            {Tag::kQueue, {3, 0}},  {Tag::kThread, {2, 0}}, {Tag::kFunction, {2, 0}}};
    for (int i = 0; i < numbers.at(kind).first; ++i) number();
    std::uint64_t start = number();
    if (work) work_ns_ += static_cast<Ns>(start >> 1 ^ (~(start & 1) + 1));
    if (kind == Tag::kThread) at_ += start;  // the length of its name
    for (int i = 0; i < numbers.at(kind).second; ++i) number();
    if (work && (tag & format::kTagGraphNode) != 0) number(), number();
    if ((tag & format::kTagResult) != 0) number();
    counts_.kernels += kind == Tag::kKernel;
    counts_.mem_ops += kind == Tag::kCopy || kind == Tag::kSet;
    counts_.calls += kind == Tag::kCall;
    counts_.syncs += kind == Tag::kSync;
    if (kind == Tag::kKernel) kernel_starts.push_back(work_ns_);
  }

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      auto next = static_cast<std::uint8_t>(bytes_.at(at_++));
      value |= std::uint64_t{next & 0x7Fu} << shift;
      if ((next & 0x80) == 0) return value;
    }
  }

  const std::string& bytes_;
  std::size_t at_ = 0;
  Ns work_ns_ = 0;
  Counts counts_;
};

Counts counts_of(const Trace& trace) {
  Counts counts;
  counts.kernels = trace.kernels.size();
  counts.mem_ops = trace.mem_ops.size();
  if (auto calls = trace.stats.rows_read.find("CUDA calls"); calls != trace.stats.rows_read.end()) counts.calls = calls->second;
  counts.syncs = trace.syncs.size();
  counts.pushed = trace.ranges.size();
  counts.popped = static_cast<std::size_t>(std::count_if(trace.ranges.begin(), trace.ranges.end(), [](const Range& r) { return !r.open; }));
  counts.marks = trace.marks.size();
  counts.session = trace.has_kernel_data;
  return counts;
}

DamagedRows damage_at(Where where) {
  if (where == Where::kBetween) return {};
  if (where == Where::kInRecord) return {{{Code::kRecordCut}, 1}};
  return {{{Code::kRecordCut}, 1}, {{Code::kRestLost, {"GPU record", "block"}}, 1}};
}

// A trace and the same one read from the beginning of its file.
class Comparison {
 public:
  Comparison(const Trace& full, const std::vector<Ns>& starts) : full_(full), places_(starts.size()) {
    // full.kernels are by start; each one's place in the file.
    std::iota(places_.begin(), places_.end(), std::size_t{0});
    std::stable_sort(places_.begin(), places_.end(), [&](std::size_t a, std::size_t b) { return starts[a] < starts[b]; });
  }

  std::string fault(const Trace& part, const Cut& cut) const {
    if (counts_of(part) != cut.before) return "other counts";
    if (part.stats.rows_damaged != damage_at(cut.where)) return "other damage";
    if (!same_shapes(part)) return "other names or launch configurations";
    if (!same_ranges(part)) return "other ranges";
    std::size_t row = 0;
    for (std::size_t i = 0; i < places_.size(); ++i)
      if (places_[i] < cut.before.kernels && !same_kernel(part, part.kernels[row++], full_.kernels[i]))
        return fmt::format("kernel {} is another", row - 1);
    return {};
  }

 private:
  // Definitions come before their use, so that those of a part have the numbers they have in the whole.
  bool same_shapes(const Trace& part) const {
    if (part.shapes.size() > full_.shapes.size() || part.queues.size() > full_.queues.size()) return false;
    for (std::size_t i = 0; i < part.shapes.size(); ++i) {
      const KernelShape &ours = part.shapes[i], &theirs = full_.shapes[i];
      if (part.strings[ours.name] != full_.strings[theirs.name] || ours.grid != theirs.grid || ours.block != theirs.block) return false;
    }
    return std::equal(part.queues.begin(), part.queues.end(), full_.queues.begin());
  }

  bool same_ranges(const Trace& part) const {
    for (std::size_t i = 0; i < part.ranges.size(); ++i) {
      const Range &ours = part.ranges[i], &theirs = full_.ranges[i];
      if (part.strings[ours.name] != full_.strings[theirs.name] || part.strings[ours.domain] != full_.strings[theirs.domain]) return false;
      if (ours.start_ns != theirs.start_ns || ours.end_ns != (ours.open ? part.duration_ns : theirs.end_ns)) return false;
    }
    return true;
  }

  bool same_kernel(const Trace& part, const Kernel& ours, const Kernel& theirs) const {
    bool same = ours.start_ns == theirs.start_ns && ours.duration_ns == theirs.duration_ns && ours.queue == theirs.queue &&
                ours.in_graph == theirs.in_graph && ours.shape == theirs.shape;
    if (ours.api == kNone) return same;  // the call came after the cut
    return same && theirs.api != kNone && part.api_calls.at(ours.api).start_ns == full_.api_calls.at(theirs.api).start_ns;
  }

  const Trace& full_;
  std::vector<std::size_t> places_;
};

// Every `stride`-th of the cuts; returns how many these were.
std::size_t cut_everywhere(const char* fixture, std::size_t stride) {
  const Unpacked file(fixture);
  std::ifstream stream(file.file, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(stream), {});
  const Walk walk(bytes);
  const Trace full = read_collector_traces({file.file});
  REQUIRE(counts_of(full) == walk.cuts.back().before);
  const Comparison comparison(full, walk.kernel_starts);
  std::size_t done = 0;
  for (std::size_t i = walk.cuts.size(); i > 0; i -= std::min(i, stride), ++done) {
    const Cut& cut = walk.cuts[i - 1];
    std::filesystem::resize_file(file.file, cut.length);  // ever shorter
    std::string fault = comparison.fault(read_collector_traces({file.file}), cut);
    if (fault.empty()) continue;
    INFO("cut at " << cut.length << ", where " << static_cast<int>(cut.where));
    REQUIRE(fault == "");
  }
  return done;
}

}  // namespace

// Each cut reads all that comes before it: the longer the trace, the fewer of them.
TEST_CASE("a trace of a real GPU, cut at the end and in the middle of every record, keeps all that came before") {
  CHECK(cut_everywhere(NL_FIXTURES "/h200-collector/llm-cuda-kernels.nltrace.gz", 1) == 2482);
}

TEST_CASE("longer traces of a real GPU, cut at many places, keep all that came before") {
  CHECK(cut_everywhere(NL_FIXTURES "/h200-collector/llm-cuda-graph.nltrace.gz", 71) > 200);
  CHECK(cut_everywhere(NL_FIXTURES "/h200-collector/llm-torch.nltrace.gz", 997) > 46);
}

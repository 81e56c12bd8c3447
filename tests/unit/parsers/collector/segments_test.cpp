#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "parsers/collector/trace.h"
#include "tests/catch.h"
#include "tests/unit/files.h"
#include "tests/unit/parsers/collector/counter_file.h"

namespace fs = std::filesystem;
namespace format = nl::trace_format;
using namespace nl;
using namespace nl::test;
using parsers::read_collector_traces;

namespace {

// The file of a recorder's process that began to record at `began_ns`.
fs::path write_segment(const Folder& folder, const char* name, const CounterFile& file, std::int64_t began_ns, std::uint32_t number) {
  format::FileHeader header;
  std::memcpy(&header, file.bytes.data(), sizeof header);
  header.header_bytes = format::kPlaceOffset;  // as a collector wrote it that noted no rank
  const format::Segment segment{began_ns, number, 0};
  std::string label(sizeof(format::RunLabel), '\0');
  std::string bytes = std::string(reinterpret_cast<const char*>(&header), sizeof header) + label +
                      std::string(reinterpret_cast<const char*>(&segment), sizeof segment) + file.bytes.substr(sizeof header);
  // Chunks stay where they are: the first has so much less room.
  if (bytes.size() > format::kChunkBytes) bytes.erase(format::kChunkBytes, format::kPlaceOffset - sizeof header);
  return folder.file(name, bytes);
}

std::map<std::string, std::size_t> names_of(const Trace& trace) {
  std::map<std::string, std::size_t> names;
  for (const Range& range : trace.ranges) ++names[trace.strings[range.name]];
  return names;
}

constexpr std::uint32_t kPassing = 0x80000001;

}  // namespace

TEST_CASE("collector segments: files of one process continue each other, with texts of their own") {
  const Folder folder;
  CounterFile first(7, 1'000), second(7, 5'000);
  first.thread(7).string(1, "domain").string(kPassing, "step 1").push(kPassing, 2'000).pop(2'500).push(kPassing, 4'000);
  second.thread(7).string(1, "domain").string(kPassing, "step 2").pop(5'500).push(kPassing, 6'000).pop(6'500);
  const Trace trace = read_collector_traces({write_segment(folder, "b", second, 900, 1), write_segment(folder, "a", first, 900, 0)});
  CHECK(trace.processes.size() == 1);
  CHECK(trace.threads.size() == 1);
  CHECK(trace.stats.rows_damaged.empty());
  CHECK(names_of(trace) == std::map<std::string, std::size_t>{{"step 1", 2}, {"step 2", 1}});
  // A range that one file begins is ended by the next.
  const auto across = std::find_if(trace.ranges.begin(), trace.ranges.end(), [](const Range& range) { return range.start_ns == 3'000; });
  REQUIRE(across != trace.ranges.end());
  CHECK(across->end_ns == 4'500);
  CHECK_FALSE(across->open);
}

TEST_CASE("collector segments: what began before the ring is no damage, and in a whole file it is") {
  const Folder folder;
  CounterFile file(7, 1'000);
  file.thread(7).string(1, "step").pop(1'500).push(1, 2'000).pop(2'500);
  CHECK(read_collector_traces({write_segment(folder, "later", file, 900, 4)}).stats.rows_damaged.empty());
  CHECK(read_collector_traces({write_segment(folder, "first", file, 900, 0)}).stats.rows_damaged.size() == 1);
}

TEST_CASE("collector segments: a program that became another one is another process") {
  const Folder folder;
  CounterFile first(7, 1'000), second(7, 5'000), alone(7, 6'000);
  first.thread(7).string(1, "one").push(1, 2'000).pop(2'500);
  second.thread(7).string(1, "two").push(1, 5'100).pop(5'200);
  alone.thread(7).string(1, "three").push(1, 6'100).pop(6'200);
  const std::vector<fs::path> files = {write_segment(folder, "a", first, 900, 0), write_segment(folder, "b", second, 4'900, 0),
                                       write_segment(folder, "c", alone, 0, 0), write_segment(folder, "d", alone, 0, 0)};
  CHECK(read_collector_traces(files).processes.size() == 4);
}

TEST_CASE("collector segments: work of the GPU of several files is that of one process") {
  const Folder folder;
  CounterFile first(7, 1'000), second(7, 5'000);
  first.thread(7).string(1, "step").push(1, 2'000).pop(2'500);
  first.thread(0).add(format::Kind::kTracing, format::Tracing{{}, 1'900}, format::kTracingOn);
  first.add(format::Kind::kTracing, format::Tracing{{}, 2'600}, format::kTracingOff);
  second.thread(7).string(1, "step").push(1, 6'000).pop(6'500);
  second.thread(0).add(format::Kind::kTracing, format::Tracing{{}, 5'900}, format::kTracingOn);
  second.add(format::Kind::kTracing, format::Tracing{{}, 6'600}, format::kTracingOff);
  const Trace trace = read_collector_traces({write_segment(folder, "a", first, 900, 0), write_segment(folder, "b", second, 900, 1)});
  CHECK(trace.processes.size() == 1);
  REQUIRE(trace.duty);
  REQUIRE(trace.duty->spans.size() == 2);
  CHECK(trace.duty->spans[0].process == trace.duty->spans[1].process);
  CHECK(trace.duty->spans[1].start_ns == 4'900);
}

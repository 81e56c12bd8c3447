#include "parsers/collector/trace.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include <unistd.h>

#include "collector/trace_format.h"
#include "model/error.h"
#include "tests/catch.h"
#include "tests/unit/files.h"
#include "tests/unit/parsers/collector/trace_header.h"
#include "tests/unit/remark_texts.h"
#include "tests/unit/unpacked.h"

using namespace nl;
using namespace nl::parsers;
namespace format = nl::trace_format;
using format::Kind;
using nl::test::Folder;

namespace {

// A trace file, record by record, as the collector would have written it.
class FileBuilder {
 public:
  explicit FileBuilder(std::uint32_t pid = 100, std::int64_t monotonic_ns = 1000) {
    header = nl::test::trace_header(pid, monotonic_ns);
    header.realtime_ns = 5'000'000 + monotonic_ns;
    std::strcpy(header.process_name, "prog");
    std::strcpy(header.collector_version, "9.8.7");
    bytes_.resize(sizeof header);
  }
  template <typename Record>
  FileBuilder& add(Kind kind, Record record, std::uint32_t id, const std::string& tail = {}) {
    record.head = {kind, static_cast<std::uint16_t>((sizeof record + tail.size() + 7) / 8 * 8), id};
    bytes_.append(reinterpret_cast<const char*>(&record), sizeof record);
    bytes_.append(tail);
    bytes_.resize(bytes_.size() + (record.head.bytes - sizeof record - tail.size()));
    return *this;
  }
  FileBuilder& thread(std::uint32_t tid, std::uint64_t sequence) {
    return add(Kind::kThreadStart, format::ThreadStart{{}, sequence, tid, 0, "name"}, 0);
  }
  FileBuilder& string(std::uint32_t id, const std::string& text) {
    return add(Kind::kString, format::String{{}, static_cast<std::uint32_t>(text.size()), 0}, id, text);
  }
  FileBuilder& push(std::uint32_t name, std::int64_t time_ns, std::uint32_t domain = 0) {
    return add(Kind::kPush, format::Event{{}, time_ns, domain, 0}, name);
  }
  FileBuilder& pop(std::int64_t time_ns, std::uint32_t domain = 0) { return add(Kind::kPop, format::Pop{{}, time_ns}, domain); }
  FileBuilder& start(std::uint32_t name, std::int64_t time_ns, std::uint64_t range) {
    return add(Kind::kStart, format::Start{{}, time_ns, 0, 0, range}, name);
  }
  FileBuilder& end(std::int64_t time_ns, std::uint64_t range) { return add(Kind::kEnd, format::End{{}, time_ns, range}, 0); }
  FileBuilder& raw(const std::string& bytes) {
    bytes_ += bytes;
    return *this;
  }
  FileBuilder& next_chunk() {
    bytes_.resize((bytes_.size() / format::kChunkBytes + 1) * format::kChunkBytes);
    return *this;
  }
  std::size_t size() const { return bytes_.size(); }
  void write(const std::filesystem::path& path, std::size_t length = std::string::npos) {
    std::memcpy(bytes_.data(), &header, sizeof header);
    std::filesystem::remove(path);  // some file systems wait for the disk where a file is emptied and written anew
    std::ofstream(path, std::ios::binary) << bytes_.substr(0, length);
  }

  format::FileHeader header{};

 private:
  std::string bytes_;
};

Trace read(FileBuilder& file) {
  Folder folder;
  file.write(folder / "a");
  return read_collector_traces({folder / "a"});
}

FileBuilder small_file() {
  FileBuilder file;
  file.thread(7, 0).string(1, "LLM").string(2, "prefill").push(2, 1100, 1).push(2, 1200).pop(1300).pop(1400, 1);
  return file;
}

}  // namespace

TEST_CASE("collector trace: ranges, times since the capture began, and where it came from") {
  FileBuilder file = small_file();
  Trace trace = read(file);
  REQUIRE(trace.ranges.size() == 2);
  CHECK(trace.strings[trace.ranges[0].domain] == "LLM");
  CHECK(trace.strings[trace.ranges[0].name] == "prefill");
  CHECK(trace.ranges[0].start_ns == 100);
  CHECK(trace.ranges[0].end_ns == 400);
  CHECK(trace.strings[trace.ranges[1].domain].empty());
  CHECK(trace.ranges[1].end_ns == 300);
  CHECK(trace.duration_ns == 400);
  CHECK(trace.utc_start_ns == 5'001'000);
  CHECK(trace.has_range_data);
  CHECK_FALSE(trace.has_kernel_data);
  CHECK(trace.stats.source_format == nl::SourceFormat::kCollector);
  CHECK(trace.stats.tool_version == "9.8.7");
  CHECK(trace.stats.rows_read.at("ranges") == 2);
  CHECK(trace.stats.rows_damaged.empty());
  CHECK(trace.processes.at(0).pid == 100);
  CHECK(trace.threads.at(0).tid == 7);
  CHECK(trace.threads.at(0).name == "name");
}

TEST_CASE("collector trace: pieces of a thread are joined by sequence, not by place") {
  FileBuilder file;
  file.thread(7, 1).string(1, "a").pop(1500).next_chunk().thread(7, 0).push(1, 1100);
  Trace trace = read(file);
  REQUIRE(trace.ranges.size() == 1);
  CHECK(trace.ranges[0].end_ns == 500);
  CHECK_FALSE(trace.ranges[0].open);
}

TEST_CASE("collector trace: a range may end on a thread that was written before the one that began it") {
  FileBuilder file;
  file.thread(8, 0).string(1, "a").end(1600, 42).next_chunk().thread(7, 1).start(1, 1100, 42);
  Trace trace = read(file);
  REQUIRE(trace.ranges.size() == 1);
  CHECK(trace.ranges[0].style == RangeStyle::kStartEnd);
  CHECK(trace.threads[trace.ranges[0].thread].tid == 7);
  CHECK(trace.threads[trace.ranges[0].end_thread].tid == 8);
}

TEST_CASE("collector trace: open ranges end with the capture, whichever process ends it") {
  Folder folder;
  FileBuilder first, second(200, 500);
  first.thread(7, 0).string(1, "open").push(1, 1100).write(folder / "a");
  second.thread(9, 0).string(1, "other").push(1, 600).pop(3000).write(folder / "b");
  Trace trace = read_collector_traces({folder / "a", folder / "b"});
  REQUIRE(trace.processes.size() == 2);
  CHECK(trace.processes[0].pid == 200);
  REQUIRE(trace.ranges.size() == 2);
  CHECK(trace.strings[trace.ranges[1].name] == "open");
  CHECK(trace.ranges[1].open);
  CHECK(trace.ranges[1].start_ns == 600);
  CHECK(trace.ranges[1].end_ns == 2500);
  CHECK(trace.utc_start_ns == 5'000'500);
}

TEST_CASE("collector trace: what does not belong together is counted") {
  FileBuilder file;
  file.thread(7, 0).pop(1100).end(1200, 9).push(55, 1300).pop(1400);
  file.add(Kind{99}, format::Pop{{}, 0}, 0).add(Kind::kMark, format::Event{{}, -5, 0, 0}, 0);
  Trace trace = read(file);
  std::map<std::string, std::uint64_t> expected{{"pop without a push", 1},
                                                {"end without a start", 1},
                                                {"unknown string", 1},
                                                {"unknown kind of record", 1},
                                                {"impossible time or thread", 1}};
  CHECK(nl::test::texts_of(trace.stats.rows_damaged) == expected);
  CHECK(trace.ranges.size() == 1);
}

TEST_CASE("collector trace: a damaged record costs the rest of its chunk only") {
  FileBuilder file;
  file.thread(7, 0).string(1, "a").push(1, 1100).pop(1200);
  file.raw(std::string("\x04\x00\x03\x00\x00\x00\x00\x00", 8)).next_chunk();
  file.thread(8, 1).push(1, 1300).pop(1400);
  Trace trace = read(file);
  CHECK(trace.ranges.size() == 2);
  CHECK(nl::test::texts_of(trace.stats.rows_damaged).at("damaged record, rest of its chunk lost") == 1);
}

TEST_CASE("collector trace: cut at every byte, whole records stay and the loss is counted") {
  FileBuilder file = small_file();
  Folder folder;
  std::size_t cut_short = 0;
  for (std::size_t length = 0; length <= file.size(); ++length) {
    file.write(folder / "cut", length);
    Trace trace = read_collector_traces({folder / "cut"});
    bool in_header = length < sizeof(format::FileHeader);
    CHECK(nl::test::texts_of(trace.stats.rows_damaged).count("file ends inside its header") == (in_header ? 1 : 0));
    cut_short += nl::test::texts_of(trace.stats.rows_damaged).count("record cut short");
    std::size_t left = file.size() - length;  // the tail is push, push, pop, pop: 24, 24, 16 and 16 bytes
    std::size_t ranges = left <= 32 ? 2 : left <= 56 ? 1 : 0;
    CHECK(trace.ranges.size() == ranges);
    if (ranges == 2) CHECK(trace.ranges[0].open == (left > 0));
  }
  CHECK(cut_short > 100);
}

TEST_CASE("collector trace: what is none is refused with a reason") {
  Folder folder;
  std::ofstream(folder / "text") << "hello, this is no trace at all, but long enough to be one";
  CHECK_THROWS_AS(read_collector_traces({folder / "text"}), Error);
  CHECK_THROWS_AS(read_collector_traces({folder / "absent"}), Error);
  FileBuilder newer = small_file();
  newer.header.version = 2;
  CHECK_THROWS_AS(read(newer), Error);
  FileBuilder odd = small_file();
  odd.header.chunk_bytes = 0;
  CHECK_THROWS_AS(read(odd), Error);
}

TEST_CASE("collector trace: ranges alone are no work of the GPU half") {
  Folder folder;
  small_file().write(folder / "ranges");
  CHECK_FALSE(nl::parsers::gpu_half_recorded({folder / "ranges"}));
  CHECK_FALSE(nl::parsers::gpu_half_recorded({}));
  CHECK_THROWS_AS(nl::parsers::gpu_half_recorded({folder / "absent"}), Error);
}

TEST_CASE("collector trace: no file is an empty capture") {
  Trace trace = read_collector_traces({});
  CHECK(trace.ranges.empty());
  CHECK(trace.has_range_data);
  CHECK_FALSE(trace.utc_start_ns.has_value());
}

// Recorded on an H200 by the collector's GPU half. nsys 2025.3 counted the same of the same workloads
// (tests/manual/cupti_runs --only same): 12,337 kernels, 43 copies and 10 sets of a PyTorch LLM.
TEST_CASE("traces of a real GPU") {
  const Unpacked torch(NL_FIXTURES "/h200-collector/llm-torch.nltrace.gz");
  const nl::Trace trace = nl::parsers::read_collector_traces({torch.file});
  CHECK(trace.kernels.size() == 12337);
  CHECK(std::count_if(trace.mem_ops.begin(), trace.mem_ops.end(), [](const nl::MemOp& op) { return op.kind == nl::MemOpKind::kMemset; }) ==
        10);
  CHECK(trace.mem_ops.size() == 43 + 10);
  CHECK(trace.ranges.size() == 2 + 64 + 2);  // decode_all, decode_step, prefill
  CHECK(trace.stats.rows_damaged.empty());
  for (const nl::Kernel& kernel : trace.kernels) {
    REQUIRE(kernel.api < trace.api_calls.size());
    REQUIRE(kernel.start_ns > trace.api_calls[kernel.api].start_ns);
  }
  CHECK(nl::parsers::gpu_half_recorded({torch.file}));
  const Unpacked graph(NL_FIXTURES "/h200-collector/llm-cuda-graph.nltrace.gz");
  const nl::Trace nodes = nl::parsers::read_collector_traces({graph.file});
  CHECK(std::any_of(nodes.kernels.begin(), nodes.kernels.end(), [](const nl::Kernel& kernel) { return kernel.in_graph; }));
}

// nl-llm-cuda --graph with NL_STAGE_CUDA_GRAPHS=graph: 3 iterations of 16 steps, each one launch of the same graph.
TEST_CASE("CUDA graphs as wholes of a real GPU") {
  const Unpacked wholes(NL_FIXTURES "/h200-collector/llm-cuda-whole-graph.nltrace.gz");
  const nl::Trace trace = nl::parsers::read_collector_traces({wholes.file});
  CHECK(trace.stats.rows_damaged.empty());
  REQUIRE(trace.graph_runs.size() == 3 * 16 - 1);  // the first step runs as it is, before the graph is captured
  for (const nl::GraphRun& run : trace.graph_runs) {
    REQUIRE(run.api < trace.api_calls.size());
    const nl::ApiCall& launch = trace.api_calls[run.api];
    CHECK(trace.strings[launch.name] == "cudaGraphLaunch_v10000");  // as nsys prints it
    CHECK(run.start_ns > launch.start_ns);
  }
  CHECK(std::none_of(trace.kernels.begin(), trace.kernels.end(), [](const nl::Kernel& kernel) { return kernel.in_graph; }));
  CHECK(nl::parsers::gpu_half_recorded({wholes.file}));
}

TEST_CASE("collector trace: a range whose clock stepped back is counted and left out, the ones around it stay") {
  FileBuilder file;
  file.thread(7, 0).string(1, "outer").string(2, "backward").string(3, "open");
  file.push(1, 1100).push(2, 1300).pop(1250).pop(1400);
  file.start(2, 1500, 9).end(1499, 9).start(1, 1600, 10).end(1600, 10).push(3, 1700);
  Trace trace = read(file);
  CHECK(nl::test::texts_of(trace.stats.rows_damaged) == std::map<std::string, std::uint64_t>{{"range that ends before it starts", 2}});
  REQUIRE(trace.ranges.size() == 3);
  CHECK(trace.ranges[0].start_ns == 100);
  CHECK(trace.ranges[0].end_ns == 400);
  CHECK(trace.ranges[1].start_ns == 600);  // an empty range is not damaged
  CHECK(trace.ranges[1].end_ns == 600);
  CHECK(trace.ranges[2].open);
  for (const Range& range : trace.ranges) CHECK(trace.strings[range.name] != "backward");
}

TEST_CASE("collector trace: a backward range of one process costs the others nothing") {
  Folder folder;
  FileBuilder first(100, 1000), second(200, 2000);
  first.thread(7, 0).string(1, "a").push(1, 1100).pop(1050).push(1, 1200).pop(1300);
  second.thread(7, 0).string(1, "b").push(1, 2100).pop(2300).push(1, 2500).pop(2400);
  first.write(folder / "a");
  second.write(folder / "b");
  Trace trace = read_collector_traces({folder / "a", folder / "b"});
  REQUIRE(trace.ranges.size() == 2);
  CHECK(trace.strings[trace.ranges[0].name] == "a");
  CHECK(trace.ranges[0].end_ns == 300);
  CHECK(trace.strings[trace.ranges[1].name] == "b");
  CHECK(trace.ranges[1].end_ns == 1300);
  CHECK(nl::test::texts_of(trace.stats.rows_damaged).at("range that ends before it starts") == 2);
}

TEST_CASE("collector trace: names that are not UTF-8 are mended and counted, of ranges, threads and processes") {
  FileBuilder file;
  file.thread(7, 0)
      .string(1, "k\xFFn")
      .string(2, "cut inside \xE5\xA4")
      .push(1, 1100)
      .pop(1200)
      .push(2, 1300)
      .pop(1400)
      .push(1, 1500)
      .pop(1600);
  std::strcpy(file.header.process_name, "pr\xC3");
  Trace trace = read(file);
  REQUIRE(trace.ranges.size() == 3);
  CHECK(trace.strings[trace.ranges[0].name] == "k\xEF\xBF\xBDn");
  CHECK(trace.strings[trace.ranges[1].name] == "cut inside \xEF\xBF\xBD");
  CHECK(trace.ranges[2].name == trace.ranges[0].name);
  CHECK(trace.processes.at(0).name == "pr\xEF\xBF\xBD");
  CHECK(nl::test::texts_of(trace.stats.rows_damaged) ==
        std::map<std::string, std::uint64_t>{{"text that is not UTF-8 (kept, U+FFFD in its place)", 3}});
}

TEST_CASE("collector trace: threads are told apart by all of their number, and by their process") {
  Folder folder;
  FileBuilder first(100, 1000), second(70'000, 1000);
  first.thread(4465, 0).string(1, "a").push(1, 1100).pop(1150).thread(70'001, 1).push(1, 1200).pop(1250);  // equal in 16 bits
  first.thread(4'194'303, 2).push(1, 1300).pop(1350);
  second.thread(70'001, 0).string(1, "a").push(1, 1400).pop(1450);
  first.write(folder / "a");
  second.write(folder / "b");
  Trace trace = read_collector_traces({folder / "a", folder / "b"});
  REQUIRE(trace.ranges.size() == 4);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> places;
  for (const Range& range : trace.ranges) {
    const Thread& thread = trace.threads.at(range.thread);
    places.emplace_back(trace.processes.at(thread.process).pid, thread.tid);
  }
  CHECK(places == std::vector<std::pair<std::uint32_t, std::uint32_t>>{{100, 4465}, {100, 70'001}, {100, 4'194'303}, {70'000, 70'001}});
}

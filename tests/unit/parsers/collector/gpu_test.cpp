// Packed records of the GPU half, byte by byte: every field, the bounds of every number, and every cut.
#include "parsers/collector/gpu.h"

#include <cstring>
#include <functional>

#include "model/words.h"
#include "tests/catch.h"
#include "tests/unit/parsers/collector/packed_records.h"

using namespace nl;
using nl::test::packed_record;
using nl::test::zigzag;
using parsers::collector_trace::GpuData;
using parsers::collector_trace::GpuShape;
using trace_format::Tag;

namespace {

constexpr std::int64_t kBaseNs = 1000;

struct UnpackedBlock {
  GpuData gpu;
  DamagedRows damage;

  explicit UnpackedBlock(const std::string& records, std::int64_t base_ns = kBaseNs) {
    gpu.context_devices[5] = 2;
    trace_format::GpuBlock block{};
    block.base_ns = base_ns;
    std::string bytes(reinterpret_cast<const char*>(&block), sizeof block);
    bytes += records;
    block.head = {trace_format::Kind::kGpuBlock, static_cast<std::uint16_t>(bytes.size()), 0};
    std::memcpy(bytes.data(), &block, sizeof block);
    REQUIRE(read_gpu_record(bytes.data(), block.head, gpu, damage));
  }
  std::size_t rows() const {
    return gpu.kernels.size() + gpu.mem_ops.size() + gpu.graph_runs.size() + gpu.calls.size() + gpu.syncs.size() + gpu.shapes.size() +
           gpu.queues.size() + gpu.threads.size() + gpu.functions.size();
  }
  std::uint64_t damaged(Code code) const {
    std::uint64_t sum = 0;
    for (const auto& [remark, rows] : damage)
      if (remark.code == code) sum += rows;
    return sum;
  }
};

// What work and calls refer to by number 0.
const std::string kDefinitions = packed_record(Tag::kShape, {0, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9}) + packed_record(Tag::kQueue, {0, 1, 5, 7}) +
                                 packed_record(Tag::kThread, {0, 77, 0}) + packed_record(Tag::kFunction, {0, 1, 3});
constexpr std::size_t kDefined = 4;

struct TimedRecord {
  const char* name;
  std::function<std::string(std::int64_t start_ns, std::uint64_t duration_ns)> make;
};

std::uint64_t since_base(std::int64_t start_ns) {
  return zigzag(static_cast<std::int64_t>(static_cast<std::uint64_t>(start_ns) - static_cast<std::uint64_t>(kBaseNs)));
}

const std::vector<TimedRecord> kTimedRecords = {
    {"kernel", [](auto start, auto duration) { return packed_record(Tag::kKernel, {0, 0, since_base(start), duration, zigzag(4)}); }},
    {"copy", [](auto start, auto duration) { return packed_record(Tag::kCopy, {0, 1, 1, 3, since_base(start), duration, zigzag(4), 64}); }},
    {"set", [](auto start, auto duration) { return packed_record(Tag::kSet, {0, 3, 0, since_base(start), duration, zigzag(4), 64}); }},
    {"graph", [](auto start, auto duration) { return packed_record(Tag::kGraph, {0, 6, since_base(start), duration, zigzag(4)}); }},
    {"call", [](auto start, auto duration) { return packed_record(Tag::kCall, {0, 0, since_base(start), duration, zigzag(4)}); }},
    {"sync", [](auto start, auto duration) { return packed_record(Tag::kSync, {3, 5, 7, 8, since_base(start), duration, zigzag(4)}); }}};

}  // namespace

TEST_CASE("packed records: every field comes back in its place") {
  const std::uint8_t node = trace_format::kTagGraphNode, same = trace_format::kTagSamePlace, result = trace_format::kTagResult;
  const UnpackedBlock read(
      kDefinitions + packed_record(Tag::kQueue, {1, 2, 6, 8}) + packed_record(Tag::kKernel, {1, 0, zigzag(-100), 50, zigzag(40)}) +
      packed_record(Tag::kKernel, {0, zigzag(10), 60, zigzag(-3), zigzag(1), 2}, node | same) +
      packed_record(Tag::kCopy, {0, 2, 1, 3, zigzag(100), 70, zigzag(1), 4096}) +
      packed_record(Tag::kSet, {4, 255, zigzag(1), 80, zigzag(1), 512, zigzag(1), 2}, node | same) +
      packed_record(Tag::kGraph, {11, zigzag(1), 90, zigzag(1)}, same) +
      packed_record(Tag::kCall, {0, 0, zigzag(5), 15, zigzag(20), 1}, result) +
      packed_record(Tag::kCall, {0, zigzag(5), 16, zigzag(1)}, same) + packed_record(Tag::kSync, {3, 5, 7, 8, zigzag(5), 25, zigzag(1)}) +
      packed_record(Tag::kSync, {9, 6, 7, 8, zigzag(5), 25, zigzag(1)}));
  const GpuData& gpu = read.gpu;
  CHECK(read.damage.empty());
  REQUIRE(gpu.kernels.size() == 2);
  CHECK(gpu.kernels[0].start_ns == 900);
  CHECK(gpu.kernels[0].duration_ns == 50);
  CHECK(gpu.kernels[0].queue == 1);
  CHECK(gpu.kernels[0].in_graph == 0);
  CHECK(gpu.kernels[0].api == 40);
  CHECK(gpu.kernels[1].start_ns == 910);
  CHECK(gpu.kernels[1].queue == 1);
  CHECK(gpu.kernels[1].in_graph == 1);
  CHECK(gpu.kernels[1].api == 37);
  CHECK(gpu.kernel_nodes.of_row() == std::vector<std::uint32_t>{kNone, 0});
  CHECK(gpu.kernel_nodes.nodes() == std::vector<parsers::RawNode>{{0, 1}});
  CHECK(gpu.mem_op_nodes.of_row() == std::vector<std::uint32_t>{kNone, 0});
  CHECK(gpu.mem_op_nodes.nodes() == std::vector<parsers::RawNode>{{0, 2}});  // one more than the last
  REQUIRE(gpu.mem_ops.size() == 2);
  const MemOp &copy = gpu.mem_ops[0], &set = gpu.mem_ops[1];
  CHECK(copy.kind == MemOpKind::kOther);
  CHECK(copy.label == 2);
  CHECK(copy.queue == 0);
  CHECK(copy.start_ns == 1010);
  CHECK(copy.end_ns == 1080);
  CHECK(copy.bytes == 4096);
  CHECK((copy.src_kind == 1 && copy.dst_kind == 3));
  CHECK_FALSE(copy.in_graph);
  CHECK(set.kind == MemOpKind::kMemset);
  CHECK(set.queue == 0);
  CHECK(set.start_ns == 1011);
  CHECK(set.end_ns == 1091);
  CHECK(set.bytes == 512);
  CHECK((set.src_kind == 0 && set.dst_kind == 4));
  CHECK(set.in_graph);
  CHECK(set.api == 39);
  REQUIRE(gpu.graph_runs.size() == 1);
  CHECK(gpu.graph_runs[0].start_ns == 1012);
  CHECK(gpu.graph_runs[0].end_ns == 1102);
  CHECK(gpu.graph_runs[0].api == 40);
  // Calls and waits count from each other, not from the work.
  REQUIRE(gpu.calls.size() == 2);
  CHECK(gpu.calls[0].start_ns == 1005);
  CHECK(gpu.calls[0].duration_ns == 15);
  CHECK(gpu.calls[0].correlation == 20);
  CHECK(gpu.calls[1].start_ns == 1010);
  CHECK(gpu.calls[1].correlation == 21);
  CHECK(gpu.failed_calls == std::vector<std::size_t>{0});
  REQUIRE(gpu.syncs.size() == 2);
  const SyncWait& wait = gpu.syncs[0];
  CHECK(wait.start_ns == 1015);
  CHECK(wait.end_ns == 1040);
  CHECK(wait.correlation == 22);
  CHECK(wait.kind == SyncKind::kStream);
  CHECK(wait.event == 8);
  CHECK((wait.where.device == 2 && wait.where.context == 5 && wait.where.stream == 7));
  CHECK(gpu.syncs[1].kind == SyncKind::kUnknown);
  CHECK(gpu.syncs[1].where.device == 0);
  REQUIRE(gpu.shapes.size() == 1);
  const GpuShape& shape = gpu.shapes[0];
  CHECK(shape.name == 9);
  CHECK(shape.grid == Dim3{1, 2, 3});
  CHECK(shape.block == Dim3{4, 5, 6});
  CHECK((shape.registers == 7 && shape.static_shared == 8 && shape.dynamic_shared == 9));
  REQUIRE(gpu.queues.size() == 2);
  CHECK((gpu.queues[1].device == 2 && gpu.queues[1].context == 6 && gpu.queues[1].stream == 8));
  CHECK(gpu.threads[0].tid == 77);
  CHECK(gpu.functions == std::vector<std::uint32_t>{3});
}

TEST_CASE("packed records: a time before 0, too far on or too long is counted as impossible, for every kind") {
  const std::uint64_t longest = kMaxPackedDurationNs;
  for (const TimedRecord& record : kTimedRecords) {
    INFO(record.name);
    for (const auto& [start_ns, duration_ns] :
         std::vector<std::pair<std::int64_t, std::uint64_t>>{{0, 0}, {0, longest}, {INT64_MAX / 2 - 1, longest}}) {
      const UnpackedBlock read(kDefinitions + record.make(start_ns, duration_ns));
      CHECK(read.damage.empty());
      CHECK(read.rows() == kDefined + 1);
    }
    for (const auto& [start_ns, duration_ns] : std::vector<std::pair<std::int64_t, std::uint64_t>>{
             {-1, 1}, {INT64_MIN, 1}, {INT64_MAX / 2, 1}, {INT64_MAX, 1}, {0, longest + 1}, {0, ~std::uint64_t{0}}}) {
      // The record behind it counts from its time, and is read.
      const UnpackedBlock read(kDefinitions + record.make(start_ns, duration_ns) + packed_record(Tag::kQueue, {1, 1, 5, 8}));
      INFO(start_ns << " " << duration_ns);
      CHECK(read.damaged(Code::kImpossibleTime) == 1);
      CHECK(read.damage.size() == 1);
      CHECK(read.rows() == kDefined + 1);
      CHECK(read.gpu.queues.size() == 2);
    }
  }
}

TEST_CASE("packed records: a number of more than 32 bits is refused where a field has 32, and the rest of the block with it") {
  struct Fields {
    Tag tag;
    std::vector<std::uint64_t> good;
    std::vector<std::size_t> of_32_bits;
  };
  const std::vector<Fields> all = {{Tag::kSync, {3, 5, 7, 8, zigzag(1), 1, zigzag(1)}, {1, 2, 3}},
                                   {Tag::kShape, {1, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}},
                                   {Tag::kQueue, {1, 1, 5, 7}, {1, 2, 3}},
                                   {Tag::kThread, {1, 77, 0}, {1}},
                                   {Tag::kFunction, {1, 1, 3}, {2}}};
  const std::string behind = packed_record(Tag::kQueue, {2, 0, 0, 0});
  for (const Fields& fields : all)
    for (const std::size_t at : fields.of_32_bits) {
      INFO("tag " << static_cast<int>(fields.tag) << " field " << at);
      std::vector<std::uint64_t> values = fields.good;
      values[at] = 0xFFFFFFFF;
      const UnpackedBlock most(packed_record(fields.tag, values) + behind);
      CHECK(most.damage.empty());
      CHECK(most.rows() == 2);
      for (const std::uint64_t more : {std::uint64_t{0x100000000}, std::uint64_t{0x100000005}, ~std::uint64_t{0}}) {
        values[at] = more;
        const UnpackedBlock read(packed_record(fields.tag, values) + behind);
        CHECK(read.rows() == 0);
        CHECK(read.damaged(Code::kRestLost) == 1);
      }
    }
}

TEST_CASE("packed records: the limits of a wait's numbers come back as they are") {
  const UnpackedBlock read(packed_record(Tag::kSync, {4, 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD, zigzag(1), 1, zigzag(-1)}));
  REQUIRE(read.gpu.syncs.size() == 1);
  CHECK(read.gpu.syncs[0].where.context == 0xFFFFFFFF);
  CHECK(read.gpu.syncs[0].where.stream == 0xFFFFFFFE);
  CHECK(read.gpu.syncs[0].event == 0xFFFFFFFD);
  CHECK(read.gpu.syncs[0].correlation == 0xFFFFFFFF);
  CHECK(read.gpu.syncs[0].kind == SyncKind::kContext);
}

TEST_CASE("packed records: a record that is cut anywhere, or of a later version, loses the rest and no more") {
  std::vector<std::string> records;
  for (const TimedRecord& record : kTimedRecords) records.push_back(record.make(5000, 300));
  records.push_back(packed_record(Tag::kKernel, {0, 0, 2, 3, 4, zigzag(300), 900}, trace_format::kTagGraphNode));
  records.push_back(packed_record(Tag::kCall, {0, 0, 2, 3, 4, 700}, trace_format::kTagResult));
  records.push_back(packed_record(Tag::kThread, {1, 300, 4}) + "name");
  records.push_back(packed_record(Tag::kShape, {1, 900, 1, 2, 3, 4, 5, 6, 7, 8, 900}));
  records.push_back(packed_record(Tag::kQueue, {1, 2, 3, 400}));
  records.push_back(packed_record(Tag::kFunction, {1, 2, 300}));
  for (const std::string& record : records) {
    INFO("tag " << (record[0] & trace_format::kTagMask));
    const UnpackedBlock whole(kDefinitions + record);
    CHECK(whole.damage.empty());
    CHECK(whole.rows() == kDefined + 1);
    for (std::size_t bytes = 1; bytes < record.size(); ++bytes) {
      const UnpackedBlock cut(kDefinitions + record.substr(0, bytes));
      CHECK(cut.rows() == kDefined);
      CHECK(cut.damaged(Code::kRestLost) == 1);
      CHECK(cut.damage.size() == 1);
    }
  }
  const UnpackedBlock later(kDefinitions + "\x0b\x01\x02");
  CHECK(later.rows() == kDefined);
  CHECK(later.damaged(Code::kRestLost) == 1);
  const UnpackedBlock endless(kDefinitions + "\x07" + std::string(20, '\x80'));  // a number of more than 64 bits
  CHECK(endless.rows() == kDefined);
  CHECK(endless.damaged(Code::kRestLost) == 1);
  const UnpackedBlock filled(kDefinitions + std::string(4, '\0') + packed_record(Tag::kQueue, {1, 2, 3, 4}));
  CHECK(filled.rows() == kDefined);
  CHECK(filled.damage.empty());
}

TEST_CASE("packed records: work and calls that refer to what was not defined are counted, and named") {
  const auto lost = [](const std::string& records) {
    const UnpackedBlock read(records);
    return read.damage.empty() ? std::to_string(read.gpu.syncs.size()) : text_of(read.damage.begin()->first);
  };
  const char* const expected[] = {"kernel whose name or stream was lost",    "copy or set whose stream was lost",
                                  "copy or set whose stream was lost",       "CUDA graph whose stream was lost",
                                  "CUDA call whose name or thread was lost", "1"};  // a wait refers to nothing
  const char* const late[] = {"kernel", "copy or set", "copy or set", "CUDA graph", "CUDA call", "synchronisation"};
  for (std::size_t i = 0; i < kTimedRecords.size(); ++i) {
    INFO(kTimedRecords[i].name);
    CHECK(lost(kTimedRecords[i].make(5000, 300)) == expected[i]);
    CHECK(UnpackedBlock(kTimedRecords[i].make(5000, 300)).rows() == (i == 5 ? 1 : 0));
    CHECK(lost(kTimedRecords[i].make(-1, 300)) == late[i] + std::string(" with an impossible time"));
  }
  const std::string shape = packed_record(Tag::kShape, {0, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9}), queue = packed_record(Tag::kQueue, {0, 1, 5, 7}),
                    thread = packed_record(Tag::kThread, {0, 77, 0}), function = packed_record(Tag::kFunction, {0, 1, 3});
  CHECK(lost(shape + kTimedRecords[0].make(5000, 300)) == expected[0]);
  CHECK(lost(queue + kTimedRecords[0].make(5000, 300)) == expected[0]);
  CHECK(lost(thread + kTimedRecords[4].make(5000, 300)) == expected[4]);
  CHECK(lost(function + kTimedRecords[4].make(5000, 300)) == expected[4]);
}

TEST_CASE("packed records: a definition of a number beyond all bounds is counted and left out") {
  constexpr std::uint64_t most = 1 << 24;
  const std::vector<std::pair<Tag, std::vector<std::uint64_t>>> definitions = {{Tag::kShape, {0, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
                                                                               {Tag::kQueue, {0, 1, 5, 7}},
                                                                               {Tag::kThread, {0, 77, 0}},
                                                                               {Tag::kFunction, {0, 1, 3}}};
  for (auto [tag, fields] : definitions) {
    INFO("tag " << static_cast<int>(tag));
    fields[0] = most - 1;
    const UnpackedBlock last(packed_record(tag, fields));
    CHECK(last.rows() == 1);
    CHECK(last.damage.empty());
    fields[0] = most;
    const UnpackedBlock beyond(packed_record(tag, fields) + packed_record(Tag::kQueue, {1, 1, 5, 8}));
    CHECK(beyond.rows() == 1);
    CHECK(beyond.damaged(Code::kImpossibleNumber) == 1);
    CHECK(beyond.gpu.queues.at(0).stream == 8);
  }
}

TEST_CASE("records of the GPU half: sessions, names, devices and losses, each field in its place") {
  GpuData gpu;
  DamagedRows damage;
  const auto read = [&](trace_format::Kind kind, auto record, std::uint32_t id, const std::string& tail = {}) {
    record.head = {kind, static_cast<std::uint16_t>(sizeof record + tail.size()), id};
    const std::string bytes = std::string(reinterpret_cast<const char*>(&record), sizeof record) + tail;
    return read_gpu_record(bytes.data(), record.head, gpu, damage);
  };
  CHECK_FALSE(gpu.recorded());
  trace_format::Device device{};
  device.name_length = 4;
  CHECK(read(trace_format::Kind::kDevice, device, 3, "GPU"));  // one byte less than it says
  CHECK(gpu.devices.empty());
  CHECK(read(trace_format::Kind::kDevice, device, 3, "GPU 3"));
  CHECK(damage == DamagedRows{{{Code::kStringTooLong}, 1}});
  REQUIRE(gpu.devices.size() == 1);
  CHECK(gpu.devices[0].name == "GPU ");
  CHECK(read(trace_format::Kind::kGpuName, trace_format::String{{}, 3, 0}, 8, "abcd"));
  CHECK(read(trace_format::Kind::kGpuName, trace_format::String{{}, 9, 0}, 9, "abcd"));
  CHECK(gpu.names == std::unordered_map<std::uint32_t, std::string>{{8, "abc"}, {9, ""}});
  CHECK(read(trace_format::Kind::kContext, trace_format::Context{{}, 6, 7}, 5));
  CHECK(gpu.context_devices == std::unordered_map<std::uint32_t, std::uint32_t>{{5, 6}});
  for (const std::uint64_t records : {3, 4}) {
    CHECK(read(trace_format::Kind::kLoss, trace_format::Loss{{}, records}, 1));
    CHECK(read(trace_format::Kind::kLoss, trace_format::Loss{{}, 10 * records}, 2));
  }
  CHECK(gpu.dropped == 7);
  CHECK(gpu.unfinished == 70);
  CHECK(read(trace_format::Kind::kGpuSession, trace_format::GpuSession{{}, 1, 2, 1}, 26));
  CHECK(gpu.session);
  CHECK(gpu.cupti_version == 26);
  CHECK(gpu.calls_chosen == trace_format::CallChoice::kAll);
  CHECK(gpu.waits_by_calls);
  CHECK(gpu.recorded());
  CHECK_FALSE(read(trace_format::Kind::kPop, trace_format::Pop{{}, 5}, 0));
}

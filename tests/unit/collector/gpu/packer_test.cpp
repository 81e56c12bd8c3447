// Records as CUPTI would deliver them, packed by the collector and read back by the importer; and the ring of buffers.
#include "collector/gpu/packer.h"

#include <cstring>
#include <fstream>
#include <memory>
#include <random>
#include <set>

#include "collector/gpu/buffers.h"
#include "collector/gpu/calls.h"
#include "parsers/collector/trace.h"
#include "tests/catch.h"
#include "tests/unit/collector/injected_program.h"
#include "tests/unit/parsers/collector/trace_header.h"

using namespace nl;
using namespace nl::parsers;
using namespace nl::test;
namespace cupti = nl::collector::cupti;
namespace format = nl::trace_format;

namespace {

std::string* target = nullptr;
std::vector<std::size_t>* ends = nullptr;  // where each record of the file ends

bool append(const void* record, std::size_t bytes) {
  target->append(static_cast<const char*>(record), bytes);
  ends->push_back(target->size());
  return true;
}
const char* function_name(std::uint32_t domain, std::uint32_t) { return domain == 1 ? "cuLaunchKernel" : "cudaLaunchKernel_v7000"; }
void thread_name(std::uint32_t, char (&name)[16]) { std::strcpy(name, "worker"); }

// A file with one GPU chunk that holds what was packed.
class PackedFile {
 public:
  PackedFile() : packer_(std::make_unique<collector::GpuPacker>()) {
    const format::FileHeader header = nl::test::trace_header(100, kStart);
    format::ThreadStart start{{format::Kind::kThreadStart, sizeof start, 0}, 0, 0, 0, "gpu"};
    bytes.append(reinterpret_cast<const char*>(&header), sizeof header);
    bytes.append(reinterpret_cast<const char*>(&start), sizeof start);
    target = &bytes;
    ends = &boundaries;
    packer_->start(append, function_name, thread_name);
  }
  template <typename Record>
  void add(const Record& record, std::int64_t ahead_ns = 0) {
    packer_->add(reinterpret_cast<const cupti::Activity*>(&record), ahead_ns);
  }
  void finish() { packer_->finish(); }
  Trace read(std::size_t length = std::string::npos) {
    std::filesystem::remove(folder_.path() / "a");  // some file systems wait for the disk where a file is emptied and written anew
    std::ofstream(folder_.path() / "a", std::ios::binary) << bytes.substr(0, length);
    return read_collector_traces({folder_.path() / "a"});
  }

  static constexpr std::int64_t kStart = 1'000'000'000;
  std::string bytes;
  std::vector<std::size_t> boundaries;

 private:
  ScratchFolder folder_;
  std::unique_ptr<collector::GpuPacker> packer_;
};

cupti::KernelRecord kernel(std::uint64_t start, std::uint64_t end, std::uint32_t correlation, int blocks = 1) {
  cupti::KernelRecord record{};
  record.kind = cupti::kConcurrentKernel;
  record.start = start;
  record.end = end;
  record.correlation = correlation;
  record.name = "_Z4tickPi";
  for (int i = 0; i < 3; ++i) record.grid[i] = record.block[i] = 1;
  record.grid[0] = blocks;
  return record;
}

cupti::CallRecord call(std::uint64_t start, std::uint64_t end, std::uint32_t correlation, std::uint32_t tid = 7) {
  return {cupti::kRuntime, 211, start, end, 100, tid, correlation, 0};
}

}  // namespace

TEST_CASE("whatever order and size CUPTI's numbers have, they come back") {
  PackedFile file;
  std::mt19937_64 random(4);
  std::map<std::uint32_t, std::pair<Ns, Ns>> expected;
  for (std::uint32_t i = 0; i < 500; ++i) {
    std::uint64_t start = PackedFile::kStart + random() % (std::uint64_t{1} << (random() % 50));
    std::uint64_t duration = random() % (std::uint64_t{1} << (random() % 44));
    std::uint32_t correlation = static_cast<std::uint32_t>(random()) | 1;
    if (correlation == kNone || !expected.emplace(correlation, std::pair<Ns, Ns>(start - PackedFile::kStart, duration)).second) continue;
    cupti::CallRecord launch = call(start, start + duration, correlation, static_cast<std::uint32_t>(random() % 300 + 1));
    launch.return_value = i % 7 == 0 ? 999 : 0;
    file.add(launch);
    cupti::KernelRecord work = kernel(start, start + duration, correlation, static_cast<int>(random() % 0x7FFFFFFF) + 1);
    work.graph_node = i % 3 == 0 ? random() : 0;
    work.device = i % 8;
    work.context = static_cast<std::uint32_t>(random());
    work.stream = static_cast<std::uint32_t>(random());
    file.add(work);
  }
  file.finish();
  REQUIRE(file.bytes.size() < format::kChunkBytes);
  Trace trace = file.read();
  CHECK(trace.stats.rows_damaged.empty());
  REQUIRE(trace.kernels.size() == expected.size());
  bool right = true;
  for (const Kernel& row : trace.kernels) {
    REQUIRE(row.api != kNone);
    const ApiCall& launch = trace.api_calls[row.api];
    auto [start, duration] = expected.at(launch.correlation);
    right = right && row.start_ns == start && static_cast<Ns>(row.duration_ns) == duration && launch.start_ns == start &&
            static_cast<Ns>(launch.duration_ns) == duration && trace.threads[launch.thread].name == "worker";
  }
  CHECK(right);
}

TEST_CASE("every field of a kernel, copy, set, wait and device comes back in its place") {
  PackedFile file;
  const std::uint64_t t = PackedFile::kStart;
  file.add(cupti::ContextRecord{cupti::kContext, 31, 2, 0, 9});
  cupti::KernelRecord work = kernel(t + 100, t + 150, 41);
  for (int i = 0; i < 3; ++i) {
    work.grid[i] = 2 + i;
    work.block[i] = 5 + i;
  }
  work.registers_per_thread = 11;
  work.static_shared = 12;
  work.dynamic_shared = 13;
  work.device = 2;
  work.context = 31;
  work.stream = 14;
  file.add(work);
  file.add(cupti::CopyRecord{cupti::kMemcpy, 2, 3, 1, 0, 4096, t + 200, t + 260, 2, 31, 15, 42, 0, 0, nullptr, 0, 0});
  file.add(cupti::PeerCopyRecord{cupti::kMemcpyPeer, 10, 3, 3, 0, 8192, t + 300, t + 370, 2, 31, 16, 4, 5, 6, 7, 43, nullptr, 77, 8});
  file.add(cupti::SetRecord{cupti::kMemset, 255, 512, t + 400, t + 480, 2, 31, 17, 44, 0, 4, 0, nullptr, 78, 8});
  file.add(cupti::SyncRecord{cupti::kSynchronization, 3, t + 500, t + 590, 45, 31, 18, 19});
  cupti::DeviceRecord device{};
  device.kind = cupti::kDevice;
  device.memory_bandwidth = 21;
  device.memory_bytes = 22;
  device.l2_bytes = 23;
  device.core_clock = 24;
  device.sm_count = 25;
  device.compute_major = 26;
  device.compute_minor = 27;
  device.id = 2;
  device.name = "GPU two";
  file.add(device);
  file.finish();
  const Trace trace = file.read();
  CHECK(trace.stats.rows_damaged.empty());
  REQUIRE(trace.kernels.size() == 1);
  const KernelShape& shape = trace.shapes[trace.kernels[0].shape];
  CHECK((shape.grid == Dim3{2, 3, 4} && shape.block == Dim3{5, 6, 7}));
  CHECK((shape.registers_per_thread == 11 && shape.static_shared_bytes == 12 && shape.dynamic_shared_bytes == 13));
  CHECK(trace.queues[trace.kernels[0].queue] == Queue{0, 2, 31, 14});
  CHECK((trace.kernels[0].start_ns == 100 && trace.kernels[0].duration_ns == 50 && !trace.kernels[0].in_graph));
  REQUIRE(trace.mem_ops.size() == 3);
  const MemOp &copy = trace.mem_ops[0], &peer = trace.mem_ops[1], &set = trace.mem_ops[2];
  CHECK((copy.kind == MemOpKind::kDeviceToHost && copy.src_kind == 3 && copy.dst_kind == 1 && copy.bytes == 4096 && !copy.in_graph));
  CHECK((copy.start_ns == 200 && copy.end_ns == 260));
  CHECK(trace.queues[copy.queue] == Queue{0, 2, 31, 15});
  CHECK((peer.kind == MemOpKind::kPeerToPeer && peer.bytes == 8192 && peer.in_graph && peer.start_ns == 300 && peer.end_ns == 370));
  CHECK(trace.queues[peer.queue] == Queue{0, 2, 31, 16});
  CHECK((set.kind == MemOpKind::kMemset && set.bytes == 512 && set.dst_kind == 4 && set.in_graph && set.start_ns == 400 &&
         set.end_ns == 480));
  CHECK(trace.queues[set.queue] == Queue{0, 2, 31, 17});
  REQUIRE(trace.syncs.size() == 1);
  const SyncWait& wait = trace.syncs[0];
  CHECK((wait.kind == SyncKind::kStream && wait.start_ns == 500 && wait.end_ns == 590 && wait.correlation == 45 && wait.event == 19));
  CHECK(wait.where == Queue{0, 2, 31, 18});  // the context's device
  REQUIRE(trace.devices.size() == 1);
  const Device& gpu = trace.devices[0];
  CHECK((gpu.id == 2 && gpu.name == "GPU two" && gpu.memory_bytes == 22 && gpu.l2_bytes == 23 && gpu.sm_count == 25));
  CHECK((gpu.bandwidth_bytes_per_s == 21'000 && gpu.clock_hz == 24'000 && gpu.compute_major == 26 && gpu.compute_minor == 27));
}

TEST_CASE("graphs as wholes lie among kernels, and share their queues and times") {
  PackedFile file;
  for (std::uint32_t i = 0; i < 3; ++i) {
    std::uint64_t start = PackedFile::kStart + i * 10'000;
    file.add(kernel(start + 1000, start + 1500, 2 * i + 1));
    file.add(cupti::GraphRecord{cupti::kGraphTrace, 2 * i + 2, start + 2000, start + 9000, 0, 5, 0, i == 2 ? 8u : 0u});
  }
  file.add(cupti::GraphRecord{cupti::kGraphTrace, 9, 0, 0, 0, 5, 0, 0});  // under way when it was delivered
  file.finish();
  Trace trace = file.read();
  CHECK(trace.stats.rows_damaged.empty());
  REQUIRE((trace.kernels.size() == 3 && trace.graph_runs.size() == 3));
  CHECK(trace.stats.rows_read.at("CUDA graphs as wholes") == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    Ns start_ns = static_cast<Ns>(i) * 10'000;
    CHECK(trace.kernels[i].start_ns == start_ns + 1000);
    CHECK(trace.graph_runs[i].start_ns == start_ns + 2000);
    CHECK(trace.graph_runs[i].end_ns == start_ns + 9000);
    CHECK(trace.queues[trace.graph_runs[i].queue].stream == (i == 2 ? 8u : 0u));
  }
  CHECK(trace.duration_ns == 29'000);
}

TEST_CASE("nothing but graphs as wholes: they are linked, and bound the clocks") {
  PackedFile file;
  for (std::uint32_t i = 0; i < 2; ++i) {
    std::uint64_t start = PackedFile::kStart + i * 10'000;
    file.add(call(start, start + 900, i + 1));
    file.add(cupti::GraphRecord{cupti::kGraphTrace, i + 1, start + 2000 + i, start + 9000, 0, 5, 0, 0});
  }
  file.finish();
  Trace trace = file.read();
  CHECK(trace.has_kernel_data);  // although no record says that CUPTI began
  REQUIRE((trace.kernels.empty() && trace.graph_runs.size() == 2));
  for (std::size_t i = 0; i < 2; ++i) CHECK(trace.graph_runs[i].api == i);
  REQUIRE(trace.clock);
  CHECK(trace.clock->launch_slack_ns == 2000);
}

TEST_CASE("a clock that is ahead is set back") {
  PackedFile file;
  file.add(kernel(PackedFile::kStart + 5'000'000, PackedFile::kStart + 5'000'700, 1), 4'000'000);
  file.finish();
  Trace trace = file.read();
  REQUIRE(trace.kernels.size() == 1);
  CHECK(trace.kernels[0].start_ns == 1'000'000);
  CHECK(trace.kernels[0].duration_ns == 700);
}

TEST_CASE("records without times are counted, not packed") {
  PackedFile file;
  auto packer = std::make_unique<collector::GpuPacker>();
  packer->start(append, function_name, thread_name);
  for (auto record : {kernel(0, 0, 1), kernel(500, 0, 2), kernel(500, 400, 3)})
    packer->add(reinterpret_cast<const cupti::Activity*>(&record), 0);
  packer->finish();
  CHECK(packer->take_unfinished() == 3);
  CHECK(packer->take_unfinished() == 0);
  const auto add = [&](const auto& record) { packer->add(reinterpret_cast<const cupti::Activity*>(&record), 0); };
  for (const auto& [start, end] : {std::pair<std::uint64_t, std::uint64_t>{0, 500}, {500, 0}, {500, 400}}) {
    add(cupti::CopyRecord{cupti::kMemcpy, 1, 1, 3, 0, 64, start, end, 0, 1, 7, 1, 0, 0, nullptr, 0, 0});
    add(cupti::SetRecord{cupti::kMemset, 0, 64, start, end, 0, 1, 7, 1, 0, 3, 0, nullptr, 0, 0});
    add(cupti::GraphRecord{cupti::kGraphTrace, 1, start, end, 0, 3, 1, 7});
    add(call(start, end, 1));
    add(cupti::SyncRecord{cupti::kSynchronization, 3, start, end, 1, 1, 7, 0});
  }
  packer->finish();
  CHECK(packer->take_unfinished() == 15);
  const Trace trace = file.read();
  CHECK((trace.kernels.empty() && trace.mem_ops.empty() && trace.graph_runs.empty() && trace.syncs.empty()));
  CHECK(trace.stats.rows_read.count("CUDA calls") == 0);
}

TEST_CASE("cut at every byte, also inside a block, all kernels before the cut stay") {
  PackedFile file;
  constexpr std::size_t kCount = 400;
  for (std::uint32_t i = 0; i < kCount; ++i) {
    file.add(call(PackedFile::kStart + i * 5000, PackedFile::kStart + i * 5000 + 900, i + 1));
    file.add(kernel(PackedFile::kStart + i * 5000 + 2000, PackedFile::kStart + i * 5000 + 3500, i + 1));
  }
  file.finish();
  REQUIRE(file.read().kernels.size() == kCount);
  REQUIRE(file.boundaries.size() >= 4);  // two names and at least two blocks
  std::size_t before = 0, steps = 0;
  for (std::size_t length = sizeof(format::FileHeader); length <= file.bytes.size(); ++length) {
    Trace trace = file.read(length);
    bool first_is_whole = trace.kernels.empty() || trace.kernels[0].start_ns == 2000;
    bool ordered = trace.kernels.size() >= before && trace.kernels.size() <= before + 1;
    if (!first_is_whole || !ordered) {
      CHECK(first_is_whole);
      CHECK(ordered);
      break;
    }
    steps += trace.kernels.size() != before;
    before = trace.kernels.size();
  }
  CHECK(steps == kCount);  // one by one: none waits for the end of its block
  // At the boundaries nothing is damaged.
  for (std::size_t end : file.boundaries) CHECK(file.read(end).stats.rows_damaged.empty());
}

TEST_CASE("buffers: no more than there are, zeroed when they come back, smaller where little happens") {
  auto buffers = std::make_unique<collector::GpuBuffers>();
  REQUIRE(buffers->create(256 * 1024, 3));
  std::size_t bytes = 0;
  std::set<std::uint8_t*> taken;
  for (int i = 0; i < 3; ++i) taken.insert(buffers->take(bytes, 1'000'000'000));
  CHECK(taken.size() == 3);
  CHECK_FALSE(taken.contains(nullptr));
  CHECK(buffers->take(bytes, 1'000'000'000) == nullptr);
  CHECK(bytes == 0);
  std::uint8_t* first = *taken.begin();
  std::memset(first, 0xEE, 256 * 1024);
  buffers->give_back(first, 256 * 1024);
  std::int64_t now_ns = 2'000'000'000;
  CHECK(buffers->take(bytes, now_ns) == first);
  for (std::size_t i = 0; i < 256 * 1024; ++i)
    if (first[i] != 0) FAIL("not zeroed");
  for (int i = 0; i < 10; ++i) {  // once a second
    buffers->give_back(first, bytes);
    first = buffers->take(bytes, now_ns += 1'000'000'000);
  }
  CHECK(bytes == 64 * 1024);
  for (int i = 0; i < 10; ++i) {  // a thousand times a second
    buffers->give_back(first, bytes);
    first = buffers->take(bytes, now_ns += 1'000'000);
  }
  CHECK(bytes == 256 * 1024);
}

TEST_CASE("which of CUDA's functions start work, wait or manage memory") {
  using collector::CallChooser;
  for (const char* work : {"cudaLaunchKernel_v7000",
                           "cudaLaunchKernel_ptsz_v7000",
                           "cudaLaunchKernelExC_v11060",
                           "__cudaLaunchKernel_v13000",
                           "cuLaunchKernel",
                           "cuLaunchKernelEx",
                           "cuLaunchCooperativeKernel",
                           "cudaGraphLaunch_v10000",
                           "cuGraphLaunch_ptsz",
                           "cudaMemcpyAsync_v3020",
                           "cuMemcpyHtoDAsync_v2",
                           "cudaMemsetAsync_v3020",
                           "cuMemsetD8_v2",
                           "cudaMalloc_v3020",
                           "cudaMallocAsync_v11020",
                           "cudaFree_v3020",
                           "cuMemAlloc_v2",
                           "cudaStreamSynchronize_v3020",
                           "cudaDeviceSynchronize_v3020",
                           "cudaEventSynchronize_v3020",
                           "cuCtxSynchronize",
                           "cudaStreamWaitEvent_v3020",
                           "cudaGraphInstantiate_v12000",
                           "cuLibraryLoadData",
                           "cuModuleLoadData",
                           "cudaDeviceReset_v3020",
                           "cudaGraphUpload_v10000",
                           "cudaMemPrefetchAsync_v8000"})
    CHECK((CallChooser::starts_or_waits(work) && !CallChooser::is_noise(work)));
  for (const char* other :
       {"cudaGetDevice_v3020", "cudaPeekAtLastError_v3020", "cudaGetLastError_v3020", "cudaEventQuery_v3020", "cudaEventRecord_v3020",
        "__cudaPushCallConfiguration_v9000", "__cudaPopCallConfiguration_v9000", "cudaGraphAddMemcpyNode_v10000",
        "cudaGraphKernelNodeSetParams_v10000", "cuMemGetAllocationGranularity", "cudaStreamIsCapturing_v10000",
        "cudaFuncSetAttribute_v9000", "cuGetProcAddress_v2", "cuOccupancyAvailableMemcpy"})
    CHECK_FALSE(CallChooser::starts_or_waits(other));
  for (const char* noise : {"cudaGetDevice_v3020",
                            "cudaPeekAtLastError_v3020",
                            "cudaGetLastError_v3020",
                            "__cudaPushCallConfiguration_v9000",
                            "__cudaRegisterFatBinary",
                            "__cudaUnregisterFatBinary",
                            "cuGetProcAddress_v2",
                            "cuGetExportTable",
                            "cuCtxGetCurrent",
                            "cuCtxGetDevice",
                            "cuDeviceGetCount",
                            "cuStreamIsCapturing",
                            "cudaStreamGetCaptureInfo_v10010",
                            "cuFuncGetAttribute",
                            "cuGetErrorString",
                            "cuGetErrorName",
                            "cudaGetDriverEntryPoint_v11030",
                            "cuCtxPushCurrent_v2",
                            "cuCtxPopCurrent_v2",
                            "cuCtxSetCurrent",
                            "cuDevicePrimaryCtxGetState",
                            "cuOccupancyMaxActiveBlocksPerMultiprocessor",
                            "cuCtxGetApiVersion",
                            "cuKernelGetFunction"}) {
    INFO(noise);
    CHECK(CallChooser::is_noise(noise));
    CHECK_FALSE(CallChooser::starts_or_waits(noise));
  }
  for (const char* heard : {"cudaEventQuery_v3020", "cudaEventRecord_v3020", "cuModuleGetFunction", "cudaStreamCreate_v3020"})
    CHECK_FALSE(CallChooser::is_noise(heard));
}

#include "parsers/kineto/json.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "model/error.h"
#include "tests/catch.h"
#include "tests/unit/parsers/scratch_file.h"
#include "tests/unit/remark_texts.h"

using namespace nl;
using namespace nl::parsers;
using nl::test::ScratchFile;

namespace {

Trace read_kineto(const std::string& text) {
  const ScratchFile file(text);
  return read_kineto_json(file.path);
}

Trace read_events(const std::string& events) { return read_kineto("{\"traceEvents\": [" + events + "]}"); }

const std::string kOp = R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 9, "tid": 9, "ts": 100.5, "dur": 10,
  "args": {"Input Dims": [[1, 2], []]}})";

const Trace& llama() {
  static const Trace trace = read_kineto(nl::test::unpacked_fixture("h200-llama/kineto.json.gz"));
  return trace;
}

}  // namespace

TEST_CASE("kineto: numbers that are not finite lose no event where nobody needs them, and are counted where they are times") {
  const std::string kernel = R"({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 200, "dur": 5,
    "args": {"device": 0, "stream": 7, "blocks per SM": inf, "warps per SM": NaN, "est. achieved occupancy %": 1e400, "grid": [1, 1, 1], "block": [32, 1, 1]}})";
  Trace trace = read_events(kOp + "," + kernel);
  CHECK(trace.kernels.size() == 1);
  CHECK(trace.stats.rows_damaged.empty());
  for (const char* time : {"NaN", "inf", "1e400", "-Infinity"}) {
    CAPTURE(time);
    trace = read_events(kOp + "," + kernel + R"(,{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 300, "dur": )" + time +
                        "}");
    CHECK(trace.kernels.size() == 1);
    CHECK(trace.stats.rows_damaged.size() == 1);
  }
}

// The counts and sums were taken from the JSON itself:
//   python3 -c "import json; d = json.load(open('kineto.json'))['traceEvents']; x = [e for e in d if e['ph'] == 'X']
//   print(len([e for e in x if e['cat'] == 'kernel']), sum(round(e['dur'] * 1000) for e in x if e['cat'] == 'kernel'))"
TEST_CASE("a trace of torch.profiler: counts and sums are those of its JSON") {
  const Trace& trace = llama();
  CHECK(trace.stats.source_format == nl::SourceFormat::kKineto);
  CHECK(trace.stats.schema_version == "1");
  CHECK(trace.stats.rows_damaged.empty());
  CHECK(trace.stats.rows_read.at("traceEvents") == 7318);
  CHECK(trace.kernels.size() == 931);
  CHECK(trace.mem_ops.size() == 4);
  CHECK(trace.stats.rows_read.at("cuda_runtime") == 834);
  CHECK(trace.stats.rows_read.at("cuda_driver") == 170);
  CHECK(trace.ranges.size() == 3352 + 6);
  Ns kernel_ns = 0, mem_ns = 0, range_ns = 0, api_ns = 0;
  for (const Kernel& kernel : trace.kernels) kernel_ns += static_cast<Ns>(kernel.duration_ns);
  for (const MemOp& op : trace.mem_ops) mem_ns += op.end_ns - op.start_ns;
  for (const Range& range : trace.ranges) range_ns += range.end_ns - range.start_ns;
  for (const ApiStat& stat : trace.api_stats) api_ns += stat.durations.total_ns();
  CHECK(kernel_ns == 2117145);
  CHECK(mem_ns == 3455);
  CHECK(range_ns == 1210626691);
  CHECK(api_ns == 27397192);
  CHECK(trace.duration_ns == 272739292);
  // baseTimeNanoseconds + the first event's ts
  CHECK(trace.utc_start_ns == 1790857026000000000 + 3844436102910259);
}

TEST_CASE("a trace of torch.profiler: every kernel is joined to its call") {
  const Trace& trace = llama();
  CHECK(std::is_sorted(trace.api_calls.begin(), trace.api_calls.end(), [](const ApiCall& a, const ApiCall& b) {
    return a.thread != b.thread ? a.thread < b.thread : a.start_ns < b.start_ns;
  }));
  for (const Kernel& kernel : trace.kernels) {
    REQUIRE(kernel.api < trace.api_calls.size());
    CHECK(trace.api_calls[kernel.api].start_ns < kernel.start_ns);
  }
  // The first one: correlation 20, cudaLaunchKernel at …5387.937 for 56.143 µs; the kernel at …5439.765 for 2.624 µs.
  const Kernel& first = trace.kernels[0];
  const KernelShape& shape = trace.shapes[first.shape];
  CHECK(trace.strings[shape.name].substr(0, 48) == "void at::native::vectorized_gather_kernel<16, lo");
  CHECK(shape.grid == Dim3{256, 1, 1});
  CHECK(shape.block == Dim3{128, 1, 1});
  CHECK(shape.registers_per_thread == 32);
  CHECK(first.start_ns == 3844436105439765 - 3844436102910259);
  CHECK(first.duration_ns == 2624);
  CHECK(trace.queues[first.queue].stream == 7);
  CHECK(trace.queues[first.queue].context == 1);
  CHECK(trace.queues[first.queue].process == 0);
  const ApiCall& call = trace.api_calls[first.api];
  CHECK(trace.strings[call.name] == "cudaLaunchKernel");
  CHECK(call.correlation == 20);
  CHECK(call.start_ns == 3844436105387937 - 3844436102910259);
  CHECK(call.duration_ns == 56143);
}

TEST_CASE("a trace of torch.profiler: ranges, places, device") {
  const Trace& trace = llama();
  REQUIRE(trace.processes.size() == 1);
  CHECK(trace.processes[0].pid == 973);
  CHECK(trace.processes[0].name == "python3");
  REQUIRE(trace.devices.size() == 1);
  CHECK(trace.devices[0].name == "NVIDIA H200");
  CHECK(trace.devices[0].sm_count == 132);
  CHECK(trace.devices[0].memory_bytes == 150109880320);
  CHECK(trace.devices[0].compute_major == 9);
  CHECK(trace.strings[trace.ranges[0].name] == "LLM@prefill");
  CHECK(trace.strings[trace.ranges[0].domain] == "");
  CHECK(trace.ranges[0].start_ns == 0);
  CHECK(trace.ranges[0].end_ns == 9660404);
  CHECK(trace.strings[trace.ranges[1].name] == "aten::embedding, sizes = [[32000, 1024], [1, 256], [], [], []]");
  CHECK(trace.strings[trace.ranges[1].domain] == "torch.ops");
  CHECK(trace.strings[StringId{trace.mem_ops[0].label}] == "Memset (Device)");
  CHECK(trace.mem_ops[0].kind == MemOpKind::kMemset);
  CHECK(trace.mem_ops[0].bytes == 4);
}

TEST_CASE("a packed trace is read as it is, or refused with the command that unpacks it") {
  const std::filesystem::path packed = NL_FIXTURES "/h200-llama/kineto.json.gz";
  try {
    CHECK(read_kineto_json(packed).kernels.size() == 931);
  } catch (const Error& error) {
    CHECK(error.kind == ErrorKind::kInput);
    CHECK(error.fix.find("gunzip") != std::string::npos);
  }
}

TEST_CASE("spellings of other years, and a list without a document around it") {
  const Trace trace = read_kineto(R"json([
    {"ph": "X", "cat": "Operator", "name": "aten::add", "pid": 1, "tid": 2, "ts": 1623143089861001, "dur": 5, "args": {"Input dims": [[2]]}},
    {"args": {"correlation": 7, "stream": "3"}, "dur": 1, "ts": 1623143089861004, "tid": "stream 3", "pid": 0, "name": "k", "cat": "Kernel", "ph": "X"},
    {"ph": "X", "cat": "Runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 2, "ts": 1623143089861002, "dur": 1, "args": {"correlation": 7}},
    {"ph": "X", "cat": "Memcpy", "name": "Memcpy HtoD (Pageable -> Device)", "pid": 0, "tid": 7, "ts": 1623143089861009, "dur": 1, "args": {"bytes": 12}},
    {"ph": "X", "cat": "python_function", "name": "f", "pid": 1, "tid": 2, "ts": 1, "dur": 1}])json");
  REQUIRE(trace.kernels.size() == 1);
  CHECK(trace.kernels[0].api == 0);
  CHECK(trace.strings[trace.ranges.at(0).name] == "aten::add, sizes = [[2]]");
  CHECK(trace.utc_start_ns == 1623143089861001000);
  REQUIRE(trace.mem_ops.size() == 1);
  CHECK(trace.mem_ops[0].kind == MemOpKind::kHostToDevice);
  CHECK(trace.mem_ops[0].src_kind == 1);
  CHECK(trace.mem_ops[0].dst_kind == 3);
  CHECK(trace.mem_ops[0].api == kNone);
  CHECK(nl::test::texts_of(trace.stats.notes) ==
        std::vector<std::string>{"1 events of the category python_function hold nothing that is analysed."});
}

TEST_CASE("damaged events are counted, the others kept") {
  const auto damage = [](const std::string& event) {
    const Trace trace = read_events(kOp + "," + event + "," + kOp);
    CHECK(trace.ranges.size() == 2);
    CHECK(trace.stats.rows_damaged.size() == 1);
    return trace.stats.rows_damaged.empty() ? std::string() : nl::text_of(trace.stats.rows_damaged.begin()->first);
  };
  CHECK(damage(R"({"ph": "X", "cat": "cpu_op", "name": "a", "pid": 9, "tid": 9, "dur": 1})") == "event without a time");
  CHECK(damage(R"({"ph": "X", "cat": "cpu_op", "name": "a", "pid": 9, "tid": 9, "ts": 1, "dur": -1})") ==
        "event that ends before it starts");
  CHECK(damage(R"({"ph": "X", "cat": "cpu_op", "name": "a", "pid": 9, "tid": 9, "ts": 1, "dur": 1e15})") ==
        "event with an impossible time");
  CHECK(damage(R"({"ph": "X", "cat": "cpu_op", "name": "a", "pid": "x", "tid": 9, "ts": 1, "dur": 1})") == "range without a thread");
  CHECK(damage(R"({"ph": "X", "cat": "kernel" "name": "a"})") == "event that is not JSON");
  CHECK(damage("{\"ph\": \"X\", \"name\": \"\xff\xfe\"}") == "event that is not JSON");
  CHECK(damage("17") == "event that is no object");
}

TEST_CASE("a correlation id that two processes use links nothing") {
  const auto call = [](int pid) {
    return R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": )" + std::to_string(pid) +
           R"(, "tid": 1, "ts": 5, "dur": 1, "args": {"correlation": 3}})";
  };
  const std::string kernel =
      R"({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 9, "dur": 1, "args": {"correlation": 3}})";
  CHECK(read_events(call(1) + "," + kernel).kernels.at(0).api == 0);
  const Trace twice = read_events(call(1) + "," + call(1) + "," + kernel);  // of the runtime, and of the driver that it calls
  CHECK(twice.kernels.at(0).api == 0);
  CHECK(twice.stats.rows_damaged.empty());
  const Trace two = read_events(call(1) + "," + call(2) + "," + kernel);
  CHECK(two.kernels.at(0).api == kNone);
  CHECK(nl::test::texts_of(two.stats.rows_damaged).at("correlation id that several processes use") == 1);
}

TEST_CASE("facts of another kind than expected are none") {
  const Trace trace = read_kineto(R"({"deviceProperties": {"id": 3}, "traceEvents": [
    {"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1, "args": {"Input Dims": "[2]"}},
    {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 1, "args": {"grid": 5, "block": [2, "3", 4]}},
    {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 1, "args": {"grid": [4294967295, 1, 1], "block": [4294967296, 1, 1]}}]})");
  CHECK(trace.devices.empty());
  CHECK(trace.stats.rows_damaged.empty());
  CHECK(trace.strings[trace.ranges.at(0).name] == "a");
  REQUIRE(trace.kernels.size() == 2);
  CHECK(trace.shapes[trace.kernels[0].shape].grid == Dim3{});
  CHECK(trace.shapes[trace.kernels[0].shape].block == Dim3{});
  CHECK(trace.shapes[trace.kernels[1].shape].grid == Dim3{4294967295, 1, 1});
  CHECK(trace.shapes[trace.kernels[1].shape].block == Dim3{});
}

TEST_CASE("a process and a thread of the number 0 are like any other") {
  const auto op = [](int pid, int tid) {
    return fmt::format(R"({{"ph": "X", "cat": "cpu_op", "name": "a", "pid": {}, "tid": {}, "ts": 1, "dur": 1}})", pid, tid);
  };
  const Trace trace = read_events(op(9, 9) + "," + op(0, 0) + "," + op(9, 9) + "," + op(0, 9));
  REQUIRE(trace.ranges.size() == 4);
  CHECK((trace.ranges[0].thread == 0 && trace.ranges[1].thread == 1 && trace.ranges[2].thread == 0 && trace.ranges[3].thread == 2));
  CHECK(trace.processes.size() == 2);
  CHECK((trace.threads[1].process == 1 && trace.threads[2].process == 1));
}

TEST_CASE("a trace of the CPU alone has no GPU data") {
  const Trace trace = read_events(kOp);
  CHECK_FALSE(trace.has_kernel_data);
  CHECK_FALSE(trace.has_api_data);
  CHECK(trace.has_range_data);
  CHECK(trace.duration_ns == 10000);
  CHECK(read_events("").ranges.empty());
}

TEST_CASE("a trace that is cut off is refused, with the place and what to do") {
  const std::string whole = nl::test::unpacked_fixture("h200-llama/kineto.json.gz");
  for (const std::size_t size : {whole.size() / 2, whole.size() - 400, std::size_t{900}}) {
    const ScratchFile file(whole.substr(0, size));
    try {
      read_kineto_json(file.path);
      FAIL("it was read");
    } catch (const Error& error) {
      CHECK(error.kind == ErrorKind::kInput);
      CHECK(error.where.find(file.path.string() + ", byte ") == 0);
      CHECK(error.fix.find("export the trace again") != std::string::npos);
    }
  }
  try {
    read_kineto_json(NL_FIXTURES "/onnxruntime/profile.json");
    FAIL("it was read");
  } catch (const Error& error) {
    CHECK(error.fix.find("--ort") != std::string::npos);
  }
  // A PyTorch without Kineto, such as Debian's, writes no categories.
  CHECK_THROWS_AS(
      read_kineto(R"([{"name": "aten::zeros", "ph": "X", "ts": 296, "dur": 55, "tid": 1, "pid": "CPU functions", "args": {}}])"), Error);
}

TEST_CASE("no flipped byte of a trace does harm") {
  std::string text = nl::test::unpacked_fixture("h200-llama/kineto.json.gz").substr(0, 5000);
  text = text.substr(0, text.rfind("},\n")) + "}]}";
  REQUIRE(read_kineto(text).ranges.size() > 5);
  ScratchFile file("");
  for (std::size_t i = 0; i < text.size(); i += 31) {
    for (const char byte : {'"', '}', '[', '\\', '\0', '\xff'}) {
      std::string broken = text;
      broken[i] = byte;
      try {
        file.write(broken);
        read_kineto_json(file.path);
      } catch (const Error& error) {
        CHECK(error.kind == ErrorKind::kInput);
      }
    }
  }
}

TEST_CASE("of calls that neither launched nor waited the long ones are kept, in order") {
  const auto call = [](const char* name, int at, const char* duration) {
    return std::string(R"({"ph": "X", "cat": "cuda_runtime", "name": ")") + name + R"(", "pid": 9, "tid": 9, "ts": )" + std::to_string(at) +
           ", \"dur\": " + duration + ", \"args\": {\"correlation\": " + std::to_string(at) + "}}";
  };
  const Trace trace = read_events(call("cudaMalloc", 900, "5") + "," + call("cudaFree", 300, "4.999") + "," + call("cudaFree", 200, "7") +
                                  "," + call("cudaStreamSynchronize", 100, "8"));
  REQUIRE(trace.api_calls.size() == 1);
  REQUIRE(trace.other_calls.size() == 2);
  CHECK(trace.strings[trace.other_calls[0].name] == "cudaFree");
  CHECK(trace.other_calls[0].start_ns == 100'000);
  CHECK(trace.strings[trace.other_calls[1].name] == "cudaMalloc");
  CHECK(trace.other_calls[1].start_ns == 800'000);
}

TEST_CASE("data types of operators, as PyTorch spells them, once for each operator and shapes") {
  const ScratchFile file(R"({"traceEvents": [
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 1, "args": {"Input Dims": [[1, 2], [2, 3]], "Input type": ["c10::BFloat16", "c10::Float8_e4m3fn"]}},
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 3, "dur": 1, "args": {"Input Dims": [[1, 2], [2, 3]], "Input type": ["c10::BFloat16", "c10::Float8_e4m3fn"]}},
    {"ph": "X", "cat": "cpu_op", "name": "aten::index", "pid": 1, "tid": 1, "ts": 5, "dur": 1, "args": {"Input Dims": [[4], [], [4], []], "Input type": ["float", "Scalar", "long int", ""]}},
    {"ph": "X", "cat": "cpu_op", "name": "aten::cat", "pid": 1, "tid": 1, "ts": 7, "dur": 1, "args": {"Input Dims": [[], []], "Input type": ["TensorList", "Scalar"]}},
    {"ph": "X", "cat": "cpu_op", "name": "aten::ones", "pid": 1, "tid": 1, "ts": 9, "dur": 1, "args": {"Input Dims": [[]], "Input type": ["ScalarList"]}}]})");
  CHECK(read_kineto_json(file.path).dtypes == std::vector<OperatorDtypes>{{"aten::mm", "[[1, 2], [2, 3]]", "[bfloat16, float8_e4m3fn]"},
                                                                          {"aten::index", "[[4], [], [4], []]", "[float32, -, int64]"}});
}

TEST_CASE("kineto: a kernel of NCCL says how much it moves, among how many") {
  const auto messages = [](const std::string& facts) {
    const std::string kernel =
        R"({"ph": "X", "cat": "kernel", "name": "nccl", "pid": 0, "tid": 7, "ts": 200, "dur": 5, "args": {"stream": 7, )";
    return read_events(kOp +
                       R"(,{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 150, "dur": 5, "args": {"stream": 7}},)" +
                       kernel + facts + "}}")
        .messages;
  };
  const auto all_gather = messages(
      R"("Collective name": "_allgather_base", "In msg nelems": 1000, "Out msg nelems": 8000, "Group size": 8, "dtype": "BFloat16")");
  REQUIRE(all_gather.size() == 1);
  CHECK(all_gather[0].kernel == 1);
  CHECK(all_gather[0].kind == Collective::kAllGather);
  CHECK(all_gather[0].bytes == 16'000);
  CHECK(all_gather[0].members == 8);
  const auto scatter = messages(
      R"("Collective name": "_reduce_scatter_base", "In msg nelems": 800, "Out msg nelems": 100, "Group size": 8, "dtype": "Float")");
  REQUIRE(scatter.size() == 1);
  CHECK(scatter[0].kind == Collective::kReduceScatter);
  CHECK(scatter[0].bytes == 3200);
  // A send is between two of the group.
  const auto send =
      messages(R"("Collective name": "send", "In msg nelems": 7, "Out msg nelems": 7, "Group size": 8, "dtype": "Float8_e4m3fn")");
  REQUIRE(send.size() == 1);
  CHECK(send[0].members == 2);
  CHECK(send[0].bytes == 7);
  CHECK(messages(R"("Collective name": "all_to_allv", "In msg nelems": 5, "Out msg nelems": 6, "Group size": 2, "dtype": "Long")")
            .at(0)
            .kind == Collective::kAllToAll);
  for (const char* doubtful :
       {R"("Collective name": "allreduce", "In msg nelems": 5, "Out msg nelems": 5, "Group size": 2, "dtype": "QUInt4x2")",
        R"("Collective name": "allreduce", "In msg nelems": 0, "Out msg nelems": 0, "Group size": 2, "dtype": "Float")",
        R"("Collective name": "allreduce", "In msg nelems": 9223372036854775807, "Out msg nelems": 5, "Group size": 2, "dtype": "Float")",
        R"("Collective name": "allreduce", "In msg nelems": -5, "Out msg nelems": -5, "Group size": 2, "dtype": "Float")",
        R"("Collective name": "allreduce", "In msg nelems": 5, "Out msg nelems": 5, "Group size": -2, "dtype": "Float")",
        R"("In msg nelems": 5, "Out msg nelems": 5, "Group size": 2, "dtype": "Float")"}) {
    CAPTURE(doubtful);
    CHECK(messages(doubtful).empty());
  }
}

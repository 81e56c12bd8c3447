// Small captures of every timeline format, line by line as they are read.
#include <cstdlib>
#include <fstream>

#include "model/words.h"
#include "parsers/collector/trace.h"
#include "parsers/kineto/json.h"
#include "parsers/nsys/sqlite.h"
#include "parsers/ort/profile.h"
#include "tests/catch.h"
#include "tests/unit/files.h"
#include "tests/unit/golden.h"
#include "tests/unit/parsers/collector/made_capture.h"
#include "tests/unit/parsers/nsys/made_export.h"
#include "tests/unit/told_trace.h"

using namespace nl;
using namespace nl::parsers;

namespace {

// A kernel, copies and a set with their calls, a wait, ranges of three kinds, and rows that are damaged.
const char* const kKinetoCapture = R"json({"schemaVersion": 1, "baseTimeNanoseconds": 1700000000000000000,
 "deviceProperties": [{"id": 3, "name": "GPU three", "totalGlobalMem": 31, "computeMajor": 9, "computeMinor": 1, "numSms": 33}],
 "traceEvents": [
 {"ph": "M", "name": "process_name", "pid": 10, "tid": 0, "args": {"name": "python"}},
 {"ph": "M", "name": "thread_name", "pid": 10, "tid": 11, "args": {"name": "main thread"}},
 {"ph": "X", "cat": "user_annotation", "name": "prefill", "pid": 10, "tid": 11, "ts": 1.5, "dur": 90},
 {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 10, "tid": 11, "ts": 2, "dur": 50, "args": {"External id": 5, "Sequence number": 8}},
 {"ph": "X", "cat": "python_function", "name": "nn.Module: Linear_0", "pid": 10, "tid": 11, "ts": 1.75, "dur": 60},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 10, "tid": 11, "ts": 3, "dur": 2.5, "args": {"correlation": 21, "External id": 5}},
 {"ph": "X", "cat": "cuda_driver", "name": "cuLaunchKernel", "pid": 10, "tid": 12, "ts": 6, "dur": 2, "args": {"correlation": 22}},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync", "pid": 10, "tid": 11, "ts": 9, "dur": 1, "args": {"correlation": 23}},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaMemsetAsync", "pid": 10, "tid": 11, "ts": 11, "dur": 1, "args": {"correlation": 24}},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaStreamSynchronize", "pid": 10, "tid": 11, "ts": 13, "dur": 40, "args": {"correlation": 25}},
 {"ph": "X", "cat": "kernel", "name": "void gemm<float>(int)", "pid": 3, "tid": 7, "ts": 8, "dur": 5, "args": {"device": 3, "context": 1, "stream": 7,
   "correlation": 21, "External id": 5, "registers per thread": 40, "shared memory": 2048, "grid": [2, 3, 4], "block": [5, 6, 7]}},
 {"ph": "X", "cat": "kernel", "name": "add", "pid": 3, "tid": 8, "ts": 14, "dur": 6, "args": {"device": 3, "context": 1, "stream": 8,
   "correlation": 22, "registers per thread": 41, "shared memory": 0, "grid": [1, 1, 1], "block": [32, 1, 1], "graph node id": 4}},
 {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pageable -> Device)", "pid": 3, "tid": 7, "ts": 21, "dur": 2,
   "args": {"device": 3, "context": 1, "stream": 7, "correlation": 23, "bytes": 4096}},
 {"ph": "X", "cat": "gpu_memset", "name": "Memset (Device)", "pid": 3, "tid": 7, "ts": 24, "dur": 1,
   "args": {"device": 3, "context": 1, "stream": 7, "correlation": 24, "bytes": 64}},
 {"ph": "X", "cat": "kernel", "name": "too early", "pid": 3, "tid": 7, "ts": 30, "dur": -1, "args": {"device": 3, "stream": 7, "correlation": 99}},
 {"ph": "X", "cat": "kernel", "name": "without a time", "pid": 3, "tid": 7, "dur": 1, "args": {"device": 3, "stream": 7}},
 {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 10, "tid": 11, "ts": 50, "args": {"Bytes": 4}}
 ]})json";

// Two processes, times that are UTC, every kind of copy, places that only pid and tid tell, and sizes that are none.
const char* const kOddKinetoCapture = R"json([
 {"ph": "M", "name": "process_name", "pid": 10, "args": {"name": "first"}}, {"ph": "M", "name": "process_name", "pid": 20, "tid": 5, "args": {"name": "second"}},
 {"ph": "M", "name": "thread_name", "pid": 20, "tid": 21, "args": {"name": "worker"}}, {"ph": "M", "name": "thread_name", "pid": 20, "args": {"name": "nobody"}},
 {"ph": "M", "name": "process_labels", "pid": 10, "tid": 11, "args": {"name": "label"}}, {"ph": "M", "name": "process_name", "pid": 10, "args": {"name": ""}},
 {"ph": "X", "cat": "Operator", "name": "aten::mm", "pid": 20, "tid": 21, "ts": 1600000000000010, "dur": 5, "args": {"Input dims": [[2, 3],
	[4]]  }},
 {"ph": "X", "cat": "user_annotation", "name": "step", "pid": 10, "tid": 11, "ts": 1600000000000001, "dur": 20},
 {"ph": "X", "cat": "cpu_op", "name": "nowhere", "pid": 10, "ts": 1600000000000001, "dur": 20},
 {"ph": "X", "cat": "Runtime", "name": "cudaLaunchKernel", "pid": 20, "tid": 21, "ts": 1600000000000030, "dur": 2, "args": {"correlation": 5}},
 {"ph": "X", "cat": "Runtime", "name": "cudaLaunchKernel", "pid": 10, "tid": 11, "ts": 1600000000000028, "dur": 2, "args": {"correlation": 6}},
 {"ph": "X", "cat": "Runtime", "name": "cudaLaunchKernel", "pid": 20, "tid": 21, "ts": 1600000000000029, "dur": 1, "args": {"correlation": 6}},
 {"ph": "X", "cat": "cuda_driver", "name": "cuLaunchKernel", "pid": 10, "tid": 11, "ts": 1600000000000020, "dur": 3, "args": {"correlation": 7}},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaFree", "pid": 10, "tid": 11, "ts": 1600000000000040, "dur": 4, "args": {"correlation": 8}},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaFree", "pid": 10, "tid": 11, "ts": 1600000000000045, "dur": 6},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaDeviceSynchronize", "pid": 10, "tid": 11, "ts": 1600000000000050, "dur": 9},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaFree", "tid": 11, "ts": 1600000000000050, "dur": 9},
 {"ph": "X", "cat": "Kernel", "name": "k", "pid": 1, "tid": 7, "ts": 1600000000000032, "dur": 1.5, "args": {"correlation": 5, "grid": [2, 3], "block": [4, 5, 6]}},
 {"ph": "X", "cat": "kernel", "name": "k", "pid": 9, "tid": 9, "ts": 1600000000000031, "dur": 0, "args": {"device": 1, "context": 3, "stream": 8, "correlation": 6,
   "grid": [1, 1, 1, 1], "block": [-4, 1, 1], "registers per thread": 17, "shared memory": 18}},
 {"ph": "X", "cat": "kernel", "name": "k", "pid": 1, "tid": 7, "ts": 1600000000000035, "dur": 1, "args": {"correlation": 7, "grid": [2, 3], "block": [4, 5, 6]}},
 {"ph": "X", "cat": "kernel", "name": "unlaunched", "pid": 1, "tid": 7, "ts": 1600000000000036, "dur": 1},
 {"ph": "X", "cat": "Memcpy", "name": "Memcpy DtoH (Device -> Pinned)", "pid": 1, "tid": 7, "ts": 1600000000000060, "dur": 2, "args": {"bytes": 1, "correlation": 7}},
 {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy DtoD (Device -> Device)", "pid": 1, "tid": 7, "ts": 1600000000000061, "dur": 2, "args": {"bytes": -2}},
 {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy PtoP (Device -> Array)", "pid": 1, "tid": 7, "ts": 1600000000000062, "dur": 2, "args": {"bytes": 3}},
 {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoH (Pinned -> Pageable)", "pid": 1, "tid": 7, "ts": 1600000000000063, "dur": 2, "args": {"bytes": 4}},
 {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy", "pid": 1, "tid": 7, "ts": 1600000000000064, "dur": 2, "args": {"bytes": 5}},
 {"ph": "X", "cat": "Memset", "name": "Memset (Unknown)", "pid": 1, "tid": 7, "ts": 1600000000000065, "dur": 7, "args": {"bytes": 6}},
 {"ph": "B", "cat": "kernel", "name": "begun", "pid": 1, "tid": 7, "ts": 1600000000000066, "dur": 9}, {"ph": "X", "name": "no category", "ts": 1, "dur": 1},
 {"ph": "X", "cat": "fwdbwd", "name": "x", "ts": 1, "dur": 1}, {"ph": "X", "cat": "fwdbwd", "name": "x", "ts": 1, "dur": 1}
 ])json";

// Nodes of two threads that are out of order, kernels and copies of each kind behind them, and rows that are damaged.
const char* const kOddOrtProfile = R"json([
 {"cat": "Session", "pid": 10, "tid": 11, "dur": 100, "ts": 5, "ph": "X", "name": "model_run", "args": {}},
 {"cat": "Kernel", "pid": -1, "tid": -1, "dur": 1, "ts": 6, "ph": "X", "name": "first_of_all", "args": {"stream": "3"}},
 {"cat": "Node", "pid": 10, "tid": 12, "dur": 9, "ts": 50, "ph": "X", "name": "late_kernel_time", "args": {"op_name": "Add", "provider": "CUDAExecutionProvider",
   "input_type_shape": [{"float": [1, 2]}, {"float": []}]}},
 {"cat": "Kernel", "pid": -1, "tid": -1, "dur": 4, "ts": 55, "ph": "X", "name": "add", "args": {"stream": "13", "block_x": "5", "block_y": "6", "block_z": "7",
   "grid_x": "2", "grid_y": "3", "grid_z": "4"}},
 {"cat": "Kernel", "pid": -1, "tid": -1, "dur": 5, "ts": 56, "ph": "X", "name": "MemcpyHostToDevice", "args": {"stream": "13"}},
 {"cat": "Node", "pid": 10, "tid": 12, "dur": 8, "ts": 20, "ph": "X", "name": "early_kernel_time", "args": {"provider": "CUDAExecutionProvider"}},
 {"cat": "Kernel", "pid": -1, "tid": -1, "dur": 6, "ts": 25, "ph": "X", "name": "MemcpyDeviceToHost", "args": {"stream": "14"}},
 {"cat": "Kernel", "pid": -1, "tid": -1, "dur": 7, "ts": 26, "ph": "X", "name": "MemcpyDeviceToDevice", "args": {"stream": "14"}},
 {"cat": "Node", "pid": 10, "tid": 11, "dur": 3, "ts": 80, "ph": "X", "name": "cpu_kernel_time", "args": {"op_name": "Mul", "provider": "CPUExecutionProvider"}},
 {"cat": "Kernel", "pid": -1, "tid": -1, "dur": 2, "ts": 81, "ph": "X", "name": "Memset", "args": {"stream": "13"}},
 {"cat": "Kernel", "pid": -1, "tid": -1, "dur": 2, "ts": 130, "ph": "X", "name": "MemcpyOther", "args": {"block_x": "-1"}},
 {"cat": "Node", "pid": 10, "tid": 11, "dur": 1, "ts": 90, "ph": "X", "name": "a_fence_before", "args": {}}, {"cat": "Api", "name": "x", "ts": 1, "dur": 1},
 {"cat": "Node", "pid": 10, "dur": 1, "ts": 90, "ph": "X", "name": "b_kernel_time", "args": {}}, {"cat": "Node", "pid": 10, "tid": 11, "dur": -1, "ts": 90, "name": "c_kernel_time"}
 ])json";

std::string told_with_stats(const Trace& trace) {
  std::string text;
  for (const std::string& line : test::TraceTeller(trace).tell()) text += line + "\n";
  for (const SyncWait& wait : trace.syncs)
    text += fmt::format("wait {} {} {} {}/{}/{} #{} {}\n", wait.start_ns, wait.end_ns, static_cast<int>(wait.kind), wait.where.device,
                        wait.where.context, wait.where.stream, wait.correlation, wait.event);
  const ImportStats& stats = trace.stats;
  text += fmt::format("format {} schema {} tool {}\n", key_of(stats.source_format), stats.schema_version, stats.tool_version);
  for (const auto& [table, rows] : stats.rows_read) text += fmt::format("read {}: {}\n", table, rows);
  for (const auto& [remark, rows] : stats.rows_damaged) text += fmt::format("damaged {}: {}\n", text_of(remark), rows);
  for (const std::string& table : stats.tables_absent) text += "absent " + table + "\n";
  for (const Remark& note : stats.notes) text += "note " + line_of(note) + "\n";
  return text;
}

// Who and where, besides what the lines of work say.
std::string told_places(const Trace& trace) {
  std::string text;
  for (const Process& process : trace.processes) text += fmt::format("process {} {}\n", process.pid, process.name);
  for (const Thread& thread : trace.threads) text += fmt::format("thread {} {} {}\n", thread.process, thread.tid, thread.name);
  for (const Queue& queue : trace.queues)
    text += fmt::format("queue {} {} {} {}\n", static_cast<int>(queue.process), queue.device, queue.context, queue.stream);
  for (const Device& device : trace.devices) text += fmt::format("L2 of {}: {}\n", device.id, device.l2_bytes);
  return text + fmt::format("{} shapes, session until {}, ranges until {}\n", trace.shapes.size(), trace.session_end_ns.value_or(-1),
                            trace.last_range_event_ns.value_or(-1));
}

void check_made(const Trace& trace, const std::string& golden) {
  test::check_golden(test::kGolden + "traces/" + golden + ".txt", told_places(trace) + told_with_stats(trace));
}

void check_told(const Trace& trace, const std::string& golden) {
  test::check_golden(test::kGolden + "traces/" + golden + ".txt", told_with_stats(trace));
}

}  // namespace

TEST_CASE("captures of each format are read as the golden traces", "[golden]") {
  for (const char* name : {"names", "ranges", "ties"})
    check_told(read_nsys_sqlite(std::string(NL_FIXTURES "/crafted/") + name + ".sqlite", {.all_calls = true}), std::string("nsys_") + name);
  const test::Folder folder;
  check_told(read_kineto_json(folder.file("kineto.json", kKinetoCapture)), "kineto");
  const auto collected = test::write_made_capture(folder);
  check_made(read_collector_traces(collected), "collector");
  check_made(read_collector_traces(collected, CallRows::kAll), "collector_all_calls");
  test::CraftedExport made;
  test::make_export(made);
  check_made(read_nsys_sqlite(made.file), "nsys_made");
  check_made(read_kineto_json(folder.file("odd.json", kOddKinetoCapture)), "kineto_odd");
  check_made(read_ort_profile(folder.file("ort.json", kOddOrtProfile)), "onnxruntime_odd");
  check_told(read_ort_profile(NL_FIXTURES "/onnxruntime/profile.json"), "onnxruntime");
}

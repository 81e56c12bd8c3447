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
  check_told(read_collector_traces(collected), "collector");
  check_told(read_collector_traces(collected, CallRows::kAll), "collector_all_calls");
  check_told(read_ort_profile(NL_FIXTURES "/onnxruntime/profile.json"), "onnxruntime");
}

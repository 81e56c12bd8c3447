#include <cstdlib>
#include <fstream>

#include <SQLiteCpp/SQLiteCpp.h>

#include "exporters/nsys_sqlite/nsys_sqlite.h"
#include "tests/catch.h"
#include "tests/unit/files.h"
#include "tests/unit/golden.h"

using namespace nl;

namespace {

void add_places(Trace& trace) {
  trace.processes = {{101, "python"}, {202, "server"}};
  trace.threads = {{0, 111, "main"}, {0, 112, ""}, {1, 222, "worker"}};
  trace.queues = {{0, 0, 1, 7}, {1, 1, 2, 8}, {0, 0, 1, 9}};
  for (const std::int32_t id : {0, 1}) {
    const auto base = static_cast<std::uint32_t>(100 * (id + 1));
    Device device;
    device.id = id;
    device.name = "GPU " + std::to_string(id);
    device.uuid = "uuid " + std::to_string(id);
    device.bus = "bus " + std::to_string(id);
    device.chip = "chip " + std::to_string(id);
    device.sm_count = base + 1;
    device.clock_hz = base + 2;
    device.memory_bytes = base + 3;
    device.bandwidth_bytes_per_s = base + 4;
    device.l2_bytes = base + 5;
    device.compute_major = base + 6;
    device.compute_minor = base + 7;
    trace.devices.push_back(device);
  }
}

ApiCall api_call(Trace& trace, const char* name, Ns start_ns, std::uint32_t thread, std::uint32_t correlation) {
  ApiCall call;
  call.start_ns = start_ns;
  call.duration_ns = 11;
  call.thread = thread;
  call.name = trace.strings.intern(name);
  call.correlation = correlation;
  return call;
}

void add_gpu_work(Trace& trace) {
  trace.api_calls = {api_call(trace, "cudaLaunchKernel_v7000", 100, 0, 31), api_call(trace, "cuLaunchKernel", 90, 1, 32),
                     api_call(trace, "cudaMemcpyAsync_v3020", 120, 2, 35), api_call(trace, "cudaFree_v3020", 140, 2, kNone)};
  trace.shapes = {{trace.strings.intern("void gemm<float>(int)"),
                   trace.strings.intern("gemm"),
                   trace.strings.intern("_Z4gemmIfEvi"),
                   {2, 3, 4},
                   {5, 6, 7},
                   8,
                   9,
                   10},
                  {trace.strings.intern("add"), trace.strings.intern("add"), {}, {12, 13, 14}, {15, 16, 17}, 18, 19, 20}};
  // Names are numbered as they come here; the rest when they are first written.
  for (const char* name : {"cudaMemcpyAsync_v3020", "gemm", "void gemm<float>(int)", "_Z4gemmIfEvi"})
    trace.api_stats.push_back({trace.strings.intern(name), {}});
  for (const std::uint32_t i : {0, 1, 2}) {
    Kernel kernel;
    kernel.start_ns = 200 + i;
    kernel.duration_ns = 20 + i;
    kernel.queue = i;
    kernel.in_graph = i == 1;
    kernel.shape = i % 2;
    kernel.api = i == 2 ? kNone : i;
    trace.kernels.push_back(kernel);
  }
  const auto label = [&](const char* text) { return trace.strings.intern(text).value; };
  trace.mem_ops = {{300, 310, 4096, 0, 2, label("[CUDA memcpy Host-to-Device]"), MemOpKind::kHostToDevice, 1, 3, false},
                   {320, 331, 512, 1, 0, label("[CUDA memcpy Device-to-Host]"), MemOpKind::kDeviceToHost, 3, 2, true},
                   {340, 352, 64, 2, 1, label("[CUDA memset]"), MemOpKind::kMemset, 0, 3, false},
                   {360, 373, 65, 0, kNone, label("[CUDA memset]"), MemOpKind::kMemset, 0, 4, true}};
  trace.graph_runs = {{400, 414, 0, 0}, {420, 435, 1, kNone}};
  trace.syncs = {{500, 516, {0, 0, 1, 7}, 33, 5, SyncKind::kStream}, {520, 537, {1, 1, 2, 0xFFFFFFFF}, 34, 6, SyncKind::kContext}};
}

void add_ranges(Trace& trace) {
  const StringId stage = trace.strings.intern("LLM"), prefill = trace.strings.intern("prefill"),
                 step = trace.strings.intern("it's a \"step\"");
  trace.ranges = {{600, 700, prefill, stage, 0, kNone, RangeStyle::kPushPop, false, 42},
                  {610, 690, step, {}, 1, kNone, RangeStyle::kPushPop, false, std::nullopt},
                  {550, 710, step, stage, 2, 1, RangeStyle::kStartEnd, false, -7},
                  {720, 900, {}, stage, 0, kNone, RangeStyle::kStartEnd, true, std::nullopt}};
  trace.marks = {{590, prefill, stage, 0}, {730, step, {}, 2}};
}

// A value of its own wherever the export has a place for one.
Trace trace_with_all() {
  Trace trace;
  trace.stats.source_format = SourceFormat::kCollector;
  trace.stats.tool_version = "2.3.4";
  trace.stats.notes = {{Code::kNoKernels}, {Code::kGraphsWithoutKernels}};
  trace.utc_start_ns = 1'700'000'000'123'456'789;
  trace.duration_ns = 1000;
  trace.session_end_ns = 1100;
  trace.has_kernel_data = trace.has_api_data = trace.has_range_data = trace.has_mem_data = true;
  add_places(trace);
  add_gpu_work(trace);
  add_ranges(trace);
  trace.metric_series = {{1, 50, {"sm__cycles_active.avg", "dram__bytes_read.sum"}, {800, 850}, {50, 50}, {1.5F, 2, 3, 4}, 1}};
  return trace;
}

// Every table as it was declared, then its rows: numbers as they are, text in quotes.
std::string dump(const std::filesystem::path& path) {
  SQLite::Database database(path.string());
  SQLite::Statement tables(database, "SELECT name, sql FROM sqlite_master ORDER BY type, name");
  std::string text;
  while (tables.executeStep()) {
    const std::string name = tables.getColumn(0).getString();
    if (name.starts_with("ENUM_")) continue;  // nsys_enums.txt
    text += tables.getColumn(1).getString() + "\n";
    SQLite::Statement rows(database, "SELECT * FROM \"" + name + "\" ORDER BY rowid");
    while (rows.executeStep()) {
      for (int i = 0; i < rows.getColumnCount(); ++i) {
        const SQLite::Column value = rows.getColumn(i);
        text += (i == 0 ? "  " : ", ") + (value.isNull() ? "NULL" : value.isText() ? "'" + value.getString() + "'" : value.getString());
      }
      text += "\n";
    }
  }
  return text;
}

void check_export(const Trace& trace, const std::string& golden) {
  const nl::test::Folder folder;
  exporters::write_nsys_sqlite(trace, folder / "ours.sqlite");
  nl::test::check_golden(nl::test::kGolden + golden, dump(folder / "ours.sqlite"));
}

}  // namespace

TEST_CASE("the tables and rows of our nsys export are the golden ones, field by field", "[golden]") {
  check_export(trace_with_all(), "nsys_export.txt");
}

TEST_CASE("our nsys export of a capture with nothing in it has only what says so", "[golden]") {
  check_export(Trace(), "nsys_export_empty.txt");
}

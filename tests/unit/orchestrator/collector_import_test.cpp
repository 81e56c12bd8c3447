// What the collector recorded, against what import hands to the analysis.
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "model/words.h"
#include "orchestrator/capture/timeline.h"
#include "parsers/collector/trace.h"
#include "tests/catch.h"
#include "tests/unit/analysis/duty_run.h"
#include "tests/unit/unpacked.h"

using namespace nl;
using namespace nl::orchestrator;
using namespace nl::parsers;

namespace {

using Records = std::map<std::string, int>;  // each in words that name no index, and how often it is there

std::string place_of(const Trace& trace, const Queue& queue) {
  const std::uint32_t pid = queue.process < trace.processes.size() ? trace.processes[queue.process].pid : 0;
  return fmt::format("{}/{}/{}/{}", pid, queue.device, queue.context, queue.stream);
}

std::string queue_of(const Trace& trace, std::uint32_t queue) {
  return queue < trace.queues.size() ? place_of(trace, trace.queues[queue]) : "none";
}

std::string call_of(const Trace& trace, std::uint32_t api) {
  return api < trace.api_calls.size() ? fmt::format("call at {}", trace.api_calls[api].start_ns) : "no call";
}

std::string thread_of(const Trace& trace, std::uint32_t thread) {
  return thread < trace.threads.size() ? fmt::format("{} {}", trace.threads[thread].tid, trace.threads[thread].name) : "none";
}

std::string text(const Dim3& size) { return fmt::format("{}x{}x{}", size.x, size.y, size.z); }

void add_work(const Trace& trace, Records& out) {
  const auto& words = trace.strings;
  for (const Kernel& k : trace.kernels) {
    const KernelShape& s = trace.shapes.at(k.shape);
    ++out[fmt::format("kernel {} {} {} {} {} | {} | {} | {} {} {} {} {} {}", k.start_ns, k.end_ns(), k.in_graph != 0,
                      queue_of(trace, static_cast<std::uint32_t>(k.queue)), call_of(trace, k.api), words[s.name], words[s.short_name],
                      words[s.mangled_name], text(s.grid), text(s.block), s.registers_per_thread, s.static_shared_bytes,
                      s.dynamic_shared_bytes)];
  }
  for (const MemOp& op : trace.mem_ops)
    ++out[fmt::format("copy {} {} {} {} {} {} {} {} {} {}", op.start_ns, op.end_ns, op.bytes, queue_of(trace, op.queue),
                      call_of(trace, op.api), words[StringId{op.label}], static_cast<int>(op.kind), op.src_kind, op.dst_kind, op.in_graph)];
  for (const GraphRun& run : trace.graph_runs)
    ++out[fmt::format("graph {} {} {} {}", run.start_ns, run.end_ns, queue_of(trace, run.queue), call_of(trace, run.api))];
  for (const SyncWait& wait : trace.syncs)
    ++out[fmt::format("wait {} {} {} {} {} {}", wait.start_ns, wait.end_ns, place_of(trace, wait.where), wait.correlation, wait.event,
                      static_cast<int>(wait.kind))];
}

void add_host_side(const Trace& trace, Records& out) {
  const auto& words = trace.strings;
  for (const ApiCall& call : trace.api_calls)
    ++out[fmt::format("call {} {} {} {} {}", call.start_ns, call.end_ns(), thread_of(trace, static_cast<std::uint32_t>(call.thread)),
                      words[call.name], call.correlation)];
  for (const Range& range : trace.ranges)
    ++out[fmt::format("range {} {} {} {} {} {} {} {} {}", range.start_ns, range.end_ns, words[range.name], words[range.domain],
                      thread_of(trace, range.thread), thread_of(trace, range.end_thread), static_cast<int>(range.style), range.open,
                      range.payload.value_or(-1))];
  for (const Mark& mark : trace.marks)
    ++out[fmt::format("mark {} {} {} {}", mark.time_ns, words[mark.name], words[mark.domain], thread_of(trace, mark.thread))];
}

void add_facts(const Trace& trace, Records& out) {
  for (const Process& process : trace.processes) ++out[fmt::format("process {} {}", process.pid, process.name)];
  for (const Device& d : trace.devices)
    ++out[fmt::format("device {} {} {} {} {} {} {} {} {} {} {}.{}", d.id, d.name, d.uuid, d.bus, d.chip, d.sm_count, d.clock_hz,
                      d.memory_bytes, d.bandwidth_bytes_per_s, d.l2_bytes, d.compute_major, d.compute_minor)];
  for (const MetricSeries& series : trace.metric_series) ++out[fmt::format("series {} {}", series.metrics.size(), series.start_ns.size())];
  out["stalls"] += static_cast<int>(trace.stalls.size());
  for (const auto& [damage, rows] : trace.stats.rows_damaged) ++out[fmt::format("damage {} {}", text_of(damage), rows)];
  if (trace.clock) ++out[fmt::format("clock {} {}", trace.clock->launch_slack_ns, trace.clock->wait_slack_ns.value_or(-1))];
  if (trace.utc_start_ns) ++out[fmt::format("start {}", *trace.utc_start_ns)];
  ++out[fmt::format("duration {}", trace.duration_ns)];
}

Records records_of(const Trace& trace) {
  Records out;
  add_work(trace, out);
  add_host_side(trace, out);
  add_facts(trace, out);
  return out;
}

// By the first word of each record: how many of `before` are not in `after`.
std::map<std::string, int> lost(const Records& before, const Records& after) {
  std::map<std::string, int> out;
  for (const auto& [record, count] : before) {
    const auto found = after.find(record);
    const int missing = count - (found != after.end() ? found->second : 0);
    if (missing > 0) out[record.substr(0, record.find(' '))] += missing;
  }
  return out;
}

std::string text(const std::map<std::string, int>& counts) {
  std::string out;
  for (const auto& [what, count] : counts) out += fmt::format("{}{} of {}", out.empty() ? "" : ", ", count, what);
  return out;
}

}  // namespace

TEST_CASE("import keeps every record of a collector's trace") {
  for (const char* name : {"launch-loop-samples", "llm-cuda-graph", "llm-cuda-stalls", "llm-cuda-whole-graph", "llm-torch"}) {
    const Unpacked file(fmt::format(NL_FIXTURES "/h200-collector/{}.nltrace.gz", name));
    const std::filesystem::path sqlite = file.file.string() + ".sqlite";
    const Records recorded = records_of(read_collector_traces({file.file}));
    const Records imported = records_of(import_collector_files({file.file}, sqlite));
    std::filesystem::remove(sqlite);
    INFO(name);
    REQUIRE(recorded.size() > 100);
    CHECK(text(lost(recorded, imported)) == "");
    CHECK(text(lost(imported, recorded)) == "");
  }
}

TEST_CASE("what became of capture.duty is said where nothing was left out: no step is marked, or tracing never paused") {
  Config config;
  config.capture.duty = "1/10";
  config.analysis.warmup = "none";
  const auto notes = [&](int traced, int untraced, bool spans) {
    DutyRun run;
    run.range("", "something", 10, 20);
    if (traced > 0) run.steps("decode_step", traced, true);
    if (untraced > 0) run.steps("decode_step", untraced, false);
    run.trace.has_kernel_data = true;
    run.trace.stats.source_format = SourceFormat::kCollector;
    if (!spans) run.trace.duty.reset();
    const Trace trace = with_stages(std::move(run.trace), config);
    std::vector<Code> codes;
    for (const Remark& note : trace.stats.notes)
      if (is_one_of(note.code, {Code::kDutyNoSteps, Code::kDutyNeverPaused})) codes.push_back(note.code);
    return codes;
  };
  CHECK(notes(6, 0, true) == std::vector{Code::kDutyNeverPaused});
  CHECK(notes(6, 0, false) == std::vector{Code::kDutyNeverPaused});
  CHECK(notes(6, 6, true).empty());
  CHECK(notes(0, 0, false) == std::vector{Code::kDutyNoSteps});
  config.capture.duty = "";
  CHECK(notes(6, 0, true).empty());
}

#include "exporters/run_json/parts.h"

namespace nl::exporters {

template <class Io, class Cell>
  requires std::is_same_v<std::remove_const_t<Cell>, Dim3>
auto cells_of(Io&, Cell& d) {
  return std::tie(d.x, d.y, d.z);
}

void fields(auto& io, Ref<decltype(io), NcuSample> s) {
  io("ncu_id", s.ncu_id, "ncu's number of the launch");
  io.code("measured_by", s.measured_by, "CUPTI: by nl-stage's collector, without ncu; null: not known");
  if constexpr (reads<decltype(io)>)
    if (!io.has("measured_by")) s.measured_by = Meter::kNcu;  // until format 2.1 nothing else measured
  io("ncu_kernel_name", s.ncu_kernel_name, "as ncu printed it");
  io.code("matched_by", s.matched_by, "what joined it to the kernel that nsys timed, beside grid and block; null: nothing");
  io("grid", s.grid, "x, y, z");
  io("block", s.block, "x, y, z");
  io("stage", s.stage, "innermost stage range open at the launch; null: not known");
  io("nsys_median_ns", s.nsys_median_ns, "median of nsys' launches of this name, grid and block");
  io("nsys_min_ns", s.nsys_min_ns, "the shortest of them");
  io("nsys_max_ns", s.nsys_max_ns, "the longest; far from the shortest where one shape runs on data of several sizes");
  io("nsys_calls", s.nsys_calls, "how many those are; 0: there is no trace");
  io("ncu_duration_ns", s.ncu_duration_ns, "as ncu measured it; null: not measured");
  io("durations_agree", s.durations_agree,
     "ncu's duration lies where nsys' do, within half as much again and 2 µs; null: ncu measured none");
  metric_fields(io, MetricPlace::kLaunch, s.values);
  io.code("bound_by", s.bound_by, "null: not measured, or both sides are equally busy");
  io.code("bound_memory", s.bound_memory, "where memory binds it: the busiest; null: not memory, or not measured");
  io("metrics", s.metrics, "ncu's metrics in ns, bytes, Hz, %", kAnySign);
}

void fields(auto& io, Ref<decltype(io), StageSplit> s) {
  io("stage", s.stage, "the stage, or none");
  io("total_ns", s.total_ns, "time of the launches there");
  io("calls", s.calls, "launches there", kFromOne);
}

void fields(auto& io, Ref<decltype(io), StageLaunches> s) {
  io("stage", s.stage, "a stage whose measured windows launch it, inside stages within it, too");
  io("total_ns", s.total_ns, "time of these launches");
  io("calls", s.calls, "how many", kFromOne);
}

void fields(auto& io, Ref<decltype(io), StallShare> s) {
  io("reason", s.reason, "long_scoreboard, wait, barrier …");
  io("samples", s.samples, "with this reason");
  io("share", s.share, "of the kernel's samples", kFraction);
}

void fields(auto& io, Ref<decltype(io), KernelEntry> k) {
  io("name", k.name, "demangled, as the capturing tool writes it");
  io.known("mangled_name", k.mangled_name, "the symbol; null: not known");
  io.known("short_name", k.short_name, "the function's base name; null: not known");
  io.code("kind", k.kind, "what it does, by its name");
  io("device", k.device, "GPU", kAnySign);
  time_fields(io, "calls", k.time);
  io("gpu_share", k.gpu_share, "of the time of its GPU's kernels, and of CUDA graphs captured without theirs", kFraction);
  io("graph_calls", k.graph_calls, "launches that are nodes of CUDA graphs");
  io("stages", k.stages, "the launches by the outermost stage around them");
  io("innermost_stages", k.innermost,
     "the launches by the innermost stage around them, decode steps as decode; empty: not known, before 3.3");
  io("measured", k.measured,
     "the launches of measured windows by stage, warm-up left out; a launch in a stage within another counts in both");
  io("measured_ns", k.measured_ns, "time of the launches in any measured window, each counted once; null: there is no trace");
  io("measured_calls", k.measured_calls, "how many these are; null: there is no trace");
  io("selected", k.selected, "one of the top-N that ncu was asked for");
  io("ncu", k.ncu, "what ncu, or CUPTI, measured of it");
  io("ncu_note", k.ncu_note, "why there is no sample; null: there is one");
  io("stalls", k.stalls, "why its warps did not issue, by samples of their program counters, most frequent first; empty: not sampled");
}

void fields(auto& io, Ref<decltype(io), ApiEntry> a) {
  io("name", a.name, "CUDA function, without the version that newer ones carry (_v10000)");
  time_fields(io, "calls", a.time);
}

void fields(auto& io, Ref<decltype(io), RangeEntry> r) {
  io("domain", r.domain, "empty: the default domain");
  io("name", r.name, "of the range");
  io.code("style", r.style, "pushed and popped on one thread, or started and ended anywhere");
  time_fields(io, "count", r.wall);
  io("gpu_busy_ns", r.gpu_busy_ns, "union of what was launched inside, over all GPUs; null: not captured");
  io("kernel_calls", r.kernel_calls, "as in stages; null: not captured");
}

void kernel_fields(auto& io, Ref<decltype(io), Run> run) {
  io("kernels", run.kernels,
     "by name and device over the whole capture, warm-up included, most time first; null: not captured, kernels_note says why");
  io("kernels_note", run.kernels_note, "why there are none; null: there are");
  io("api", run.api, "CUDA calls by name, most time first");
  io("ranges", run.ranges, "NVTX ranges by name, most time first");
}

template void kernel_fields(JsonWriter&, const Run&);
template void kernel_fields(JsonReader&, Run&);
template void kernel_fields(SchemaWriter&, const Run&);

}  // namespace nl::exporters

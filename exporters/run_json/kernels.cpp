#include "exporters/run_json/parts.h"

namespace nl::exporters {
namespace {

constexpr const char* kRangeStyles[] = {"push_pop", "start_end"};

}  // namespace

template <class Io, class Cell>
  requires std::is_same_v<std::remove_const_t<Cell>, Dim3>
auto cells_of(Io&, Cell& d) {
  return std::tie(d.x, d.y, d.z);
}

template <class Io>
void fields(Io& io, Ref<Io, NcuSample> s) {
  io("ncu_id", s.ncu_id);
  io.known("measured_by", s.measured_by);
  if constexpr (std::is_same_v<Io, JsonReader>)
    if (!io.has("measured_by")) s.measured_by = "ncu";  // until format 2.1 nothing else measured
  io("ncu_kernel_name", s.ncu_kernel_name);
  io("matched_by", s.matched_by);
  io("grid", s.grid);
  io("block", s.block);
  io("stage", s.stage);
  io("nsys_median_ns", s.nsys_median_ns);
  io("nsys_min_ns", s.nsys_min_ns);
  io("nsys_max_ns", s.nsys_max_ns);
  io("nsys_calls", s.nsys_calls);
  io("ncu_duration_ns", s.ncu_duration_ns);
  io("durations_agree", s.durations_agree);
  metric_fields<Io>(io, MetricPlace::kLaunch, s.values);
  io("bound_by", s.bound_by);
  io("metrics", s.metrics);
}

template <class Io>
void fields(Io& io, Ref<Io, StageSplit> s) {
  io("stage", s.stage);
  io("total_ns", s.total_ns);
  io("calls", s.calls);
}

template <class Io>
void fields(Io& io, Ref<Io, StallShare> s) {
  io("reason", s.reason);
  io("samples", s.samples);
  io("share", s.share);
}

template <class Io>
void fields(Io& io, Ref<Io, KernelEntry> k) {
  io("name", k.name);
  io.known("mangled_name", k.mangled_name);
  io.known("short_name", k.short_name);
  io("device", k.device);
  time_fields(io, "calls", k.time);
  io("gpu_share", k.gpu_share);
  io("graph_calls", k.graph_calls);
  io("stages", k.stages);
  io("selected", k.selected);
  io("ncu", k.ncu);
  io.known("ncu_note", k.ncu_note);
  io("stalls", k.stalls);
}

template <class Io>
void fields(Io& io, Ref<Io, ApiEntry> a) {
  io("name", a.name);
  time_fields(io, "calls", a.time);
}

template <class Io>
void fields(Io& io, Ref<Io, RangeEntry> r) {
  io("domain", r.domain);
  io("name", r.name);
  io.word("style", r.style, kRangeStyles);
  time_fields(io, "count", r.wall);
  io("gpu_busy_ns", r.gpu_busy_ns);
  io("kernel_calls", r.kernel_calls);
}

template <class Io>
void kernel_fields(Io& io, Ref<Io, Run> run) {
  io("kernels", run.kernels);
  io.known("kernels_note", run.kernels_note);
  io("api", run.api);
  io("ranges", run.ranges);
}

template void kernel_fields(JsonWriter&, const Run&);
template void kernel_fields(JsonReader&, Run&);

}  // namespace nl::exporters

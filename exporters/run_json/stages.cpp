#include "exporters/run_json/parts.h"

namespace nl::exporters {

template <class Io>
void fields(Io& io, Ref<Io, Budget> b) {
  io("wall_ns", b.wall_ns);
  io("gpu_compute_ns", b.gpu_compute_ns);
  io("exposed_copy_ns", b.exposed_copy_ns);
  io("queue_wait_ns", b.queue_wait_ns);
  io("sync_blocked_ns", b.sync_blocked_ns);
  io("launch_starved_ns", b.launch_starved_ns);
  io("other_host_ns", b.other_host_ns);
  io("residual_ns", b.residual_ns);
}

template <class Io>
void kind_fields(Io& io, Ref<Io, StageActivity> a) {
  io("elementwise_ns", a.elementwise_ns);
  io("elementwise_kernels", a.elementwise_kernels);
  io("longest_elementwise_chain", a.longest_elementwise_chain);
  io("gemm_ns", a.gemm_ns);
  io("gemm_kernels", a.gemm_kernels);
  io("attention_ns", a.attention_ns);
  io("attention_kernels", a.attention_kernels);
  io("reduce_ns", a.reduce_ns);
  io("reduce_kernels", a.reduce_kernels);
  io("norm_ns", a.norm_ns);
  io("norm_kernels", a.norm_kernels);
  io("copy_kernel_ns", a.copy_kernel_ns);
  io("copy_kernels", a.copy_kernels);
  io("cache_copy_ns", a.cache_copy_ns);
  io("cache_copy_kernels", a.cache_copy_kernels);
}

template <class Io>
void copy_fields(Io& io, Ref<Io, StageActivity> a) {
  io("h2d_ns", a.h2d_ns);
  io("d2h_ns", a.d2h_ns);
  io("d2d_ns", a.d2d_ns);
  io("memset_ns", a.memset_ns);
  io("memsets", a.memsets);
  io("h2d_bytes", a.h2d_bytes);
  io("d2h_bytes", a.d2h_bytes);
  io("d2d_bytes", a.d2d_bytes);
  io("h2d_copies", a.h2d_copies);
  io("d2h_copies", a.d2h_copies);
  io("d2d_copies", a.d2d_copies);
  io("pageable_ns", a.pageable_ns);
  io("pageable_copies", a.pageable_copies);
}

template <class Io>
void fields(Io& io, Ref<Io, StageActivity> a) {
  io("launches", a.launches);
  io("launch_call_ns", a.launch_call_ns);
  io("graph_launches", a.graph_launches);
  io("sync_calls", a.sync_calls);
  io("sync_call_ns", a.sync_call_ns);
  io("kernels", a.kernels);
  io("graph_kernels", a.graph_kernels);
  io("graph_runs", a.graph_runs);
  io("kernel_sum_ns", a.kernel_sum_ns);
  io("small_kernels", a.small_kernels);
  io("small_kernel_ns", a.small_kernel_ns);
  kind_fields(io, a);
  copy_fields(io, a);
  io("longest_gap_ns", a.longest_gap_ns);
  io("longest_gap_at_ns", a.longest_gap_at_ns);
  io("streams_used", a.streams_used);
}

template <class Io>
void fields(Io& io, Ref<Io, DeviceBusy> d) {
  io("device", d.device);
  io("busy_ns", d.busy_ns);
}

template <class Io>
void fields(Io& io, Ref<Io, StageCounters> c) {
  io.known("measured_by", c.measured_by);
  io("windows", c.windows);
  io("duration_ns", c.duration_ns);
  metric_fields<Io>(io, MetricPlace::kStage, c.values);
  io("metrics", c.metrics);
  io.known("note", c.note);
}

template <class Io>
void fields(Io& io, Ref<Io, StageSampling> s) {
  io("samples", s.samples);
  metric_fields<Io>(io, MetricPlace::kSampled, s.values);
  io("metrics", s.metrics);
}

template <class Io>
void fields(Io& io, Ref<Io, StageEntry> s) {
  io("name", s.name);
  io("ranges", s.ranges);
  io("derived", s.derived);
  time_fields(io, "count", s.wall);
  io("warmup_windows", s.warmup_windows);
  io("warmup_wall_ns", s.warmup_wall_ns);
  io("gpu_busy_ns", s.gpu_busy_ns);
  io("gpu_sum_ns", s.gpu_sum_ns);
  io("kernel_calls", s.kernel_calls);
  io("open_ranges", s.open_ranges);
  io("budget", s.budget);
  io("foreign_gpu_ns", s.foreign_gpu_ns);
  io("activity", s.activity);
  io("devices", s.devices);
  io("tokens_per_window", s.tokens_per_window);
  io("tokens_per_s", s.tokens_per_s);
  io("first_window_ns", s.first_window_ns);
  io("rest_median_ns", s.rest_median_ns);
  io("first_in_iteration_ns", s.first_in_iteration_ns);
  io("later_in_iteration_ns", s.later_in_iteration_ns);
  io("longest_window_start_ns", s.longest_window_start_ns);
  io("longest_window_end_ns", s.longest_window_end_ns);
  io("counters", s.counters);
  io("sampling", s.sampling);
}

template <class Io>
void fields(Io& io, Ref<Io, Phase> p) {
  io("name", p.name);
  io("wall_ns", p.wall_ns);
  io("budget", p.budget);
}

template <class Io>
void fields(Io& io, Ref<Io, Phases> p) {
  io("span_ns", p.span_ns);
  io("phases", p.phases);
  io("ranges_without_gpu_share", p.ranges_without_gpu_share);
  io("gpu_without_range_share", p.gpu_without_range_share);
}

template <class Io>
void fields(Io& io, Ref<Io, Iteration> i) {
  io("start_ns", i.start_ns);
  io("wall_ns", i.wall_ns);
  io("warmup", i.warmup);
  io("pid", i.pid);
  io("tid", i.tid);
  io.pairs("stages", i.stages, "stage", "wall_ns");
}

template <class Io>
void fields(Io& io, Ref<Io, Iterations> i) {
  io("count", i.count);
  io("warmup", i.warmup);
  io.known("rule", i.rule);
  io("list", i.list);
}

template <class Io>
void fields(Io& io, Ref<Io, TimeSummary> t) {
  time_fields(io, "count", t);
}

template <class Io>
void fields(Io& io, Ref<Io, Latency> l) {
  io("ttft", l.ttft);
  io("tpot", l.tpot);
  io("batch", l.batch);
  io("output_tokens_per_s", l.output_tokens_per_s);
  io("notes", l.notes);
}

template <class Io>
void stage_fields(Io& io, Ref<Io, Run> run) {
  io("stages", run.stages);
  io("phases", run.phases);
  io("iterations", run.iterations);
  io("latency", run.latency);
}

template void stage_fields(JsonWriter&, const Run&);
template void stage_fields(JsonReader&, Run&);

}  // namespace nl::exporters

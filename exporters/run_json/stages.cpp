#include "exporters/run_json/parts.h"
#include "exporters/run_json/step_fields.h"

namespace nl::exporters {

void kind_fields(auto& io, Ref<decltype(io), StageActivity> a) {
  io("elementwise_ns", a.elementwise_ns, "kernels that only map one tensor to another, by name");
  io("elementwise_kernels", a.elementwise_kernels, "how many");
  io("longest_elementwise_chain", a.longest_elementwise_chain, "launched one after another on one stream");
  io("gemm_ns", a.gemm_ns, "matrix products, by name");
  io("gemm_kernels", a.gemm_kernels, "how many");
  io("attention_ns", a.attention_ns, "attention kernels, by name");
  io("attention_kernels", a.attention_kernels, "how many");
  io("reduce_ns", a.reduce_ns, "sums, maxima, softmax, sampling, by name");
  io("reduce_kernels", a.reduce_kernels, "how many");
  io("norm_ns", a.norm_ns, "layer and RMS norms that are one kernel, by name");
  io("norm_kernels", a.norm_kernels, "how many");
  io("copy_kernel_ns", a.copy_kernel_ns, "kernels that copy, concatenate or fill, by name");
  io("copy_kernels", a.copy_kernels, "how many");
  io("cache_copy_ns", a.cache_copy_ns, "of them, those that grow or fill a KV cache");
  io("cache_copy_kernels", a.cache_copy_kernels, "how many");
  io("communication_kernel_ns", a.communication_kernel_ns, "NCCL, NVSHMEM and their like, by name");
  io("communication_kernels", a.communication_kernels, "how many");
}

void copy_fields(auto& io, Ref<decltype(io), StageActivity> a) {
  io("h2d_ns", a.h2d_ns, "copies from host to device");
  io("d2h_ns", a.d2h_ns, "from device to host");
  io("d2d_ns", a.d2d_ns, "from device to device");
  io("peer_ns", a.peer_ns, "from one GPU to another");
  io("memset_ns", a.memset_ns, "sets");
  io("memsets", a.memsets, "how many");
  io("h2d_bytes", a.h2d_bytes, "host to device");
  io("d2h_bytes", a.d2h_bytes, "device to host");
  io("d2d_bytes", a.d2d_bytes, "device to device");
  io("peer_bytes", a.peer_bytes, "GPU to GPU");
  io("h2d_copies", a.h2d_copies, "host to device");
  io("d2h_copies", a.d2h_copies, "device to host");
  io("d2d_copies", a.d2d_copies, "device to device");
  io("peer_copies", a.peer_copies, "GPU to GPU");
  io("pageable_ns", a.pageable_ns, "host copies from or to pageable memory");
  io("pageable_copies", a.pageable_copies, "how many");
}

void fields(auto& io, Ref<decltype(io), StageActivity> a) {
  io("launches", a.launches, "calls of the stage's threads that launched GPU work");
  io("launch_call_ns", a.launch_call_ns, "time inside them");
  io("graph_launches", a.graph_launches, "of them, launches of CUDA graphs");
  io("sync_calls", a.sync_calls, "calls that wait for the GPU");
  io("sync_call_ns", a.sync_call_ns, "time inside them");
  io("kernels", a.kernels, "kernels that start in the windows");
  io("graph_kernels", a.graph_kernels, "of them, nodes of CUDA graphs");
  io("graph_runs", a.graph_runs, "CUDA graphs traced as a whole");
  io("kernel_sum_ns", a.kernel_sum_ns, "their plain sum");
  io("small_kernels", a.small_kernels, "kernels shorter than 10 µs");
  io("small_kernel_ns", a.small_kernel_ns, "their time");
  kind_fields(io, a);
  copy_fields(io, a);
  io("longest_gap_ns", a.longest_gap_ns, "the longest time without GPU work");
  io("longest_gap_at_ns", a.longest_gap_at_ns, "when it began", kAnySign);
  io("streams_used", a.streams_used, "GPU queues with work");
}

void fields(auto& io, Ref<decltype(io), LateLaunches> l) {
  io.code("before", l.before, "the launching thread's latest call that launched, copied or waited");
  io.code("launch", l.launch, "the late call");
  io("count", l.count, "how many");
  io("starved_ns", l.starved_ns, "the GPU waited until the call began");
  io("latency_ns", l.latency_ns, "and from then until the work began");
  io("longest_ns", l.longest_ns, "the longest of them, both together");
  io("longest_at_ns", l.longest_at_ns, "when it began", kAnySign);
}

void fields(auto& io, Ref<decltype(io), WaitCall> c) {
  io("name", c.name, "the call");
  io("count", c.count, "how often it ran in launch-starved time");
  io("time_ns", c.time_ns, "of that time");
}

void fields(auto& io, Ref<decltype(io), LaunchWaits> s) {
  io("starved_ns", s.starved_ns, "launch-starved time, added up over the GPUs");
  io("latency_ns", s.latency_ns, "launch latency, likewise");
  io("outside_calls_ns", s.outside_calls_ns, "of starved_ns: the launching thread is in no CUDA call");
  io("late_launches", s.late, "which launches came late, and after what; the longest wait first");
  io("calls", s.calls, "CUDA calls of the launching threads in starved_ns; the longest first, 20 at most");
}

void fields(auto& io, Ref<decltype(io), HostLine> l) {
  frame_fields(io, l.frame);
  io.code("kind", l.kind, "what kind of code it is, by module and source");
  io("samples", l.samples, "with it innermost");
  io("samples_inside", l.samples_inside, "with it anywhere in the stack");
  io("time_ns", l.time_ns, "its samples' share of waited_ns; null: too few samples");
  io("time_inside_ns", l.time_inside_ns, "likewise of samples_inside");
}

void fields(auto& io, Ref<decltype(io), HostWorkTime> k) {
  io.code("kind", k.kind, "what kind of code it is");
  io("samples", k.samples, "how many");
  io("time_ns", k.time_ns, "their share of waited_ns; null: too few samples");
}

void fields(auto& io, Ref<decltype(io), SyncLine> l) {
  frame_fields(io, l.frame);
  io("samples", l.samples, "inside calls that wait for the GPU");
  io("time_ns", l.time_ns, "their share of activity's sync_call_ns; null: too few samples");
}

void fields(auto& io, Ref<decltype(io), HostBlame> b) {
  io("samples", b.samples, "of the launching threads");
  io("own_samples", b.own_samples, "of them in the user's own code, or in a library other than a framework that it called");
  io.code("kind", b.kind, "the kind of code with the most samples");
  io("kind_samples", b.kind_samples, "how many are of this kind");
  io("function", b.function,
     "innermost function of the user's own code that most samples are in; null: no share's 95 % interval lies above one half");
  io("function_samples", b.function_samples, "how many are in it");
  io("line", b.line, "its line that most samples are at; null: no such line");
  io("line_samples", b.line_samples, "how many are at it");
  io("caller", b.caller, "the function of the user's own code that calls it; null: none, or several");
  io("callee", b.callee, "the library's function that it is in; null: itself, or several");
}

void fields(auto& io, Ref<decltype(io), StageGap> g) {
  io.code("kind", g.kind,
          "recurring: long, at the same place of at least half of the windows; occasional: long, in fewer; between_launches: all short "
          "ones together");
  io.known("before", g.before, "the work that ends before it, a kernel or copy by name; null: of many, or none was captured");
  io.known("after", g.after, "the work that begins after it; null: as for before");
  io("at_edge", g.at_edge, "it lies at the start or end of the windows, as a gap between two steps does");
  io("count", g.count, "how many gaps");
  io("windows", g.windows, "how many windows have it");
  io("mean_ns", g.mean_ns, "of a window that has it");
  io("median_ns", g.median_ns, "of a window that has it; null: of between_launches, or of fewer than three windows");
  io("wall_share", g.wall_share, "of the stage's wall", kFraction);
  io("budget", g.budget, "its time by bin, as one GPU sees it; wall_ns is all of it");
  io("after_wait_ns", g.after_wait_ns, "of wall_ns: the launching thread's latest call before was a wait for the GPU");
  io("not_launching_ns", g.not_launching_ns,
     "of its launch_starved_ns and other_host_ns: the host did what neither CUDA graphs nor faster launches save, such as the user's own "
     "code");
  io("host", g.host, "what the host ran in it; null: no samples");
}

void fields(auto& io, Ref<decltype(io), HostCode> h) {
  io("waited_ns", h.waited_ns, "launch-starved time, added up over the GPUs, as in launch_waits");
  io("samples", h.samples, "of the launching threads that fall into it; where several GPUs wait, each counts them");
  io("lines", h.lines, "innermost lines, most samples first; 200 at most");
  io("functions", h.functions, "functions with all that they call, most samples first; their line is where they begin; 200 at most");
  io("kinds", h.kinds, "what kinds of code; adds up to samples");
  io("syncs", h.syncs, "lines that wait for the GPU, anywhere in the stage, most samples first; 50 at most");
  io("collections", h.collections, "garbage collections of these processes that overlap the waits");
  io("collection_ns", h.collection_ns, "how long they do");
  io("os_calls", h.os_calls, "calls of the operating system on the launching threads in the waits; the longest first, 20 at most");
  io("blame", h.blame, "whose code most of it is; null: too few samples");
}

void fields(auto& io, Ref<decltype(io), StageDevice> d) {
  io("device", d.device, "GPU", kAnySign);
  io("pid", d.pid, "the process, a rank; 0: not known");
  io("windows", d.windows, "of that process; 0: this is no stage");
  io("busy_ns", d.busy_ns, "in the windows, union of kernels, copies and sets, whoever launched them");
  io("launched_ns", d.launched_ns,
     "union of what the windows launched, also where it runs after their end: gpu_busy_ns is the mean of these");
  io("kernel_sum_ns", d.kernel_sum_ns, "kernels that start in the windows, plain sum");
  io("overlapped_communication_ns", d.overlapped_communication_ns,
     "communication while a compute kernel runs; the budget counts it as computing");
  io("budget", d.budget, "every nanosecond of the process' windows, as this GPU sees it");
}

void fields(auto& io, Ref<decltype(io), GpuSpread> g) {
  io("busy_share_mean", g.busy_share_mean, "busy_ns by wall, over the GPUs", kFraction);
  io("busy_share_min", g.busy_share_min, "of the least busy GPU", kFraction);
  io("busy_share_max", g.busy_share_max, "of the busiest", kFraction);
  io("compute_spread", g.compute_spread, "most - mean of the GPUs' computing time in a window, by the mean");
  io("slowest_device", g.slowest_device, "the slowest GPU", kAnySign);
  io("slowest_pid", g.slowest_pid, "its process");
  io.code("slowest_by", g.slowest_by, "arrival: it reaches the collectives late; compute: it computes longest");
  io("slowest_last_share", g.slowest_last_share, "of the collectives with a last rank: it is the last; null: not paired", kFraction);
  io("slowest_late_share", g.slowest_late_share, "of the time by which GPUs came after all others: it did; null: not paired", kFraction);
}

void fields(auto& io, Ref<decltype(io), Communication> c) {
  io.code("kind", c.kind, "by the kernel's name; peer_copy: a copy from one GPU to another");
  io("device", c.device, "GPU", kAnySign);
  io("pid", c.pid, "the process, a rank; 0: not known");
  io("count", c.count, "how many start there");
  io("sum_ns", c.sum_ns, "their plain sum");
  io("time_ns", c.time_ns, "one of them runs");
  io("exposed_ns", c.exposed_ns, "of it: no compute kernel runs on this GPU; kinds that run at the same time each count it");
  io("bytes", c.bytes, "null: not captured");
  io("bytes_per_s", c.bytes_per_s, "bytes by sum_ns; null: not captured");
  io("late_peer_ns", c.late_peer_ns, "of sum_ns: until the last rank has started; null: the ranks' collectives cannot be paired");
  io("transfer_ns", c.transfer_ns, "the rest of sum_ns");
  io("last_arrivals", c.last_arrivals, "how often this rank started last");
  io("behind_ns", c.behind_ns, "how long after the last but one, then");
}

void fields(auto& io, Ref<decltype(io), StageCounters> c) {
  io.code("measured_by", c.measured_by, "null: nothing was", {Meter::kCupti});
  io("windows", c.windows, "that were measured, warm-up left out where the trace says which");
  io("duration_ns", c.duration_ns, "of a window on the GPU, idle time included");
  metric_fields(io, MetricPlace::kStage, c.values);
  io("metrics", c.metrics, "all of them, as ncu spells them, in ns, bytes, Hz, %", kAnySign);
  io.known("note", c.note, "why there are none, or what to bear in mind; null: nothing");
}

void fields(auto& io, Ref<decltype(io), StageSampling> s) {
  io("samples", s.samples, "that lie in the windows, wholly or in part");
  metric_fields(io, MetricPlace::kSampled, s.values);
  io("metrics", s.metrics, "means of all sampled metrics, as ncu spells them", kAnySign);
}

void fields(auto& io, Ref<decltype(io), WindowSeries> s) {
  io("wall_ns", s.wall_ns, "the measured windows by their start, 1000 values at most");
  io("windows_each", s.windows_each, "more than 1: a value is the median of so many windows that follow each other", kFromOne);
  io("throttled", s.throttled, "windows that are not among them, because the GPU was slowed against its will");
}

void fields(auto& io, Ref<decltype(io), SlowWindows> s) {
  io("count", s.count, "how many there are");
  io("budget", s.budget, "every nanosecond of them in one bin");
  io("module_loads", s.module_loads, "calls of their threads that load GPU code; null: only calls that launch or wait were captured");
  io("module_load_ns", s.module_load_ns, "time inside these calls; null: likewise");
}

void fields(auto& io, Ref<decltype(io), StageEntry> s) {
  io("name", s.name, "prefill, decode, decode_step or another range of the domain LLM", matching("."));
  io("ranges", s.ranges, "the spellings it was found under, LLM:prefill or LLM@prefill");
  io.code("source", s.source,
          "marked: ranges that the workload marks or stages.map names; engine: ranges of an inference engine; inferred: what repeats in "
          "the trace");
  io("confidence", s.confidence, "that its windows are where the stage is: 1 where they are marked", kFraction);
  io("derived", s.derived, "no ranges of its own: decode as the span of its steps");
  time_fields(io, "count", s.wall);
  io("warmup_windows", s.warmup_windows, "windows left out as warm-up");
  io("warmup_wall_ns", s.warmup_wall_ns, "their time");
  io("gpu_busy_ns", s.gpu_busy_ns,
     "union of the intervals of the kernels, copies, sets and graphs that measured windows launched, on one GPU; of several, the mean "
     "over those of each process; null: not captured");
  io("gpu_sum_ns", s.gpu_sum_ns, "their plain sum, likewise; null: not captured");
  io("kernel_calls", s.kernel_calls, "kernels launched inside; null: not captured");
  io("open_ranges", s.open_ranges, "ranges that were never closed; they are in none of the times");
  io("budget", s.budget,
     "every nanosecond of the measured windows in one bin; of several GPUs, the mean over those of each process; null: no GPU data in the "
     "capture");
  io("foreign_gpu_ns", s.foreign_gpu_ns, "of the budget's GPU time: work that was launched outside the window; null: not captured");
  io("activity", s.activity, "what happened inside the measured windows, on all GPUs together; null: no GPU data in the capture");
  io("launch_waits", s.launch_waits, "the waits for launches, by what the launching threads did; null: no GPU data in the capture");
  io("host_code", s.host_code, "what the launching threads ran while the GPUs waited for their next launch; null: nobody looked");
  io("gaps", s.gaps,
     "the GPU's idle time in the windows: gaps at the same place of the windows are one; recurring ones first, the longest first");
  io("devices", s.devices, "every GPU that the processes of the windows use, by GPU and process");
  io("gpu_spread", s.gpu_spread, "the GPUs against each other; null: there is one");
  io("communication", s.communication, "by GPU, process and kind");
  io("tokens_per_window", s.tokens_per_window, "null: not known");
  io("tokens_per_s", s.tokens_per_s, "null: not known");
  io("first_window_ns", s.first_window_ns, "the first measured window; null: none");
  io("rest_median_ns", s.rest_median_ns, "median of the measured windows after it; null: none");
  io("first_in_iteration_ns", s.first_in_iteration_ns,
     "where iterations have several windows: the median of each iteration's first; null: they have not");
  io("later_in_iteration_ns", s.later_in_iteration_ns, "and of all others");
  io("longest_window_start_ns", s.longest_window_start_ns, "the slowest measured window, for looking it up", kAnySign);
  io("longest_window_end_ns", s.longest_window_end_ns, "its end", kAnySign);
  io("counters", s.counters, "the GPU's counters for one window on average, measured in a pass of its own; null: not measured");
  io("sampling", s.sampling, "what samples of the GPU's activity showed during the measured windows, on average; null: not sampled");
  io("series", s.series, "how long each measured window took");
  io("slow_windows", s.slow_windows,
     "the measured windows that take more than 1.5 times their median, where there are at least 8; null: none, or no GPU data");
}

void fields(auto& io, Ref<decltype(io), Phase> p) {
  io("name", p.name, "a stage's name; mixed: different stages of several threads overlap; idle: none is open");
  io("wall_ns", p.wall_ns, "its time");
  io("budget", p.budget, "as in stages; null: no GPU data in the capture");
}

void fields(auto& io, Ref<decltype(io), Phases> p) {
  io("span_ns", p.span_ns, "from the first stage to the last, warm-up iterations left out");
  io("phases", p.phases, "each instant of the span in one of them");
  io("ranges_without_gpu_share", p.ranges_without_gpu_share, "of the stages' time: windows without any GPU work; null: not captured",
     kFraction);
  io("gpu_without_range_share", p.gpu_without_range_share, "of the GPU's busy time: outside every stage's windows; null: not captured",
     kFraction);
  io("devices", p.devices, "the whole span as each GPU sees it, by GPU and process");
}

void fields(auto& io, Ref<decltype(io), Iteration> i) {
  io("start_ns", i.start_ns, "when it began", kAnySign);
  io("wall_ns", i.wall_ns, "from its first stage's start to its last one's end");
  io("warmup", i.warmup, "left out of the times");
  io("pid", i.pid, "the process");
  io("tid", i.tid, "the thread");
  io.pairs("stages", i.stages, "stage", "wall_ns", "the stages in it");
}

void fields(auto& io, Ref<decltype(io), Iterations> i) {
  io("count", i.count, "how many iterations there are");
  io("warmup", i.warmup, "of them, warm-up");
  io.known("rule", i.rule, "in words: how warm-up was told");
  io("list", i.list, "the first ones; count says how many there are");
}

void fields(auto& io, Ref<decltype(io), Latency> l) {
  io("ttft", l.ttft, "time to first token: a request's arrival to the end of its prefill; null: the arrival is not known");
  io("prefill", l.prefill, "start of the iteration to the end of its last prefill before decoding; null: not known");
  if constexpr (reads<decltype(io)>)
    if (!io.has("prefill")) std::swap(l.ttft, l.prefill);  // until format 2.1 it was called so, arrival known or not
  io("tpot", l.tpot,
     "time per output token: a decode window by its steps; of a server, from one token of a request to its next; null: not known");
  io("batch", l.batch, "sequences at a time; null: not known, or not always the same");
  io("output_tokens_per_s", l.output_tokens_per_s, "generated tokens of all sequences by the iterations' time; null: not known");
  io("notes", l.notes, "what could not be derived, and what would make it known");
}

void stage_fields(auto& io, Ref<decltype(io), Run> run) {
  io("stages", run.stages, "in the order in which they first began");
  io("phases", run.phases, "the whole measured span, split without overlap");
  io("iterations", run.iterations, "the repetitions of the workload");
  io("median_step", run.median_step, "the window of median length of the stage that is the program's unit; null: it has none");
  io("latency", run.latency, "of the measured iterations");
  io("communication", run.communication, "of the whole capture, by GPU, process and kind");
}

template void stage_fields(JsonWriter&, const Run&);
template void stage_fields(JsonReader&, Run&);
template void stage_fields(SchemaWriter&, const Run&);

}  // namespace nl::exporters

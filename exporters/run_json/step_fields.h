#pragma once

#include "exporters/run_json/writer.h"
#include "model/median_step.h"
#include "model/words.h"

// The median step, as run.json and compare.json have it.
namespace nl::exporters {

void fields(auto& io, Ref<decltype(io), Budget> b) {
  io("wall_ns", b.wall_ns, "the windows together; the others add up to it");
  io("gpu_compute_ns", b.gpu_compute_ns, "a kernel runs that is no communication");
  io("communication_ns", b.communication_ns, "no such kernel, but communication with other GPUs runs: NCCL, NVSHMEM, peer copies");
  io("exposed_copy_ns", b.exposed_copy_ns, "none of these, but a copy or set runs");
  io("queue_wait_ns", b.queue_wait_ns, "GPU idle, its next work was launched before it went idle");
  io("sync_blocked_ns", b.sync_blocked_ns, "GPU idle, the stage's thread is inside a call that waits for the GPU");
  io("launch_starved_ns", b.launch_starved_ns, "GPU idle, and the call that launches its next work has not begun yet");
  io("other_host_ns", b.other_host_ns, "GPU idle, and the window launches nothing more");
  io("residual_ns", b.residual_ns, "GPU idle before work whose launching call is not in the capture");
  io("launch_latency_ns", b.launch_latency_ns,
     "GPU idle, that call began after the GPU went idle, and its work has not: driver and hardware");
}

void fields(auto& io, Ref<decltype(io), StepGpu> g) {
  io("device", g.device, "as the process numbers it", kAnySign);
  io("pid", g.pid, "the process");
  io("end_ns", g.end_ns, "of each part, since the window's begin, where the first begins; as fine as a page can draw it");
  io.codes("bins", g.bins, "of each part: the bin of the budget");
}

void fields(auto& io, Ref<decltype(io), MedianStep> m) {
  io("stage", m.stage, "the unit of what the program does");
  io("start_ns", m.start_ns, "of the window, since the start of the capture", kAnySign);
  io("wall_ns", m.wall_ns, "its length");
  io("windows", m.windows, "measured ones that it is the median of");
  io("budget", m.budget, "of this window, the mean over its GPUs; null: no GPU data in the capture");
  io("gpus", m.gpus, "each GPU of its process, eight at most");
  io("gpus_left_out", m.gpus_left_out, "that it uses, too");
  io("host_end_ns", m.host_end_ns, "as end_ns of gpus; empty: no CUDA calls in the capture");
  io.codes("host", m.host, "of each part: what its thread does; launches are those of all threads of its process");
}

}  // namespace nl::exporters

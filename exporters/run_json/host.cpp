#include "exporters/run_json/parts.h"

namespace nl::exporters {

template <class Io>
void fields(Io& io, Ref<Io, StackFrame> f) {
  frame_fields<Io>(io, f.frame);
  io.code("kind", f.kind, "what kind of code it is");
}

template <class Io>
void fields(Io& io, Ref<Io, WaitStack> s) {
  io("stage", s.stage, "whose waits for launches it was seen in");
  io("frames", s.frames, "outermost first, counted from 0 in frames");
  io("samples", s.samples, "how often");
}

template <class Io>
void fields(Io& io, Ref<Io, HostStacks> h) {
  io.code("sampler", h.sampler, "who looked: python: nl-stage's package in the process; nsys: its CPU samples",
          {HostSampler::kPython, HostSampler::kNsys});
  io("period_ns", h.period_ns, "between two samples of a thread, the median");
  io("cost_share", h.cost_share, "of the time of the process: spent on sampling; null: not known", kFraction);
  io("samples", h.samples, "of the whole capture");
  io("lost", h.lost, "samples that were not kept");
  io("frames", h.frames, "places that stand in the stacks");
  io("stacks", h.stacks, "of the stages' waits for launches, by stage, most samples first; 2,000 at most");
  io("unlisted", h.unlisted, "samples in such waits whose stacks are not listed");
}

template <class Io>
void host_fields(Io& io, Ref<Io, Run> run) {
  io("host", run.host, "sampled stacks of the host; null: not sampled");
}

template void host_fields(JsonWriter&, const Run&);
template void host_fields(JsonReader&, Run&);
template void host_fields(SchemaWriter&, const Run&);

}  // namespace nl::exporters

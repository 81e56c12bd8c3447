#include "exporters/run_json/parts.h"

namespace nl::exporters {

template <class Io>
void fields(Io& io, Ref<Io, StageSlowdown> s) {
  io("profiler", s.profiler);
  io("stage", s.stage);
  io("bare_ns", s.bare_ns);
  io("profiled_ns", s.profiled_ns);
  io("slowdown", s.slowdown);
  io("low", s.low);
  io("high", s.high);
  io.known("verdict", s.verdict);
  io.known("summary", s.summary);
  io.known("note", s.note);
}

template <class Io>
void fields(Io& io, Ref<Io, Perturbation> p) {
  io("stages", p.stages);
  io.known("order", p.order);
  io("notes", p.notes);
  io.known("note", p.note);
}

template <class Io>
void fields(Io& io, Ref<Io, StageEnergy> s) {
  io("stage", s.stage);
  io("joules_per_window", s.joules_per_window);
  io("joules_per_token", s.joules_per_token);
  io("mean_power_w", s.mean_power_w);
  io("samples", s.samples);
  io.known("note", s.note);
}

template <class Io>
void fields(Io& io, Ref<Io, ClockSummary> c) {
  io("device", c.device);
  io("samples", c.samples);
  io("power_mean_w", c.power_mean_w);
  io("power_max_w", c.power_max_w);
  io("sm_clock_min_mhz", c.sm_clock_min_mhz);
  io("sm_clock_median_mhz", c.sm_clock_median_mhz);
  io("sm_clock_max_mhz", c.sm_clock_max_mhz);
  io("temperature_max_c", c.temperature_max_c);
  io("throttled_share", c.throttled_share);
  io("throttle_reasons", c.throttle_reasons);
}

template <class Io>
void fields(Io& io, Ref<Io, Energy> e) {
  io.known("pass", e.pass);
  io.known("source", e.source);
  io("stages", e.stages);
  io("devices", e.devices);
  io.known("note", e.note);
}

template <class Io>
void perturbation_fields(Io& io, Ref<Io, Run> run) {
  io("perturbation", run.perturbation);
  io("energy", run.energy);
}

template void perturbation_fields(JsonWriter&, const Run&);
template void perturbation_fields(JsonReader&, Run&);

}  // namespace nl::exporters

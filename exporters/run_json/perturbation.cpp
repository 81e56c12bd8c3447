#include "exporters/run_json/parts.h"

namespace nl::exporters {

template <class Io>
void fields(Io& io, Ref<Io, StageSlowdown> s) {
  io.code("profiler", s.profiler, "whose passes are compared with unprofiled ones",
          {PassKind::kNsys, PassKind::kCollector, PassKind::kNcu});
  io("stage", s.stage, "name");
  io("bare_ns", s.bare_ns, "the median window of each unprofiled pass");
  io("profiled_ns", s.profiled_ns, "of each profiled pass");
  io("slowdown", s.slowdown, "0.07: 7 % slower; null: not known", kAnySign);
  io("low", s.low, "95 % interval of it", kAnySign);
  io("high", s.high, "95 % interval of it", kAnySign);
  io.code("verdict", s.verdict, "whether profiling slowed the stage by more than 10 %");
  io.known("summary", s.summary, "in one sentence");
  io.known("note", s.note, "why there is no number");
}

template <class Io>
void fields(Io& io, Ref<Io, Perturbation> p) {
  io("stages", p.stages, "by profiler and stage");
  io.known("order", p.order, "the passes as they were run");
  io("notes", p.notes, "stages over 10 %, passes that were left out or failed");
  io.known("note", p.note, "why nothing was measured");
}

template <class Io>
void fields(Io& io, Ref<Io, StageEnergy> s) {
  io("stage", s.stage, "name");
  io("joules_per_window", s.joules_per_window, "null: not known");
  io("joules_per_token", s.joules_per_token, "null: not known");
  io("mean_power_w", s.mean_power_w, "null: not known");
  io("samples", s.samples, "readings that fell into its windows");
  io.known("note", s.note, "why there is no number");
}

template <class Io>
void fields(Io& io, Ref<Io, ClockSummary> c) {
  io("device", c.device, "NVML's index", kAnySign);
  io("samples", c.samples, "readings");
  io("power_mean_w", c.power_mean_w, "null: not known");
  io("power_max_w", c.power_max_w, "null: not known");
  io("power_limit_w", c.power_limit_w, "enforced, the lowest that was read; null: not known");
  io("sm_clock_min_mhz", c.sm_clock_min_mhz, "null: not known");
  io("sm_clock_median_mhz", c.sm_clock_median_mhz, "null: not known");
  io("sm_clock_max_mhz", c.sm_clock_max_mhz, "null: not known");
  io("temperature_max_c", c.temperature_max_c, "null: not known", kAnySign);
  io("throttled_share", c.throttled_share, "of the readings under load with a reason that slows; null: not known", kFraction);
  io("throttle_reasons", c.throttle_reasons, "in words, most frequent first");
}

template <class Io>
void fields(Io& io, Ref<Io, Energy> e) {
  io.known("pass", e.pass, "which passes the numbers are of; null: none");
  io.code("source", e.source, "what NVML gave the joules from; null: none");
  io("stages", e.stages, "by stage");
  io("devices", e.devices, "by GPU");
  io.known("note", e.note, "why nothing was sampled");
}

template <class Io>
void perturbation_fields(Io& io, Ref<Io, Run> run) {
  io("perturbation", run.perturbation, "what the capturing itself cost");
  io("energy", run.energy, "what NVML's counters said during a pass");
}

template void perturbation_fields(JsonWriter&, const Run&);
template void perturbation_fields(JsonReader&, Run&);
template void perturbation_fields(SchemaWriter&, const Run&);

}  // namespace nl::exporters

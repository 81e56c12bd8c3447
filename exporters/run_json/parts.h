#pragma once

#include "exporters/run_json/reader.h"
#include "exporters/run_json/writer.h"
#include "model/run.h"
#include "model/words.h"

// run.json by area. Each part is instantiated for JsonWriter and JsonReader in the source of its name.
namespace nl::exporters {

template <class Io>
void origin_fields(Io& io, Ref<Io, Run> run);        // problems … workload
template <class Io>
void stage_fields(Io& io, Ref<Io, Run> run);         // stages, phases, iterations, latency
template <class Io>
void kernel_fields(Io& io, Ref<Io, Run> run);        // kernels, api, ranges
template <class Io>
void operator_fields(Io& io, Ref<Io, Run> run);      // operators, layers
template <class Io>
void efficiency_fields(Io& io, Ref<Io, Run> run);    // peaks, efficiency, roofline
template <class Io>
void finding_fields(Io& io, Ref<Io, Run> run);       // findings, abstentions
template <class Io>
void perturbation_fields(Io& io, Ref<Io, Run> run);  // perturbation, energy
template <class Io>
void timeline_fields(Io& io, Ref<Io, Run> run);      // timeline, activity
template <class Io>
void provenance_fields(Io& io, Ref<Io, Run> run);    // coverage, clock … provenance

template <class Io>
void fields(Io& io, Ref<Io, Problem> p) {
  if constexpr (std::is_same_v<Io, JsonReader>) {
    std::string key;
    if (io.has("code")) io("code", key);  // since format 3.0
    p.code = code_of(key).value_or(Code::kError);
    if (io.has("hint")) io("hint", p.fix);  // until format 2.1
  } else {
    io("code", words_of(p.code).key);
  }
  io("what", p.what);
  io.known("where", p.where);
  if constexpr (std::is_same_v<Io, JsonReader>)
    if (io.has("hint")) return;
  io.known("fix", p.fix);
}

// Flat among the fields of what was timed. Without one there is a total and a count, and nothing else to say.
template <class Io>
void time_fields(Io& io, const char* count_key, Ref<Io, TimeSummary> time) {
  io("total_ns", time.total_ns);
  io(count_key, time.count);
  const bool any = time.count > 0;
  io.where(any, "mean_ns", time.mean_ns);
  io.where(any, "median_ns", time.median_ns);
  io.where(any, "p99_ns", time.p99_ns);
  io.where(any, "min_ns", time.min_ns);
  io.where(any, "max_ns", time.max_ns);
  io.where(any, "stddev_ns", time.stddev_ns);
}

}  // namespace nl::exporters

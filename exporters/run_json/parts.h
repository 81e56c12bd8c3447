#pragma once

#include "exporters/run_json/reader.h"
#include "exporters/run_json/schema_writer.h"
#include "exporters/run_json/writer.h"
#include "model/run.h"
#include "model/words.h"

// run.json by area. Each part is instantiated for JsonWriter and JsonReader in the source of its name.
namespace nl::exporters {

template <class Io>
void origin_fields(Io& io, Ref<Io, Run> run);  // problems … workload
template <class Io>
void stage_fields(Io& io, Ref<Io, Run> run);  // stages, phases, iterations, latency
template <class Io>
void kernel_fields(Io& io, Ref<Io, Run> run);  // kernels, api, ranges
template <class Io>
void operator_fields(Io& io, Ref<Io, Run> run);  // operators, layers
template <class Io>
void efficiency_fields(Io& io, Ref<Io, Run> run);  // peaks, efficiency, roofline
template <class Io>
void finding_fields(Io& io, Ref<Io, Run> run);  // findings, abstentions
template <class Io>
void perturbation_fields(Io& io, Ref<Io, Run> run);  // perturbation, energy
template <class Io>
void host_fields(Io& io, Ref<Io, Run> run);  // host
template <class Io>
void session_fields(Io& io, Ref<Io, Run> run);  // session
template <class Io>
void timeline_fields(Io& io, Ref<Io, Run> run);  // timeline, activity
template <class Io>
void provenance_fields(Io& io, Ref<Io, Run> run);  // coverage, clock … provenance

template <class Io>
void fields(Io& io, Ref<Io, Problem> p) {
  if constexpr (std::is_same_v<Io, JsonReader>) p.code = Code::kError;  // until format 2.1 there was none
  io.code("code", p.code, "what it is about; never changes its meaning");
  io("what", p.what, "what went wrong");
  io.known("where", p.where, "file, line or pass; null: not known");
  if constexpr (std::is_same_v<Io, JsonReader>)
    if (io.has("hint")) return io.known("hint", p.fix);  // until format 2.1
  io.known("fix", p.fix, "what to do about it; null: not known");
}

template <class Io>
void fields(Io& io, Ref<Io, nl::Remark> r) {
  io.code("code", r.code, "what it is about; never changes its meaning");
  if constexpr (!std::is_same_v<Io, JsonReader>) io.made("text", text_of(r), "the same as a sentence");  // from code and details
  io("details", r.details, "names and numbers of the sentence");
  io.known("where", r.where, "a file, a log or a range; null: nowhere in particular");
}

// A note of format 2 and before.
inline void from_sentence(JsonReader&, nl::Remark& r, std::string text) { r = {Code::kNote, {std::move(text)}, {}}; }

template <class Io>
void fields(Io& io, Ref<Io, DamagedRow> d) {
  fields(io, d.damage);
  io("rows", d.rows, "how many");
}

// Flat among the fields of what was seen there.
template <class Io>
void frame_fields(Io& io, Ref<Io, HostFrame> f) {
  io("function", f.function, "with its class");
  io.known("file", f.file, "of a native function its library; null: not known");
  io.known("module", f.module, "null: native");
  io("line", f.line, "0: not known");
  io("first_line", f.first_line, "of the function; 0: not known");
  io.known("source", f.source, "the line's text; null: not known");
}

// Flat, too: a field for each metric of the place.
template <class Io>
void metric_fields(Io& io, MetricPlace place, Ref<Io, MetricValues> values) {
  for (const MetricInfo& info : metrics_of(place)) io(info.key.data(), values[info.metric], info.help.data());
}

// Flat among the fields of what was timed. Without one there is a total and a count, and nothing else to say.
template <class Io>
void time_fields(Io& io, const char* count_key, Ref<Io, TimeSummary> time) {
  io("total_ns", time.total_ns, "of all together");
  io(count_key, time.count, "how many");
  const bool any = time.count > 0;
  io.where(any, "mean_ns", time.mean_ns, "null where there are none");
  io.where(any, "median_ns", time.median_ns, "the mean of the two middle values where their number is even");
  io.where(any, "p99_ns", time.p99_ns, "99th percentile, nearest rank");
  io.where(any, "min_ns", time.min_ns, "shortest");
  io.where(any, "max_ns", time.max_ns, "longest");
  io.where(any, "stddev_ns", time.stddev_ns, "standard deviation, n - 1; 0 for a single one");
}

// Alone.
template <class Io>
void fields(Io& io, Ref<Io, TimeSummary> t) {
  time_fields(io, "count", t);
}

}  // namespace nl::exporters

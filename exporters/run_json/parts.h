#pragma once

#include "exporters/run_json/reader.h"
#include "exporters/run_json/schema_writer.h"
#include "exporters/run_json/writer.h"
#include "model/run.h"
#include "model/words.h"

// run.json by area. Each part is instantiated for JsonWriter, JsonReader and SchemaWriter in the source of its name.
namespace nl::exporters {

void origin_fields(auto& io, Ref<decltype(io), Run> run);    // problems … workload
void stage_fields(auto& io, Ref<decltype(io), Run> run);     // stages, phases, iterations, median_step, latency
void serving_fields(auto& io, Ref<decltype(io), Run> run);   // serving
void kernel_fields(auto& io, Ref<decltype(io), Run> run);    // kernels, api, ranges
void operator_fields(auto& io, Ref<decltype(io), Run> run);  // session, operators, layers
void finding_fields(auto& io, Ref<decltype(io), Run> run);   // peaks, efficiency, roofline, findings, abstentions, what_if
void rank_fields(auto& io, Ref<decltype(io), Run> run);      // ranks and what is told of them together
void capture_fields(auto& io, Ref<decltype(io), Run> run);   // perturbation, energy, host, timeline, activity, coverage … provenance

// Of a file that is read, whatever an older format lacks or calls otherwise is made up for.
template <class Io>
inline constexpr bool reads = std::is_same_v<std::remove_reference_t<Io>, JsonReader>;

void fields(auto& io, Ref<decltype(io), Problem> p) {
  if constexpr (reads<decltype(io)>) p.code = Code::kError;  // until format 2.1 there was none
  io.code("code", p.code, "what it is about; never changes its meaning");
  io("what", p.what, "what went wrong");
  io.known("where", p.where, "file, line or pass; null: not known");
  if constexpr (reads<decltype(io)>)
    if (io.has("hint")) return io.known("hint", p.fix);  // until format 2.1
  io.known("fix", p.fix, "what to do about it; null: not known");
}

void fields(auto& io, Ref<decltype(io), nl::Remark> r) {
  io.code("code", r.code, "what it is about; never changes its meaning");
  if constexpr (!reads<decltype(io)>) io.made("text", text_of(r), "the same as a sentence");  // from code and details
  io("details", r.details, "names and numbers of the sentence");
  io.known("where", r.where, "a file, a log or a range; null: nowhere in particular");
}

// A note of format 2 and before.
inline void from_sentence(JsonReader&, nl::Remark& r, std::string text) { r = {Code::kNote, {std::move(text)}, {}}; }

void fields(auto& io, Ref<decltype(io), DamagedRow> d) {
  fields(io, d.damage);
  io("rows", d.rows, "how many");
}

// Flat among the fields of what was seen there.
void frame_fields(auto& io, Ref<decltype(io), HostFrame> f) {
  io("function", f.function, "with its class");
  io.known("file", f.file, "of a native function its library; null: not known");
  io.known("module", f.module, "null: native");
  io("line", f.line, "0: not known");
  io("first_line", f.first_line, "of the function; 0: not known");
  io.known("source", f.source, "the line's text; null: not known");
}

// The same where a frame stands by itself.
void fields(auto& io, Ref<decltype(io), HostFrame> f) { frame_fields(io, f); }

// Flat, too: a field for each metric of the place.
void metric_fields(auto& io, MetricPlace place, Ref<decltype(io), MetricValues> values) {
  for (const MetricInfo& info : metrics_of(place)) io(info.key.data(), values[info.metric], info.help.data());
}

// Flat among the fields of what was timed. Without one there is a total and a count, and nothing else to say.
void time_fields(auto& io, const char* count_key, Ref<decltype(io), TimeSummary> time) {
  io("total_ns", time.total_ns, "of all together");
  io(count_key, time.count, "how many");
  const bool any = time.count > 0;
  io.where(any, "mean_ns", time.mean_ns, "null where there are none");
  io.where(any, "median_ns", time.median_ns, "the mean of the two middle values where their number is even");
  io("p90_ns", time.p90_ns, "90th percentile, nearest rank; null: fewer than 20");
  io("p95_ns", time.p95_ns, "95th percentile, nearest rank; null: fewer than 20");
  io("p99_ns", time.p99_ns, "99th percentile, nearest rank; null: fewer than 100, and max_ns says what the longest took");
  io.where(any, "min_ns", time.min_ns, "shortest");
  io.where(any, "max_ns", time.max_ns, "longest");
  io.where(any, "stddev_ns", time.stddev_ns, "standard deviation, n - 1; 0 for a single one");
}

// Alone.
void fields(auto& io, Ref<decltype(io), TimeSummary> t) { time_fields(io, "count", t); }

}  // namespace nl::exporters

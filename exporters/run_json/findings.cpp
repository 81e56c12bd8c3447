#include "exporters/run_json/parts.h"

namespace nl::exporters {
namespace {

constexpr const char* kSeverities[] = {"info", "low", "medium", "high"};

}  // namespace

template <class Io>
void fields(Io& io, Ref<Io, Evidence> e) {
  io("text", e.text);
  io("held", e.held);
  io("known", e.known);
  io.known("reference", e.reference);
  io("window_start_ns", e.window_start_ns);
  io("window_end_ns", e.window_end_ns);
}

template <class Io>
void fields(Io& io, Ref<Io, Finding> f) {
  io("rule", f.rule);
  io("scope", f.scope);
  io.known("subject", f.subject);
  io.word("severity", f.severity, kSeverities);
  io("confidence", f.confidence);
  io("message", f.message);
  io.known("plain", f.plain);
  io("evidence", f.evidence);
  io("suggestions", f.suggestions);
  io("gain_ns", f.gain_ns);
  io("gain_share", f.gain_share);
  io.known("gain_note", f.gain_note);
}

template <class Io>
void fields(Io& io, Ref<Io, Abstention> a) {
  io("rule", a.rule);
  io("scope", a.scope);
  io("missing", a.missing);
  io.known("why", a.why);
  io.known("command", a.command);
}

template <class Io>
void finding_fields(Io& io, Ref<Io, Run> run) {
  io("findings", run.findings);
  io("abstentions", run.abstentions);
}

template void finding_fields(JsonWriter&, const Run&);
template void finding_fields(JsonReader&, Run&);

}  // namespace nl::exporters

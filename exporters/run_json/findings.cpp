#include "exporters/run_json/parts.h"

namespace nl::exporters {

template <class Io>
void fields(Io& io, Ref<Io, FindingEvidence> e) {
  io("text", e.text, "in words");
  io("held", e.held, "false: looked at, and speaks against it");
  io("known", e.known, "false: could not be looked at, not captured");
  io.known("reference", e.reference, "a JSON pointer into this file; null: none");
  io("window_start_ns", e.window_start_ns, "where in the trace to look; null: nowhere in particular", kAnySign);
  io("window_end_ns", e.window_end_ns, "its end", kAnySign);
}

template <class Io>
void fields(Io& io, Ref<Io, Finding> f) {
  io("rule", f.rule, "its name");
  io.code("scope", f.scope, "what it is about");
  io.known("subject", f.subject, "the stage's, kernel's or operator's name; null: the run");
  io.code("about", f.about, "what it would change");
  io.known("cause", f.cause, "findings with the same one have it in common; null: none is known");
  io.known("same_cause_as", f.same_cause_as, "the rule of the finding that is worth the most of them; null: this one");
  io.code("severity", f.severity, "how much it matters");
  io("confidence", f.confidence, "weight of the evidence that holds by that of all that was asked for", kFraction);
  io("message", f.message, "what was found");
  io.known("plain", f.plain, "the same in everyday words; null: the rule has no such sentence");
  io.known("action", f.action, "what to do about it, in everyday words; null: the rule has no such sentence, suggestions have it");
  io("evidence", f.evidence, "for and against");
  io("suggestions", f.suggestions, "what to try");
  io("gain_ns", f.gain_ns, "at most this much of the run's measured time; null: not computed");
  io("gain_share", f.gain_share, "of the measured span; null: not computed", kFraction);
  io("gain_per_window_ns", f.gain_per_window_ns, "of one window of the stage; null: not computed");
  io("gain_per_token_ns", f.gain_per_token_ns, "of one generated token of a sequence; null: not computed");
  io("gain_unprofiled", f.gain_unprofiled, "these two are without the time that profiling adds");
  io.known("gain_note", f.gain_note, "what the figure assumes, or why there is none");
}

template <class Io>
void fields(Io& io, Ref<Io, Abstention> a) {
  io("rule", a.rule, "its name");
  io.code("scope", a.scope, "what it is about");
  io("missing", a.missing, "fields that were not captured");
  io.known("why", a.why, "what that is, in words");
  io.known("command", a.command, "what would capture them; null: not known");
}

template <class Io>
void finding_fields(Io& io, Ref<Io, Run> run) {
  io("findings", run.findings, "what is worth the most first; those about the measurement last");
  io("abstentions", run.abstentions, "rules that could not be judged");
}

template void finding_fields(JsonWriter&, const Run&);
template void finding_fields(JsonReader&, Run&);
template void finding_fields(SchemaWriter&, const Run&);

}  // namespace nl::exporters

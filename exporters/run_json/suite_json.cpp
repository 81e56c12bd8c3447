#include "exporters/run_json/run_json.h"
#include "exporters/run_json/schema_writer.h"
#include "exporters/run_json/writer.h"
#include "model/suite_report.h"

namespace nl::exporters {

void fields(auto& io, Ref<decltype(io), SuiteCheckReport> c) {
  io("id", c.id, "of the check; waive: names it");
  io("level", c.level, "warning: waived", matching("^(ok|warning|blocked)$"));
  io("finding", c.finding, "what was found");
  io("fix", c.fix, "a command, or what to do; empty: nothing");
}

void fields(auto& io, Ref<decltype(io), SuitePairReport> p) {
  io("name", p.name, "what both targets have in common");
  io("baseline", p.baseline, "its target");
  io("optimised", p.optimised, "likewise");
  io("measured", p.measured, "stages, or the whole run; empty: nothing was");
  io("baseline_ms", p.baseline_ms, "by repetition");
  io("optimised_ms", p.optimised_ms, "likewise");
  io("speedup", p.speedup, "ratio of the geometric means; null: not measured");
  io("low", p.low, "95 % interval of it; null: not known");
  io("high", p.high, "likewise");
  io("verdict", p.verdict, "against the threshold", matching("^(met|missed|regressed|undecided|failed)$"));
  io("note", p.note, "why it is not decided, or failed; empty: neither");
  io("outputs", p.outputs, "whether both halves computed the same; empty: that was not asked for",
     matching("^(|same|within tolerance|different)$"));
  io("size", p.size, "of the work that the figures are of; null: the pair has one size");
  io("expected", p.expected, "speed-up on this machine; null: none is");
  io("expectation", p.expectation, "whether it holds; new: none is known yet; empty: the suite names no file of them",
     matching("^(|met|improved|regressed|undecided|new|missing)$"));
  io("remarks", p.remarks, "what is to be said of outputs, size and expectation, a sentence each");
}

void fields(auto& io, Ref<decltype(io), SuiteRunReport> r) {
  io("number", r.number, "in the order of the suite");
  io("repetition", r.repetition, "of its target");
  io("profiled", r.profiled, "for the cause; it does not count for the speed-up");
  io("outcome", r.outcome, "how it ended", matching("^(ok|failed|interrupted)$"));
  io("run_id", r.run_id, "as in its run.json; empty: there is none");
  io("node", r.node, "of a cluster; empty: this machine");
  io("bundle", r.bundle, "below the folder of suite.json; empty: there is none");
  io("seconds", r.seconds, "of the process");
  io("stage_ms", r.stage_ms, "the median window of each stage");
  io("reason", r.reason, "why it failed; empty: it did not");
  io("size", r.size, "of its work; null: the target has one size");
  io("attempts", r.attempts, "that it took");
  io("reused", r.reused, "of an earlier session, kept by --resume");
}

void fields(auto& io, Ref<decltype(io), SuiteTargetReport> t) {
  io("name", t.name, "as in the suite's file");
  io("command", t.command, "that was run");
  io("runs", t.runs, "in the order of the suite");
}

void fields(auto& io, Ref<decltype(io), SuiteReport> s) {
  io("schema_version", s.schema_version, "of this format", matching("^1\\.[0-9]+\\.[0-9]+$"));
  io("name", s.name, "of the suite");
  io("file", s.file, "that describes it");
  io("engine", s.engine, "where it ran", matching("^(local|slurm)$"));
  io("started_at", s.started_at, "RFC 3339, UTC");
  io("ended_at", s.ended_at, "likewise");
  io("verdict", s.verdict, "the gravest of its pairs; blocked: nothing was run",
     matching("^(met|missed|regressed|undecided|failed|blocked)$"));
  io("interrupted", s.interrupted, "by a signal: what ran before is there");
  io("threshold", s.threshold, "the speed-up that a pair has to reach");
  io("iterations", s.iterations, "unprofiled runs of a target");
  io("warmup", s.warmup, "runs before them that do not count");
  io("seed", s.seed, "of the order of the runs");
  io("profile", s.profile, "of the one profiled run of a target", matching("^(none|light|deep)$"));
  io("waived", s.waived, "checks of the environment that may be blocked");
  io("environment", s.environment, "what was checked before");
  io("pairs", s.pairs, "speed-ups");
  io("orphans", s.orphans, "targets whose other half is missing");
  io("targets", s.targets, "with their runs");
  io("chosen", s.chosen, "by --target; empty: all targets");
  io("expectations", s.expectations, "the file of expected speed-ups; empty: none");
  io("machine", s.machine, "whose expectations count; empty: there are none");
  io("changes", s.changes, "that --update-expectations made, a line each");
}

std::string suite_to_json(const SuiteReport& report) { return json_text(report); }

std::string suite_schema() {
  return schema_text<SuiteReport>("suite.json of nl-stage",
                                  "Targets that were timed unprofiled and in turn. null is \"not known\", never zero.");
}

}  // namespace nl::exporters

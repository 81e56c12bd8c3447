#include <array>

#include "exporters/answer/answer.h"
#include "exporters/report/text/figure_text.h"
#include "exporters/run_json/schema_writer.h"
#include "exporters/run_json/writer.h"
#include "model/words.h"

namespace nl::exporters {

void fields(auto& io, Ref<decltype(io), AnswerUnit> u) {
  io.known("stage", u.stage, "its name in run.json; null: an iteration of a model file");
  io("noun", u.noun, "what people call it");
  io("windows", u.windows, "how many were measured");
  io("traced_median_ms", u.traced_median_ms, "with the profiler; null: not traced");
  io("traced_mean_ms", u.traced_mean_ms, "likewise");
  io("unprofiled_ms", u.unprofiled_ms, "median of passes without the profiler; null: there were none");
  io("predicted_ms", u.predicted_ms, "without the profiler, by a replay of the trace; null: unprofiled_ms is known, or neither is");
  io("predicted_low_ms", u.predicted_low_ms, "the interval's lower end");
  io("predicted_high_ms", u.predicted_high_ms, "the interval's upper end");
  io("pointer", u.pointer, "a JSON pointer into run.json, as everywhere here");
}

void fields(auto& io, Ref<decltype(io), AnswerBin> b) {
  io("bin", b.bin, "its field in the budget of run.json, without _ns");
  io("title", b.title, "as reports name it");
  io("ms", b.ms, "of a window on average");
  io("share", b.share, "of the windows' time", kFraction);
}

void fields(auto& io, Ref<decltype(io), AnswerBudget> b) {
  io("stage", b.stage, "whose windows they are");
  io("window_ms", b.window_ms, "mean; the bins add up to it");
  io("bins", b.bins, "those with any time");
  io("pointer", b.pointer, "into run.json");
}

void fields(auto& io, Ref<decltype(io), AnswerEvidence> e) {
  io("text", e.text, "in words");
  io("held", e.held, "false: it speaks against the finding");
  io.known("pointer", e.pointer, "the figure in run.json; null: none");
}

void fields(auto& io, Ref<decltype(io), AnswerFinding> f) {
  io("rule", f.rule, "its name; nl-stage explain RULE says what it looks at");
  io.code("scope", f.scope, "what it is about");
  io.known("subject", f.subject, "the stage's, kernel's or operator's name; null: the run");
  io.code("severity", f.severity, "how much it matters");
  io("confidence", f.confidence, "weight of the evidence that holds by that of all", kFraction);
  io("message", f.message, "what was found");
  io.known("gain", f.gain, "what it saves, in words; null: not known");
  io("gain_share", f.gain_share, "of the measured time; null: not known", kFraction);
  io("evidence", f.evidence, "for and against");
  io("pointer", f.pointer, "into run.json");
}

void fields(auto& io, Ref<decltype(io), AnswerPrediction> p) {
  io("changes", p.changes, "as arguments of nl-stage whatif, made together");
  io("stage", p.stage, "whose windows are predicted");
  io("now_ms", p.now_ms, "a window without the tracer's part");
  io("predicted_ms", p.predicted_ms, "after the changes");
  io("low_ms", p.low_ms, "the interval's lower end");
  io("high_ms", p.high_ms, "the interval's upper end");
  io("saved_share", p.saved_share, "of now_ms", kFraction);
  io("at_best", p.at_best, "a bound of what is possible, no expectation");
  io("pointer", p.pointer, "into run.json");
}

void fields(auto& io, Ref<decltype(io), AnswerAction> a) {
  io("action", a.action, "what to do");
  io.known("worth", a.worth, "what it saves; null: not known");
  io("why", a.why, "what is wrong");
  io.known("command", a.command, "that predicts it; null: no prediction");
  io("rule", a.rule, "of the finding behind it");
  io("pointer", a.pointer, "that finding in run.json");
}

void fields(auto& io, Ref<decltype(io), AnswerAbstention> a) {
  io("rule", a.rule, "that could not be judged");
  io.known("why", a.why, "what was not captured");
  io.known("command", a.command, "what would capture it; null: not known");
  io("pointer", a.pointer, "into run.json");
}

void fields(auto& io, Ref<decltype(io), AnswerProblem> p) {
  io.code("code", p.code, "what it is about; never changes its meaning");
  io("what", p.what, "what went wrong");
  io("where", p.where, "file, line or pass; empty: not known");
  io("fix", p.fix, "what to do about it; empty: not known");
}

void fields(auto& io, Ref<decltype(io), AnswerNote> n) {
  io("written_at", n.written_at, "RFC 3339, UTC");
  io("text", n.text, "of the note");
}

void run_fields(auto& io, Ref<decltype(io), Answer> a) {
  io("schema_version", std::string(kAnswerSchemaVersion), "of this format", matching("^1\\.[0-9]+\\.[0-9]+$"));
  io("run_id", a.run_id, "as in run.json");
  io("name", a.name, "likewise");
  io("created_at", a.created_at, "likewise: RFC 3339, UTC");
  io("mode", a.mode, "deep, light, import …");
  io.code("status", a.status, "how the run ended");
  io("exit_status", a.exit_status, "of the verb that made the run; null: none did");
  io.known("bundle", a.bundle, "its folder; null: the ledger does not know one");
  io.known("bundle_state", a.bundle_state, "whole, files are missing, incomplete, replaced by another run, not here; null: just made");
  io.known("ledger", a.ledger, "that has the run; null: none");
}

void answer_fields(auto& io, Ref<decltype(io), Answer> a) {
  io("summary", a.summary, "the sentences of the reports");
  io("unit", a.unit, "what the program does again and again; null: nothing repeats");
  io("budget", a.budget, "where the time of it goes; null: not captured");
  io("actions", a.actions, "what to do first, the most valuable first");
  io.known("no_action", a.no_action, "why there are none; null: there are");
  io("findings", a.findings, "what is worth the most first");
  io("predictions", a.predictions, "of single changes, the largest saving first");
  io.known("no_prediction", a.no_prediction, "why there are none; null: there are");
  io("abstentions", a.abstentions, "rules that could not be judged");
  io("problems", a.problems, "what went wrong");
}

void fact_fields(auto& io, Ref<decltype(io), Answer> a) {
  io("files", a.files, "of the bundle, relative to it");
  io("missing_files", a.missing_files, "that its manifest lists");
  io.known("model", a.model, "its name; null: not known");
  io.known("precision", a.precision, "of its weights, in words");
  io.known("backend", a.backend, "what ran it");
  io.known("gpu", a.gpu, "the first one; null: none");
  io("gpu_count", a.gpu_count, "how many ran something");
  io.known("hardware", a.hardware, "\"2 x NVIDIA H200\", the CPU without a GPU");
  io.known("workload", a.workload, "its key: runs of one key are comparable");
  io.known("workload_text", a.workload_text, "the same in words");
  io.known("revision", a.revision, "of its repository");
  io("modified", a.modified, "tracked files differ from it; null: not known");
  io.known("command", a.command, "as a shell takes it");
  io.known("part_of", a.part_of, "try, bisect or suite; null: a run of its own");
  io("tags", a.tags, "in the ledger");
  io("notes", a.notes, "in the ledger, the newest first");
  io("metrics", a.metrics, "by key, with --metrics; null: not asked for");
  io("left_out", a.left_out, "by list, how many of it are not here; run.json has them");
}

void fields(auto& io, Ref<decltype(io), Answer> a) {
  run_fields(io, a);
  answer_fields(io, a);
  fact_fields(io, a);
}

namespace {

// How much of each list has room, and of each text.
struct AnswerRoom {
  std::size_t findings, evidence, predictions, abstentions, problems, files, notes, tags, text_bytes;
};
// The roomiest first. The last has room for the worst of texts.
constexpr std::array<AnswerRoom, 8> kAnswerRooms = {{{5, 3, 5, 3, 5, 20, 5, 20, 600},
                                                     {4, 2, 4, 2, 4, 14, 3, 20, 500},
                                                     {3, 2, 3, 1, 3, 10, 2, 10, 400},
                                                     {3, 1, 2, 1, 2, 8, 1, 10, 300},
                                                     {2, 1, 1, 1, 2, 6, 1, 5, 200},
                                                     {2, 1, 1, 0, 1, 4, 1, 5, 120},
                                                     {1, 1, 0, 0, 1, 2, 0, 2, 60},
                                                     {1, 0, 0, 0, 1, 0, 0, 0, 12}}};

class AnswerCutter {
 public:
  AnswerCutter(const AnswerRoom& room, Answer answer) : room_(room), answer_(std::move(answer)) {}

  Answer cut() {
    keep(answer_.findings, room_.findings, "findings");
    for (AnswerFinding& finding : answer_.findings) keep(finding.evidence, room_.evidence, "evidence");
    keep(answer_.predictions, room_.predictions, "predictions");
    keep(answer_.abstentions, room_.abstentions, "abstentions");
    keep(answer_.problems, room_.problems, "problems");
    keep(answer_.files, room_.files, "files");
    keep(answer_.missing_files, room_.files, "missing_files");
    keep(answer_.notes, room_.notes, "notes");
    keep(answer_.tags, room_.tags, "tags");
    for (AnswerPrediction& prediction : answer_.predictions) keep(prediction.changes, kMostActions, "changes");
    cut_texts();
    return std::move(answer_);
  }

 private:
  static constexpr std::size_t kMostActions = 3;

  template <class List>
  void keep(List& list, std::size_t most, const char* name) {
    if (list.size() <= most) return;
    answer_.left_out[name] += list.size() - most;
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(most), list.end());
  }

  template <class... Texts>
  void shorten(Texts&... texts) const {
    const auto each = [this](std::string& text) {
      if (text.size() > room_.text_bytes) text = exporters::cut(text, room_.text_bytes) + "…";
    };
    (each(texts), ...);
  }

  void cut_texts() {
    Answer& a = answer_;
    for (std::string& sentence : a.summary) shorten(sentence);
    for (AnswerAction& each : a.actions) shorten(each.action, each.worth, each.why, each.command, each.rule);
    for (AnswerFinding& each : a.findings) {
      shorten(each.rule, each.subject, each.message, each.gain);
      for (AnswerEvidence& evidence : each.evidence) shorten(evidence.text);
    }
    for (AnswerPrediction& each : a.predictions) {
      shorten(each.stage);
      for (std::string& change : each.changes) shorten(change);
    }
    for (AnswerAbstention& each : a.abstentions) shorten(each.rule, each.why, each.command);
    for (AnswerProblem& each : a.problems) shorten(each.what, each.where, each.fix);
    for (AnswerNote& note : a.notes) shorten(note.text);
    for (std::string& tag : a.tags) shorten(tag);
    if (a.unit) shorten(a.unit->stage, a.unit->noun);
    if (a.budget) shorten(a.budget->stage);
    shorten(a.name, a.mode, a.no_action, a.no_prediction, a.model, a.precision, a.backend, a.gpu, a.hardware, a.workload_text, a.revision,
            a.command);
  }

  const AnswerRoom& room_;
  Answer answer_;
};

}  // namespace

std::string answer_to_json(const Answer& answer, std::size_t most_bytes) {
  std::size_t paths = answer.bundle.size() + answer.ledger.size();
  Answer fitted;
  for (const AnswerRoom& room : kAnswerRooms) {
    Answer whole = answer;
    whole.metrics.reset();
    fitted = AnswerCutter(room, std::move(whole)).cut();
    if (json_text(fitted).size() <= most_bytes + paths) break;
  }
  fitted.metrics = answer.metrics;
  return json_text(fitted);
}

std::string answer_schema() {
  return schema_text<Answer>(
      "what run, import, profile and show of nl-stage print with --json",
      "The answer about a run. Times are milliseconds, pointers lead into its run.json. null is \"not captured\" or \"not "
      "known\", never zero.");
}

}  // namespace nl::exporters

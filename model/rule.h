#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/codes.h"
#include "model/prediction.h"
#include "model/time.h"

// What rules conclude about a run, and a rule as its file has it: texts with line and column, not parsed yet. docs/rules.md
// describes each part.
namespace nl {

struct FindingEvidence {
  std::string text;                                  // "the GPU waits for the next launch 63 % of the time"
  bool held = true;                                  // false: it was checked and does not hold
  bool known = true;                                 // false: could not be looked at (held is false too): not captured
  std::string reference;                             // a JSON pointer into run.json: "/stages/1/budget"
  std::optional<Ns> window_start_ns, window_end_ns;  // where in the trace to look
};

struct Finding {
  std::string rule;  // "launch_bound_decode"
  RuleScope scope = RuleScope::kRun;
  std::string subject;  // the stage's, kernel's or operator's name; empty: the run
  RuleAbout about = RuleAbout::kWorkload;
  std::string cause;          // findings with the same word have one cause: "launches"; empty: none is known
  std::string same_cause_as;  // the rule of the finding that is worth the most of them; empty: this one, or it is alone
  std::string part_of;        // a JSON pointer to that finding: "/findings/0". It stands before its parts
  Severity severity = Severity::kInfo;
  double confidence = 0;  // 0..1: (1 + weight of the evidence that holds) ÷ (2 + weight of all asked for)
  std::string message;
  std::string plain;   // what is wrong, in everyday words; empty: the rule has none
  std::string action;  // what to do about it, in one sentence: "Use CUDA graphs for each step."; empty: see suggestions
  std::vector<FindingEvidence> evidence;
  std::vector<std::string> suggestions;       // those that apply here
  std::optional<double> gain_ns;              // at most this much of the run's measured time
  std::optional<double> gain_share;           // of the measured span, 0..1
  std::optional<double> gain_per_window_ns;   // of a stage's window: one prefill, one step
  std::optional<double> gain_per_token_ns;    // of a generated token of one sequence
  bool gain_unprofiled = false;               // both are without the time that profiling adds
  std::string gain_note;                      // what the figure assumes; or why there is none
  std::optional<Prediction> prediction = {};  // of the change that the rule names; the gain is what it predicts then
};

// A rule that could not be judged: its inputs are not in the capture.
struct Abstention {
  std::string rule;
  RuleScope scope = RuleScope::kRun;
  std::vector<std::string> missing;  // fields
  std::string why;                   // what that is, in words: "needs counters of Nsight Compute"
  std::string command;               // what would capture them
};

struct RuleText {  // an expression, or a sentence with {fields} in it
  std::string text;
  int line = 0, column = 0;  // in its file
};

struct RuleSeverity {
  std::optional<RuleText> when;  // the first that holds decides; the last one has none
  Severity severity = Severity::kInfo;
};

struct RuleEvidence {
  RuleText when, text;
  double weight = 1;
  bool optional = false;  // where it is not captured, it is left out
};

struct RuleAdvice {  // a sentence that holds only in some cases, such as "use CUDA graphs"
  RuleText text;
  std::optional<RuleText> when = {};  // empty: always
};

struct RuleSpec {
  std::string name;
  std::string file;
  int line = 0;
  RuleScope scope = RuleScope::kRun;
  RuleAbout about = RuleAbout::kWorkload;
  RuleText cause;                 // see Finding; findings of one rule may have different ones: "host_{gap_work}"
  std::optional<RuleText> where;  // which subjects it looks at; empty: all of its scope
  RuleText condition;
  double condition_weight = 1;  // of the confidence
  std::vector<RuleSeverity> severity;
  RuleText message;
  std::vector<RuleAdvice> plain;   // the same, for people who never saw a profiler: the first that holds; may be empty
  std::vector<RuleAdvice> action;  // what to do about it: the first sentence whose condition holds
  std::vector<RuleEvidence> evidence;
  std::vector<RuleAdvice> suggestions;  // all that hold
  std::optional<RuleText> gain;         // nanoseconds of the subject's time
  std::optional<RuleText> gain_note;
  std::vector<RuleAdvice> predict;  // the change that the finding asks for, as an argument of `nl-stage whatif`: the first that holds
  std::uint64_t limit = 3;          // findings of this rule, the ones with the most to gain first
};

struct Rules {  // checked by load_rules(), of orchestrator/config/knowledge.h
  std::vector<RuleSpec> list;
};

}  // namespace nl

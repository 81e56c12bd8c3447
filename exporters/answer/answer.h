#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/run.h"

// What is known of a run, short enough for one who has little room: a terminal, a program, an agent. `run`, `import`, `profile` and `show` print it with
// --json (docs/json.md), and `show` in lines. Its sentences are those of the reports, and it says where in run.json each thing stands.
namespace nl::exporters {

inline constexpr const char* kAnswerSchemaVersion = "1.0.0";
inline constexpr std::size_t kAnswerBytes = 8000;  // about 2,000 tokens of a language model

// What the program does again and again, and how long one takes. Times in milliseconds.
struct AnswerUnit {
  std::string stage;  // empty: an iteration of a model file
  std::string noun;   // "decode step", "training step", "iteration"
  std::uint64_t windows = 0;
  std::optional<double> traced_median_ms, traced_mean_ms, unprofiled_ms;
  std::optional<double> predicted_ms, predicted_low_ms, predicted_high_ms;  // without the profiler, where no pass was
  std::string pointer;                                                      // into run.json, as everywhere here
};

struct AnswerBin {
  std::string bin, title;  // "launch_starved", "launch-starved"
  double ms = 0;           // of a window on average
  double share = 0;        // of the windows' time
};

struct AnswerBudget {
  std::string stage;
  double window_ms = 0;  // mean
  std::vector<AnswerBin> bins;
  std::string pointer;
};

struct AnswerEvidence {
  std::string text;
  bool held = true;
  std::string pointer;
};

struct AnswerFinding {
  std::string rule;
  RuleScope scope = RuleScope::kRun;
  std::string subject;
  Severity severity = Severity::kInfo;
  double confidence = 0;
  std::string message, gain;
  std::optional<double> gain_share;
  std::vector<AnswerEvidence> evidence;
  std::string pointer;
};

struct AnswerPrediction {
  std::vector<std::string> changes;
  std::string stage;
  double now_ms = 0, predicted_ms = 0, low_ms = 0, high_ms = 0, saved_share = 0;
  bool at_best = false;
  std::string pointer;
};

struct AnswerAction {
  std::string action, worth, why, command, rule, pointer;
};

struct AnswerAbstention {
  std::string rule, why, command, pointer;
};

struct AnswerProblem {
  Code code = Code::kError;
  std::string what, where, fix;
};

struct AnswerNote {
  std::string written_at, text;
};

struct Answer {
  std::string run_id, name, created_at, mode;
  RunStatus status = RunStatus::kComplete;
  std::optional<int> exit_status = {};  // of the verb that made the run
  std::string bundle = {};              // its folder; empty: not here
  std::string bundle_state = {};        // "whole"; empty: not asked
  std::string ledger = {};              // that has the run; empty: none
  std::vector<std::string> summary = {};
  std::size_t lead = 0;  // of the summary: the sentence that says how it went or how fast it is
  std::optional<AnswerUnit> unit = {};
  std::optional<AnswerBudget> budget = {};
  std::vector<AnswerAction> actions = {};
  std::string no_action = {};  // why there are none
  std::vector<AnswerFinding> findings = {};
  std::vector<AnswerPrediction> predictions = {};
  std::string no_prediction = {};  // why there are none of these
  std::vector<AnswerAbstention> abstentions = {};
  std::vector<AnswerProblem> problems = {};
  std::vector<std::string> files = {}, missing_files = {};  // of the bundle, relative to it
  std::string model = {}, precision = {}, backend = {}, gpu = {};
  std::uint64_t gpu_count = 0;
  std::string hardware = {}, workload = {}, workload_text = {}, revision = {};
  std::optional<bool> modified = {};
  std::string command = {};
  std::string part_of = {};  // the ledger has these four
  std::vector<std::string> tags = {};
  std::vector<AnswerNote> notes = {};
  std::optional<std::map<std::string, double>> metrics = {};  // where they are asked for
  std::map<std::string, std::uint64_t> left_out = {};         // by list: how many of it are not here
};

// All of a run that belongs into an answer; what else the ledger and the folder know is the caller's.
Answer answer_of(const Run& run);

// At most so many bytes, for which lists and texts are cut and `left_out` counts; metrics and paths do not count. The run's id, pointers and paths stay
// whole.
std::string answer_to_json(const Answer& answer, std::size_t most_bytes = kAnswerBytes);

// The text of schema/answer.schema.json.
std::string answer_schema();

enum class Tone : std::uint8_t { kPlain, kWorking, kWaiting, kStarved };
struct AnswerPiece {
  std::string text;
  Tone tone = Tone::kPlain;
};
using AnswerLine = std::vector<AnswerPiece>;

inline constexpr std::size_t kAnswerLines = 14;  // and one that says where it is

// The answer in at most so many lines of `width` places; 0: each item on a line of its own, as long as it is.
std::vector<AnswerLine> answer_lines(const Answer& answer, std::size_t width);

}  // namespace nl::exporters

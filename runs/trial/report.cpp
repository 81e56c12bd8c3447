#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "exporters/whatif/record.h"
#include "model/comparison.h"
#include "model/visible_text.h"
#include "runs/trial/trial.h"

namespace nl::runs {
namespace {

using nlohmann::ordered_json;

const char* end_key(TrialEnd end) {
  switch (end) {
    case TrialEnd::kDecided: return "decided";
    case TrialEnd::kRounds: return "rounds";
    case TrialEnd::kBudget: return "budget";
    case TrialEnd::kFailed: return "failed";
    case TrialEnd::kInterrupted: return "interrupted";
  }
  return "";
}

const char* output_key(OutputVerdict verdict) {
  switch (verdict) {
    case OutputVerdict::kNotCompared: return "not compared";
    case OutputVerdict::kSame: return "same";
    case OutputVerdict::kWithinTolerance: return "within tolerance";
    case OutputVerdict::kDifferent: return "different";
  }
  return "";
}

ordered_json outputs_json(const OutputAgreement& outputs) {
  return {{"verdict", output_key(outputs.verdict)},
          {"lines", outputs.lines},
          {"varying_lines", outputs.varying},
          {"files", outputs.files},
          {"first_difference", outputs.first_difference.empty() ? ordered_json() : ordered_json(outputs.first_difference)}};
}

// The ratios of the outcome are null where there is none.
ordered_json predicted_json(const TrialPrediction& predicted) {
  const Prediction& prediction = predicted.asked.prediction;
  const auto& pair = predicted.pair;
  const auto known = [&](auto&& read) { return pair ? ordered_json(read(*pair)) : ordered_json(); };
  const auto bound = [&](const std::optional<double> PredictionPair::* member) {
    return pair && (*pair).*member ? ordered_json(*((*pair).*member)) : ordered_json();
  };
  return {{"from", predicted.asked.from},
          {"changes", prediction.changes},
          {"stage", prediction.stage},
          {"predicted_ratio", prediction.predicted_ns / prediction.unperturbed_ns},
          {"low_ratio", prediction.low_ns / prediction.unperturbed_ns},
          {"high_ratio", prediction.high_ns / prediction.unperturbed_ns},
          {"measured_ratio", known([](const PredictionPair& each) { return each.measured_ratio; })},
          {"measured_low_ratio", bound(&PredictionPair::measured_low_ratio)},
          {"measured_high_ratio", bound(&PredictionPair::measured_high_ratio)},
          {"error", known([](const PredictionPair& each) { return each.error(); })},
          {"within", known([](const PredictionPair& each) { return each.within(); })}};
}

}  // namespace

std::vector<std::string> predicted_sentences(const TrialResult& result) {
  if (!result.predicted) return {};
  const AskedPrediction& asked = result.predicted->asked;
  const std::string first =
      asked.among > 1 ? fmt::format(", the first of {} predictions in {} that can be tried", asked.among, asked.from) : "";
  const std::string of =
      fmt::format("The prediction is of {} with {}{}.", asked.prediction.stage, fmt::join(asked.prediction.changes, " "), first);
  if (result.predicted->pair) return {exporters::pair_sentence(*result.predicted->pair), of};
  const bool ended = result.end != TrialEnd::kFailed && result.end != TrialEnd::kInterrupted;
  return {
      ended ? fmt::format("The prediction is not checked, and nothing is recorded: the rounds have no times of the stage {} on both sides.",
                          asked.prediction.stage)
            : std::string("The prediction is not checked, and nothing is recorded: the trial did not end."),
      of};
}

std::string round_text(const TrialRound& round, int most) {
  const std::string name = round.number > 0 ? fmt::format("round {} of at most {}", round.number, most) : "warm-up";
  return fmt::format("{}: A {}, B {}", name, short_time(round.a_s * 1e9), short_time(round.b_s * 1e9));
}

exporters::MoreRuns more_runs_for(const TrialResult& result) {
  return result.end == TrialEnd::kBudget ? exporters::MoreRuns::kRoundsAndBudget : exporters::MoreRuns::kRounds;
}

std::string trial_json(const TrialResult& result) {
  ordered_json out = {
      {"verdict", key_of(result.comparison.verdict)}, {"reason", key_of(result.comparison.reason)}, {"ended_by", end_key(result.end)}};
  out["trouble"] = result.trouble.empty() ? ordered_json() : ordered_json(result.trouble);
  out["log"] = result.log.empty() ? ordered_json() : ordered_json(result.log.string());
  out["seed"] = result.seed;
  out["rounds"] = ordered_json::array();
  for (const TrialRound& round : result.rounds)
    out["rounds"].push_back({{"number", round.number},
                             {"warmup", round.number == 0},
                             {"first", round.a_first ? "a" : "b"},
                             {"a_s", round.a_s},
                             {"b_s", round.b_s}});
  out["outputs"] = outputs_json(result.outputs);
  out["predicted"] = result.predicted ? predicted_json(*result.predicted) : ordered_json();
  out["comparison"] = "compare.json";
  return out.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace nl::runs

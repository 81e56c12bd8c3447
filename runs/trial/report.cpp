#include <nlohmann/json.hpp>

#include "model/comparison.h"
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

}  // namespace

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
  out["comparison"] = "compare.json";
  return out.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace nl::runs

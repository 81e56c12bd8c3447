#include "tests/unit/analysis/statistics/simulated_noise.h"

#include <cmath>

namespace nl::test {

std::string title_of(Noise noise) {
  switch (noise) {
    case Noise::kNormal: return "normal, 2 %";
    case Noise::kAlike: return "AR(1) 0.6, 2 %";
    case Noise::kTwoClocks: return "two clocks 8 % apart, half each";
    case Noise::kFewSlow: return "two clocks 8 % apart, one in five slow";
    case Noise::kHeavyTails: return "heavy tails (t with 2 degrees), 1 %";
    case Noise::kOutliers: return "one in ten 10 to 40 % slower, 1 %";
    case Noise::kDrift: return "drift of 5 %, 1 %";
    case Noise::kWalk: return "random walk, 1 % a run";
    case Noise::kRhythm: return "rhythm of 4 runs, ± 3 %, 1 %";
    case Noise::kSkewed: return "exponential tail, 2 %";
    case Noise::kSticky: return "two clocks 8 % apart, five runs each";
  }
  return "";
}

std::vector<double> noisy_runs(Noise noise, std::size_t runs, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::student_t_distribution<double> heavy(2);
  std::uniform_real_distribution<double> share(0, 1);
  std::vector<double> values;
  const double phase = std::floor(4 * share(random));
  double state = normal(random), walked = 0;
  bool sticky = share(random) < 0.5;
  for (std::size_t i = 0; i < runs; ++i) {
    const double way = runs > 1 ? static_cast<double>(i) / static_cast<double>(runs - 1) : 0;
    switch (noise) {
      case Noise::kNormal: values.push_back(0.02 * normal(random)); break;
      case Noise::kAlike:
        values.push_back(0.02 * state);
        state = 0.6 * state + 0.8 * normal(random);
        break;
      case Noise::kTwoClocks: values.push_back((share(random) < 0.5 ? std::log(1.08) : 0) + 0.005 * normal(random)); break;
      case Noise::kFewSlow: values.push_back((share(random) < 0.2 ? std::log(1.08) : 0) + 0.005 * normal(random)); break;
      case Noise::kHeavyTails: values.push_back(0.01 * heavy(random)); break;
      case Noise::kOutliers:
        values.push_back((share(random) < 0.1 ? std::log(1.1 + 0.3 * share(random)) : 0) + 0.01 * normal(random));
        break;
      case Noise::kDrift: values.push_back(std::log(1.05) * way + 0.01 * normal(random)); break;
      case Noise::kWalk:
        walked += 0.01 * normal(random);
        values.push_back(walked);
        break;
      case Noise::kRhythm: {
        const bool slow = static_cast<int>(static_cast<double>(i) + phase) % 4 < 2;
        values.push_back((slow ? 0.03 : -0.03) + 0.01 * normal(random));
        break;
      }
      case Noise::kSkewed: values.push_back(-0.02 * std::log(1 - share(random))); break;
      case Noise::kSticky:
        sticky = share(random) < 0.2 ? !sticky : sticky;
        values.push_back((sticky ? std::log(1.08) : 0) + 0.005 * normal(random));
        break;
    }
  }
  return values;
}

std::vector<analysis::OrderedValue> two_sides(const std::vector<double>& runs, Turns turns, double effect, std::mt19937_64& random) {
  std::vector<analysis::OrderedValue> values;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    bool b = 2 * i >= runs.size();
    if (turns == Turns::kPairs) b = i % 2 == 0 ? (random() >> 63) != 0 : !values.back().of_b;
    values.push_back({runs[i] + (b ? effect : 0), static_cast<double>(i + 1), b});
  }
  return values;
}

}  // namespace nl::test

// How often `nl-stage compare`, `gate` and `trends` are right, on noise that machines have.
//
//     compare_honesty compare|gate|trends|kernels [TRIALS]      1000 of each cell by default
//
// compare   A against A (at most 5 % called changed, the interval holds the truth in at least 92 %), and planted changes of 1, 3 and 10 %
// gate      unchanged builds that fail, and planted regressions that are found
// trends    quiet series with a change, and planted steps that are found in their place
// kernels   whole comparisons of runs made of the decode steps of real captures (tests/fixtures): one kernel of B takes 3 % longer
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include "analysis/runs/compare/compare.h"
#include "analysis/statistics/bootstrap.h"
#include "analysis/statistics/change_points.h"
#include "analysis/statistics/difference.h"
#include "parsers/collector/trace.h"
#include "tests/unit/analysis/runs/compare/simulated_runs.h"
#include "tests/unit/analysis/statistics/simulated_noise.h"

namespace {

using namespace nl;
using namespace nl::test;
using namespace nl::analysis;

constexpr const char* kCaptures[] = {"h200-auto-marked/compiled.nltrace.gz", "h200-auto-marked/loop.nltrace.gz",
                                     "h200-collector/llm-cuda-graph.nltrace.gz", "h200-auto-marked/qwen3.nltrace.gz"};
constexpr std::size_t kRuns[] = {1, 2, 3, 5, 10};
constexpr double kEffects[] = {0.01, 0.03, 0.10};
const double kLeast = std::log1p(0.01);

CapturedSteps read_steps(const std::string& fixture) {
  const std::filesystem::path unpacked =
      std::filesystem::temp_directory_path() / ("nl-stage-honesty-" + std::to_string(std::random_device()()));
  const std::string command = "gzip -dc '" + std::string(NL_FIXTURES) + "/" + fixture + "' > '" + unpacked.string() + "'";
  if (std::system(command.c_str()) != 0) std::exit(1);
  const CapturedSteps steps = captured_steps(parsers::read_collector_traces({unpacked}));
  std::filesystem::remove(unpacked);
  return steps;
}

bool is_change(const CompareLine& line) { return line.verdict == CompareVerdict::kImproved || line.verdict == CompareVerdict::kRegressed; }

double percent(int count, int trials) { return 100.0 * count / trials; }

// The medians of runs of real steps, drawn in blocks of eight so that neighbours stay together, and 2 % from run to run.
std::vector<double> real_runs(const CapturedSteps& captured, std::size_t runs, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::uniform_int_distribution<std::size_t> any(0, captured.steps.size() - 1);
  std::vector<double> logs;
  while (logs.size() < runs) {
    std::vector<double> walls;
    while (walls.size() < captured.steps.size())
      for (std::size_t from = any(random), i = 0; i < 8; ++i)
        walls.push_back(static_cast<double>(captured.steps[(from + i) % captured.steps.size()].wall_ns));
    logs.push_back(std::log(median_of(std::move(walls))) + 0.02 * normal(random));
  }
  return logs;
}

std::vector<CapturedSteps>& captures() {
  static std::vector<CapturedSteps> all;
  if (all.empty())
    for (const char* fixture : kCaptures) all.push_back(read_steps(fixture));
  return all;
}

// A kind of noise; nothing: of real steps.
using Kind = std::optional<Noise>;

std::vector<Kind> kinds() {
  std::vector<Kind> all{std::nullopt};
  all.insert(all.end(), std::begin(kNoises), std::end(kNoises));
  all.insert(all.end(), std::begin(kHeldOut), std::end(kHeldOut));
  return all;
}

std::vector<double> made(Kind kind, std::size_t runs, std::mt19937_64& random) {
  return kind ? noisy_runs(*kind, runs, random) : real_runs(captures()[random() % captures().size()], runs, random);
}

std::string title(Kind kind) { return kind ? title_of(*kind) : "real steps, 2 % from run to run"; }

struct Rates {
  int more = 0, less = 0, unchanged = 0, covered = 0;
};

Rates compare_cell(Kind kind, std::size_t runs, Turns turns, double effect, int trials) {
  Rates rates;
  std::mt19937_64 random(7 + runs);
  for (int i = 0; i < trials; ++i) {
    const double truth = std::log1p(effect);
    const auto found = effect_of(two_sides(made(kind, 2 * runs, random), turns, truth, random), {});
    const Interval interval = found->interval(0.95);
    const Decision decision = decision_of(interval, kLeast);
    rates.more += decision == Decision::kMore;
    rates.less += decision == Decision::kLess;
    rates.unchanged += decision == Decision::kUnchanged;
    rates.covered += interval.low <= truth && truth <= interval.high;
  }
  return rates;
}

void compare_table(int trials) {
  std::printf("| noise | order | runs a side | called changed | interval holds the truth | 1 %% found | 3 %% | 10 %% |\n");
  std::printf("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  for (const Kind kind : kinds())
    for (const Turns turns : {Turns::kPairs, Turns::kBlocks})
      for (const std::size_t runs : kRuns) {
        const Rates same = compare_cell(kind, runs, turns, 0, trials);
        std::printf("| %s | %s | %zu | %.1f %% | %.1f %% |", title(kind).c_str(), turns == Turns::kPairs ? "pairs" : "blocks", runs,
                    percent(same.more + same.less, trials), percent(same.covered, trials));
        for (const double effect : kEffects)
          std::printf(" %.0f %% |", percent(compare_cell(kind, runs, turns, effect, trials).more, trials));
        std::printf("\n");
        std::fflush(stdout);
      }
}

// Whether any of so many metrics of an unchanged build fails; they share half of their noise, as stages of one run do.
struct Gated {
  bool failed = false, undecided = false;
};
Gated gated(Kind kind, std::size_t runs, std::size_t metrics, double effect, std::mt19937_64& random) {
  Gated result;
  const std::vector<double> shared = made(kind, runs + 1, random);
  for (std::size_t m = 0; m < metrics; ++m) {
    const std::vector<double> own = made(kind, runs + 1, random);
    std::vector<double> logs;
    for (std::size_t i = 0; i <= runs; ++i) logs.push_back(m == 0 ? shared[i] : (shared[i] + own[i]) / std::sqrt(2.0));
    const double expected = logs[0];
    logs.erase(logs.begin());
    for (double& log : logs) log += std::log1p(effect);
    const Interval interval = effect_against(expected, 1, logs, {}).interval(1 - 0.05 / static_cast<double>(metrics));
    const double value = median_of(logs) - expected, tolerance = std::log(1.05);
    const bool outside = value > tolerance;
    result.failed = result.failed || (outside && interval.low > tolerance);
    result.undecided = result.undecided || (outside && interval.low <= tolerance);
  }
  return result;
}

void gate_table(int trials) {
  std::printf("| noise | metrics | runs | an unchanged build fails | is undecided | 10 %% found | 25 %% | 50 %% |\n");
  std::printf("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  for (const Kind kind : kinds())
    for (const std::size_t metrics : {std::size_t{4}, std::size_t{40}})
      for (const std::size_t runs : {std::size_t{1}, std::size_t{3}, std::size_t{5}}) {
        std::mt19937_64 random(9);
        int failed = 0, undecided = 0, found[3] = {};
        for (int i = 0; i < trials; ++i) {
          const Gated same = gated(kind, runs, metrics, 0, random);
          failed += same.failed;
          undecided += same.undecided && !same.failed;
          const double effects[] = {0.1, 0.25, 0.5};
          for (std::size_t e = 0; e < 3; ++e) found[e] += gated(kind, runs, metrics, effects[e], random).failed;
        }
        std::printf("| %s | %zu | %zu | %.1f %% | %.1f %% | %.0f %% | %.0f %% | %.0f %% |\n", title(kind).c_str(), metrics, runs,
                    percent(failed, trials), percent(undecided, trials), percent(found[0], trials), percent(found[1], trials),
                    percent(found[2], trials));
        std::fflush(stdout);
      }
}

// A step in the last third of a series; found: a change at most two runs beside it.
bool finds_step(Kind kind, std::size_t runs, double effect, std::mt19937_64& random) {
  std::vector<double> values = made(kind, runs, random);
  const std::size_t at = runs - runs / 3;
  for (std::size_t i = 0; i < runs; ++i) values[i] = std::exp(values[i]) * (i < at ? 1 : 1 + effect);
  for (const SeriesLevel& level : levels_of(values, 0.01))
    if (level.first > 0 && level.first + 2 >= at && level.first <= at + 2) return true;
  return false;
}

void trends_table(int trials) {
  std::printf("| noise | runs | a quiet series has a change | 5 %% found | 10 %% |\n| --- | ---: | ---: | ---: | ---: |\n");
  for (const Kind kind : kinds()) {
    if (kind == Noise::kDrift || kind == Noise::kWalk || kind == Noise::kSticky) continue;  // these do change
    for (const std::size_t runs : {std::size_t{20}, std::size_t{60}, std::size_t{100}}) {
      std::mt19937_64 random(11);
      int quiet = 0, found[2] = {};
      for (int i = 0; i < trials; ++i) {
        std::vector<double> values = made(kind, runs, random);
        for (double& value : values) value = std::exp(value);
        quiet += levels_of(values, 0.01).size() > 1;
        found[0] += finds_step(kind, runs, 0.05, random);
        found[1] += finds_step(kind, runs, 0.10, random);
      }
      std::printf("| %s | %zu | %.1f %% | %.0f %% | %.0f %% |\n", title(kind).c_str(), runs, percent(quiet, trials),
                  percent(found[0], trials), percent(found[1], trials));
      std::fflush(stdout);
    }
  }
}

struct Named {
  bool slowed = false, others = false;  // kernels that are called changed
};

Named named(const Comparison& comparison, const std::string& kernel) {
  Named result;
  for (const StageKernels& stage : comparison.kernels)
    for (const KernelPair& pair : stage.pairs) {
      if (!is_change(pair.line)) continue;
      if (pair.line.key == kernel && pair.line.verdict == CompareVerdict::kRegressed) result.slowed = true;
      else result.others = true;
    }
  return result;
}

void kernels_table(int trials) {
  std::printf("| runs a side, in pairs, drift 3 %% | capture | the kernel is named | another one |\n| ---: | --- | ---: | ---: |\n");
  for (const std::size_t runs : {std::size_t{10}, std::size_t{5}, std::size_t{3}})
    for (std::size_t c = 0; c < captures().size(); ++c) {
      std::mt19937_64 random(11);
      const std::size_t kernel = captures()[c].longest_kernel();
      int found = 0, others = 0;
      for (int i = 0; i < trials; ++i) {
        const SimulatedSides sides =
            simulate(captures()[c], runs, Order::kInterleaved, {0.02, 0.0024, 0.03, 0.01, 0}, random, 0.03, kernel);
        const Named result = named(analysis::compare(sides.a, sides.b), captures()[c].kernels[kernel]);
        found += result.slowed;
        others += result.others;
      }
      std::printf("| %zu | %s | %.1f %% | %.1f %% |\n", runs, kCaptures[c], percent(found, trials), percent(others, trials));
      std::fflush(stdout);
    }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  const int trials = argc > 2 ? std::atoi(argv[2]) : 1000;
  if (mode == "compare") compare_table(trials);
  else if (mode == "gate") gate_table(trials);
  else if (mode == "trends") trends_table(trials);
  else if (mode == "kernels") kernels_table(trials);
  else return std::fprintf(stderr, "compare_honesty compare|gate|trends|kernels [TRIALS]\n"), 2;
  return 0;
}

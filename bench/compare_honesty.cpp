// How often `nl-stage compare` is right, over simulated runs that are made of the decode steps of real captures (tests/fixtures).
//
//     compare_honesty [COMPARISONS]      1000 of each row by default
//
// A against A: the two sides are the same build. At most 5 % may be called changed.
// Slowed: one kernel of B takes 3 % longer, the one with the most time of the capture. Found: that kernel, and no other, is said to have
// regressed.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>

#include "analysis/runs/compare/compare.h"
#include "parsers/collector/trace.h"
#include "tests/unit/analysis/runs/compare/simulated_runs.h"

namespace {

using namespace nl;
using namespace nl::test;

struct Scenario {
  const char* name;
  std::size_t runs;
  Order order;
  RunNoise noise;
};

const Scenario kScenarios[] = {
    {"10 runs a side, in turns", 10, Order::kInterleaved, {}},
    {"10 runs a side, in turns, drift 3 %", 10, Order::kInterleaved, {0.02, 0.0024, 0.03, 0.01, 0}},
    {"10 runs a side, in turns, wandering", 10, Order::kInterleaved, {0.02, 0.0024, 0, 0, 0.01}},
    {"10 runs a side, one after the other", 10, Order::kBlocks, {}},
    {"10 runs a side, one after the other, drift 3 %", 10, Order::kBlocks, {0.02, 0.0024, 0.03, 0.01, 0}},
    {"5 runs a side, in turns", 5, Order::kInterleaved, {}},
    {"5 runs a side, one after the other, drift 3 %", 5, Order::kBlocks, {0.02, 0.0024, 0.03, 0.01, 0}},
    {"2 runs a side, in turns", 2, Order::kInterleaved, {}},
    {"1 run a side", 1, Order::kBlocks, {}},
};

constexpr const char* kCaptures[] = {"h200-auto-marked/compiled.nltrace.gz", "h200-auto-marked/loop.nltrace.gz",
                                     "h200-collector/llm-cuda-graph.nltrace.gz", "h200-auto-marked/qwen3.nltrace.gz"};

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

bool any_line(const Comparison& comparison) {
  for (const CompareSection* section : {&comparison.headline, &comparison.stages, &comparison.budget})
    for (const CompareLine& line : section->lines)
      if (is_change(line)) return true;
  for (const StageKernels& stage : comparison.kernels)
    for (const KernelPair& pair : stage.pairs)
      if (is_change(pair.line)) return true;
  return false;
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

void same_build(const std::vector<CapturedSteps>& captures, int comparisons) {
  std::printf("%-50s %8s %12s %10s %12s\n", "A against A", "changed", "undecidable", "unchanged", "any line");
  for (const Scenario& scenario : kScenarios) {
    std::mt19937_64 random(7);
    int changed = 0, undecidable = 0, lines = 0;
    for (int i = 0; i < comparisons; ++i) {
      const SimulatedSides sides =
          simulate(captures[static_cast<std::size_t>(i) % captures.size()], scenario.runs, scenario.order, scenario.noise, random);
      const Comparison comparison = analysis::compare(sides.a, sides.b);
      changed += comparison.verdict == CompareVerdict::kImproved || comparison.verdict == CompareVerdict::kRegressed;
      undecidable += comparison.verdict == CompareVerdict::kUndecidable;
      lines += any_line(comparison);
    }
    const auto percent = [&](int count) { return 100.0 * count / comparisons; };
    std::printf("%-50s %7.1f%% %11.1f%% %9.1f%% %11.1f%%\n", scenario.name, percent(changed), percent(undecidable),
                percent(comparisons - changed - undecidable), percent(lines));
    std::fflush(stdout);
  }
}

void slowed_kernel(const std::vector<CapturedSteps>& captures, int comparisons) {
  std::printf("\n%-36s %-34s %10s %12s\n", "one kernel of B 3 % slower", "capture", "found", "others named");
  for (const std::size_t runs : {std::size_t{10}, std::size_t{5}, std::size_t{3}})
    for (std::size_t c = 0; c < captures.size(); ++c) {
      std::mt19937_64 random(11);
      const std::size_t kernel = captures[c].longest_kernel();
      int found = 0, others = 0;
      for (int i = 0; i < comparisons; ++i) {
        const SimulatedSides sides = simulate(captures[c], runs, Order::kInterleaved, {0.02, 0.0024, 0.03, 0.01, 0}, random, 0.03, kernel);
        const Named result = named(analysis::compare(sides.a, sides.b), captures[c].kernels[kernel]);
        found += result.slowed;
        others += result.others;
      }
      std::printf("%2zu runs a side, in turns, drift 3 %%   %-34s %9.1f%% %11.1f%%\n", runs, kCaptures[c], 100.0 * found / comparisons,
                  100.0 * others / comparisons);
      std::fflush(stdout);
    }
}

}  // namespace

int main(int argc, char** argv) {
  const int comparisons = argc > 1 ? std::atoi(argv[1]) : 1000;
  std::vector<CapturedSteps> captures;
  for (const char* fixture : kCaptures) captures.push_back(read_steps(fixture));
  same_build(captures, comparisons);
  slowed_kernel(captures, comparisons);
  return 0;
}

#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runs/orchestrator_names.h"
#include "runs/trial/outputs.h"

// A suite of benchmarks as its file says it: docs/suite.md.
namespace nl::runs {

// How much work a pair does. It is raised while its runs are too short or its speed-up is not decided; {size} in the command stands for it.
struct SizeRange {
  std::vector<std::int64_t> values;  // rising
  double least_s = 0.1;              // a shorter run says more about its start than about its work
  friend bool operator==(const SizeRange&, const SizeRange&) = default;
};

inline constexpr std::string_view kSizeGap = "{size}";  // in commands and variables

struct SuiteTarget {
  std::string name;
  std::vector<std::string> command;  // a line of the file is run by /bin/sh
  std::map<std::string, std::string> env;
  std::vector<std::string> sets;                  // "run.top_n_kernels=20"
  std::string directory;                          // absolute; that of the file where it says nothing
  std::string baseline;                           // the target it is compared with; empty: found by its name
  std::vector<std::string> outputs = {};          // that both halves of its pair must agree in: kStandardOutput, or files in its folder
  std::optional<OutputTolerance> tolerance = {};  // of their numbers; nothing: that of the suite
  std::optional<SizeRange> size = {};
};

// The part of a run that is timed.
struct Measure {
  enum class Kind { kAuto, kRun, kStage } kind = Kind::kAuto;  // kAuto: prefill and decode where all runs mark them, else the whole run
  std::string stage = {};
};

enum class SuiteProfile { kNone, kLight, kDeep };

struct SlurmOptions {  // all passed on to sbatch
  std::string partition, gpus, constraint, time;
  std::vector<std::string> sbatch_args;  // "--account=x": as they are
  std::vector<std::string> srun_args;    // "--container-image=…": each task is started by srun with these
  std::string program;                   // nl-stage on the nodes, or in the container; empty: this one
};

struct Suite {
  std::filesystem::path file;  // absolute
  std::string name;
  int iterations = 5, warmup = 1;
  int seed = 7;  // of the order of the runs
  SuiteProfile profile = SuiteProfile::kLight;
  double threshold = 1.05;
  double timeout_s = 1800;          // of one run
  std::vector<std::string> waived;  // checks of the environment that may fail: "clocks"
  Measure measure;
  std::vector<SuiteTarget> targets;  // as they stand in the file
  SlurmOptions slurm;
  std::vector<std::string> outputs = {};    // of all pairs that say nothing else
  OutputTolerance tolerance = {};           // of their numbers
  std::vector<std::string> required = {};   // checks of the environment that must not fail, and would only be warned of
  std::filesystem::path expectations = {};  // absolute; empty: none
  std::vector<std::string> chosen = {};     // by --target; empty: all
};

inline constexpr const char* kStandardOutput = "stdout";  // among the outputs of a target

// Throws Error(kConfig) with file:line:column and what to write instead.
Suite read_suite(const std::filesystem::path& file);

struct TargetPair {
  std::string name;                         // "attention" of attention_baseline and attention_optimized
  std::size_t baseline = 0, optimised = 0;  // of Suite::targets
};
struct TargetPairs {
  std::vector<TargetPair> pairs;
  std::vector<std::size_t> orphans;  // one half of a pair without the other
};

// attention_baseline / attention_optimized, baseline_attention / optimized_attention, with - too; also base, opt, optimised.
TargetPairs find_pairs(const Suite& suite);

// The targets and pairs whose names match one of these patterns ("attention*"), both halves of a pair, and the baselines of targets. Throws
// Error(kUsage) for a pattern that matches nothing.
Suite chosen_targets(Suite suite, const std::vector<std::string>& patterns);

// One run of a target. Each leaves a bundle of its own.
struct SuiteTask {
  int number = 0;  // from 1, in the order in which they run
  std::size_t target = 0;
  int repetition = 0;     // from 1
  bool profiled = false;  // once for each target, after the timed ones
  std::int64_t size = 0;  // of the work; 0: where it begins, or the target has none
};

// Timed runs of all targets, each once in a round, in an order that is drawn for each round: a machine that becomes slower or faster affects all
// equally, and no disturbance keeps the rhythm of a pattern. The same suite always gives the same order.
std::vector<SuiteTask> plan_tasks(const Suite& suite);

// "attention_baseline-2", "attention_baseline-light"
std::string task_name(const Suite& suite, const SuiteTask& task);

}  // namespace nl::runs

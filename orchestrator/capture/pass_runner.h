#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "orchestrator/bundle/bundle.h"
#include "orchestrator/capture/limits.h"
#include "orchestrator/capture/plan.h"
#include "orchestrator/capture/verdict.h"
#include "orchestrator/config/config.h"
#include "orchestrator/machine/nvml_sampler.h"
#include "orchestrator/machine/tools.h"

namespace nl::orchestrator {

// Runs a process. It is an interface, so that tests need not start any.
class Launcher {
 public:
  virtual ~Launcher() = default;
  virtual ProcessResult launch(const ProcessSpec& process) = 0;
};

class ProcessLauncher : public Launcher {
 public:
  ProcessResult launch(const ProcessSpec& process) override { return run_process(process); }
};

// Which part of the passes' output is also written to stderr; logs/ has all of it.
enum class Echo {
  kNothing,
  kWorkload,    // what the workload prints, once: in the pass that traces it
  kEverything,  // of every pass, with what the tools say
};

class PassRunner;

// Executes a plan. PassRunner starts its passes, a dry run shows them.
class Runner {
 public:
  // Runs passes of the plan, which depend on what earlier passes left.
  using Part = std::function<void(std::span<const Pass> passes, PassRunner& runner)>;

  virtual ~Runner() = default;
  virtual void run(std::span<const Pass> passes, const Part& part) = 0;
};

// Runs passes one after another and keeps their records: the argv in <tool>/cmd.txt, the output in logs/,
// the outcome in run.json.
class PassRunner : public Runner {
 public:
  PassRunner(Launcher& launcher, const Bundle& bundle, Verdict& verdict, Echo echo)
      : launcher_(launcher), bundle_(bundle), verdict_(verdict), echo_(echo) {}

  void run(std::span<const Pass> passes, const Part& part) override { part(passes, *this); }

  // Nothing where the pass was not started: an earlier one was interrupted, there is no time for it, or its program is not
  // there, which the verdict then says.
  std::optional<ProcessResult> run(Pass pass);
  void skip(const Pass& pass, const std::string& why);
  void skip(const Pass& pass, const Remark& why);
  PassRecord& last() { return records_.back(); }
  std::vector<PassRecord>& records() { return records_; }

  // From now on a pass begins only if there is time for it, and its progress is shown.
  void keep_time(const Plan& plan);
  const TimeBudget& time() const { return time_; }

  // The meters are read during the passes that ask for it; none: they are not.
  void sample_power(PowerSampler* sampler) { sampler_ = sampler; }
  std::vector<PowerSample> take_power() { return std::exchange(power_, {}); }  // of the latest such pass

  const Bundle& bundle() const { return bundle_; }
  Verdict& verdict() { return verdict_; }

 private:
  void prepare(Pass& pass) const;
  std::optional<ProcessResult> launch(const Pass& pass);
  void judge(const Pass& pass, const ProcessResult& result);

  Launcher& launcher_;
  const Bundle& bundle_;
  Verdict& verdict_;
  std::vector<PassRecord> records_;
  TimeBudget time_;
  std::size_t planned_ = 0;  // passes
  Echo echo_;
  PowerSampler* sampler_ = nullptr;
  std::vector<PowerSample> power_;
};

// A part of the plan that is run pass by pass, where what one leaves decides on the next: which kernels, whether to try
// again, whether another fits the budget.
class Step {
 public:
  virtual ~Step() = default;
  virtual std::optional<Pass> next() = 0;  // nothing: there is none left
  // `result` is null where the pass was not started; the runner has reported that.
  virtual void take(const Pass& pass, const ProcessResult* result, PassRecord& record) = 0;
  virtual void finish() = 0;
};
void run_step(Step& step, PassRunner& runner);

bool ended_well(const ProcessResult* result);

// The configuration key that gives a pass more time.
std::string timeout_key(PassKind pass);

// What the collector wrote into a folder, by name.
std::vector<std::filesystem::path> collector_files(const std::filesystem::path& folder);

// Moves across file systems too.
void move_file(const std::filesystem::path& from, const std::filesystem::path& to);

// Reads the GPUs' meters during the passes. Where that is switched off or NVML does not answer, `note` says so instead.
struct PowerSource {
  std::unique_ptr<PowerSampler> sampler;
  std::string note;
};
// Where energy.enabled is on, a missing meter also goes to the verdict.
PowerSource open_power_source(const Config& config, const Toolset& tools, Verdict& verdict);

}  // namespace nl::orchestrator

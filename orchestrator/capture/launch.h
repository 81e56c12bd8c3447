#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/budget/energy.h"
#include "analysis/budget/perturbation.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/machine/nvml_sampler.h"
#include "orchestrator/capture/plan.h"
#include "orchestrator/capture/verdict.h"

namespace nl::orchestrator {

// Running a pass, as an interface: tests and the dry run need no processes.
class Launcher {
 public:
  virtual ~Launcher() = default;
  virtual ProcessResult launch(const ProcessSpec& process) = 0;
};

class ProcessLauncher : public Launcher {
 public:
  ProcessResult launch(const ProcessSpec& process) override { return run_process(process); }
};

// Runs passes one after another and keeps their records: the argv in <tool>/cmd.txt, the output in logs/,
// the outcome in run.json.
class PassRunner {
 public:
  PassRunner(Launcher& launcher, const Bundle& bundle, Verdict& verdict, std::vector<PassRecord>& records, bool quiet)
      : launcher_(launcher), bundle_(bundle), verdict_(verdict), records_(records), quiet_(quiet) {}

  // Nothing where the pass was not started: an earlier one was interrupted (`always` starts it even so),
  // or its program is not there, which the verdict then says.
  std::optional<ProcessResult> run(Pass pass, bool always = false);
  PassRecord& last() { return records_.back(); }
  void skip(const Pass& pass, const std::string& why);
  const std::vector<PassRecord>& records() const { return records_; }

  // The meters are read during the passes that ask for it; none: they are not.
  void sample_power(PowerSampler* sampler) { sampler_ = sampler; }
  std::vector<PowerSample> take_power() { return std::move(power_); }  // of the latest such pass

 private:
  std::optional<ProcessResult> launch(const Pass& pass);
  void judge(const Pass& pass, const ProcessResult& result);

  Launcher& launcher_;
  const Bundle& bundle_;
  Verdict& verdict_;
  std::vector<PassRecord>& records_;
  bool quiet_;
  PowerSampler* sampler_ = nullptr;
  std::vector<PowerSample> power_;
};

// The passes beside the capture that tell what profiling costs.
struct Repeats {
  std::vector<analysis::PassTimes> before, after;  // the capture
  std::vector<analysis::SampledPass> bare_power;   // of the bare passes, as far as the meters were read
  std::vector<std::string> notes;        // passes that were left out, or do not count
};

// What the first passes left in the bundle.
struct Capture {
  std::filesystem::path nsys_sqlite;  // empty: none
  std::vector<std::filesystem::path> collector_files;
  std::optional<int> workload_exit;
  std::vector<PowerSample> power;  // while it ran
  Repeats repeats;
  bool any() const { return !nsys_sqlite.empty() || !collector_files.empty(); }
};

// The nsys pass and its export, or the collector pass, whichever the plan has, with the passes that tell its cost.
// Trouble goes to the verdict.
Capture launch(const Plan& plan, const Config& config, const Toolset& tools, const Bundle& bundle, PassRunner& passes,
               Verdict& verdict);

// The report files that nsys says it wrote:
//   Generated:
//       /tmp/x/run.nsys-rep
std::vector<std::filesystem::path> generated_files(const std::string& nsys_output);

// The session of `nsys sessions list` that the nsys process `pid` began; empty where there is none.
//                 ID         TIME                       STATE LAUNCH NAME
//             112613        00:03                  Collection      1 profile-sleep-2606
std::string session_of(const std::string& sessions_list, int pid);

// What the collector wrote into a folder, by name.
std::vector<std::filesystem::path> collector_files(const std::filesystem::path& folder);

// Moves across file systems too.
void move_file(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace nl::orchestrator

#include "runs/slurm/rank_task.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <string>

#include "model/error.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/process/interrupts.h"
#include "orchestrator/process/process.h"
#include "runs/slurm/job_folder.h"
#include "runs/slurm/slurm.h"

namespace nl::runs::slurm {
namespace fs = std::filesystem;
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr double kLookSeconds = 2;          // between two looks at the other ranks
constexpr double kSignsWithin = 6;          // of the time after which a rank is lost
constexpr double kReadSeconds = 24 * 3600;  // what was captured is read however long it takes: Slurm ends the job

double seconds_since(SteadyClock::time_point start) { return std::chrono::duration<double>(SteadyClock::now() - start).count(); }

std::string text_of(const char* variable) {
  const char* text = std::getenv(variable);
  return text != nullptr ? text : "";
}

std::optional<int> number_of(const char* variable) {
  const std::string text = text_of(variable);
  int number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failed == std::errc{} && end == text.data() + text.size() && number >= 0 ? std::optional(number) : std::nullopt;
}

int told(const char* variable) {
  if (const auto number = number_of(variable)) return *number;
  throw Error(ErrorKind::kUsage, fmt::format("{} is not set", variable), "submit --rank",
              "it is started by srun, in the job that nl-stage submit makes");
}

class RankTask {
 public:
  explicit RankTask(const fs::path& out)
      : out_(out), job_(read_job(out)), attempt_(attempt_folder(out, number_of("SLURM_RESTART_COUNT").value_or(0))) {
    report_.rank = told("SLURM_PROCID");
    report_.node = text_of("SLURMD_NODENAME");
    report_.state = RankState::kRunning;
  }

  int run() {
    orchestrator::Interrupts interrupts;
    fs::create_directories(attempt_);
    write_rank_report(attempt_, report_);
    const fs::path local = local_folder();
    report_.status = run_program(local);
    if (report_.status != 0 && !report_.stopped) note_failure(fmt::format("rank {} ended with status {}", report_.rank, report_.status));
    say(RankState::kHandingIn);
    hand_in(local);
    say(RankState::kEnded);
    return report_.status;
  }

 private:
  // The job's and the rank's own: nodes of a test are one machine.
  fs::path local_folder() const {
    std::string parent = job_.local;
    for (const char* variable : {"SLURM_TMPDIR", "TMPDIR"})
      if (parent.empty()) parent = text_of(variable);
    if (parent.empty()) parent = "/tmp";
    return fs::path(parent) / fmt::format("nl-stage-{}-{}-{}", text_of("SLURM_JOB_ID"), attempt_.filename().string(), report_.rank);
  }

  // As torchrun has them, for programs that ask for these; what the user or the job has set stays.
  std::map<std::string, std::string> rank_variables() const {
    const std::pair<const char*, std::string> all[] = {{"RANK", std::to_string(report_.rank)},
                                                       {"LOCAL_RANK", text_of("SLURM_LOCALID")},
                                                       {"WORLD_SIZE", std::to_string(job_.ranks())},
                                                       {"LOCAL_WORLD_SIZE", std::to_string(job_.ranks_per_node)},
                                                       {"NODE_RANK", text_of("SLURM_NODEID")},
                                                       {"NL_STAGE_DUTY_SEED", text_of("SLURM_JOB_ID")},
                                                       {"NL_STAGE_LEDGER", "off"}};  // of the merged run there is one entry
    std::map<std::string, std::string> variables;
    for (const auto& [name, value] : all)
      if (std::getenv(name) == nullptr && !value.empty()) variables[name] = value;
    return variables;
  }

  int run_program(const fs::path& local) {
    std::error_code ignored;
    fs::remove_all(local, ignored);
    fs::create_directories(local);
    orchestrator::ProcessSpec spec;
    spec.argv = {own_program(), "run", "--out", (local / "bundle").string()};
    spec.argv.insert(spec.argv.end(), job_.run.begin(), job_.run.end());
    spec.env = rank_variables();
    spec.forward_output = true;
    spec.grace_s = kReadSeconds;
    spec.enough = [this] { return another_failed(); };
    const orchestrator::ProcessResult result = orchestrator::run_process(spec);
    report_.stopped = result.had_enough;
    return result.interrupted && result.exit_status == 0 ? 128 + result.interrupt_signal : result.exit_status;
  }

  void say(RankState state) {
    report_.state = state;
    write_rank_report(attempt_, report_);
  }

  // At once: what was captured may take a while to be copied.
  void note_failure(const std::string& line) const { std::ofstream(failure_note(attempt_), std::ios::app) << line << "\n"; }

  // Ranks that wait for one that is gone would wait until the job's time is up.
  bool another_failed() {
    if (seconds_since(looked_) < std::min(kLookSeconds, job_.stop_after_s)) return false;
    looked_ = SteadyClock::now();
    give_sign();
    watch_next();
    std::error_code none;
    if (!failed_since_ && fs::exists(failure_note(attempt_), none)) failed_since_ = looked_;
    return failed_since_ && seconds_since(*failed_since_) >= job_.stop_after_s;
  }

  void give_sign() {
    if (seconds_since(signed_) < job_.lost_after_s / kSignsWithin) return;
    signed_ = looked_;
    ++report_.signs;
    try {
      write_rank_report(attempt_, report_);
    } catch (const Error&) {  // the shared disk is full, or late: the next sign may get through
    }
  }

  // Each rank watches the next one, so that a thousand of them read a thousand files, and not a million.
  void watch_next() {
    const RankReport next = read_rank_report(attempt_, (report_.rank + 1) % job_.ranks());
    const bool alive = next.state != RankState::kRunning || next.signs != next_signs_;
    if (alive) next_seen_ = looked_;
    next_signs_ = next.signs;
    if (alive || seconds_since(next_seen_) < job_.lost_after_s || failed_since_) return;
    note_failure(fmt::format("rank {} is lost", next.rank));
  }

  // Under a hidden name until it is whole. Where that fails, the bundle stays where it is, and is named.
  void hand_in(const fs::path& local) {
    const fs::path made = attempt_ / fmt::format(".rank-{}-{}", report_.rank, getpid()), bundle = local / "bundle";
    std::error_code none;
    if (!fs::exists(bundle / "run.json", none)) {
      report_.why = "nl-stage left no run.json";
      if (fs::exists(bundle, none)) report_.kept_at = bundle.string();
      return;
    }
    try {
      fs::copy(bundle, made, fs::copy_options::recursive);
      fs::rename(made, rank_bundle(attempt_, report_.rank));
      fs::remove_all(local, none);
    } catch (const fs::filesystem_error& failure) {
      fs::remove_all(made, none);
      report_.kept_at = bundle.string();
      report_.why = fmt::format("{} ({})", failure.code().message(), orchestrator::free_space_of(attempt_));
    }
  }

  fs::path out_;
  RankJob job_;
  fs::path attempt_;
  RankReport report_;
  SteadyClock::time_point looked_ = SteadyClock::now(), signed_ = looked_, next_seen_ = looked_;
  std::uint64_t next_signs_ = 0;
  std::optional<SteadyClock::time_point> failed_since_;
};

// Slurm puts a job back that has lost a node while it merged, too: what is whole is not run again.
bool any_whole(const fs::path& out) {
  for (const Attempt& attempt : read_attempts(out, read_job(out).ranks()))
    if (attempt.whole()) return true;
  return false;
}

}  // namespace

int run_rank(const fs::path& out) { return any_whole(out) ? 0 : RankTask(out).run(); }

}  // namespace nl::runs::slurm

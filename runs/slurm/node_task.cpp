#include "runs/slurm/node_task.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "model/error.h"
#include "orchestrator/process/interrupts.h"
#include "runs/slurm/json_file.h"

namespace nl::runs::slurm {
namespace fs = std::filesystem;
namespace {

using nlohmann::ordered_json;

std::string node_name() {
  if (const char* name = std::getenv("SLURMD_NODENAME"); name != nullptr) return name;
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "";
}

fs::path tasks_file(const fs::path& out) { return out / "slurm" / "tasks.json"; }

std::size_t target_named(const Suite& suite, const std::string& name) {
  for (std::size_t i = 0; i < suite.targets.size(); ++i)
    if (suite.targets[i].name == name) return i;
  throw Error(ErrorKind::kInput, fmt::format("the suite has no target {} any more", name), suite.file.string(), "run the suite anew");
}

SuiteTask task_numbered(const Suite& suite, const fs::path& out, int number) {
  const fs::path file = tasks_file(out);
  try {
    const auto written = read_json_file(file);
    for (const auto& task : written.at("tasks"))
      if (task.at("number") == number)
        return {number, target_named(suite, task.at("target")), task.at("repetition"), task.at("profiled"), task.at("size")};
  } catch (const nlohmann::json::exception& damaged) {
    throw Error(ErrorKind::kInput, fmt::format("the list of tasks is missing or damaged: {}", damaged.what()), file.string(),
                "run the suite with --engine slurm, which writes it");
  }
  throw Error(ErrorKind::kUsage, fmt::format("the suite has no task {}", number), "--task", "a number of " + file.string());
}

ordered_json checks_of(const std::vector<Check>& checks) {
  ordered_json list = ordered_json::array();
  for (const Check& check : checks)
    list.push_back({{"id", check.id},
                    {"level", static_cast<int>(check.level)},
                    {"subject", check.subject},
                    {"finding", check.finding},
                    {"fix", check.fix}});
  return list;
}

void write_report(const fs::path& out, const NodeReport& report) {
  const ordered_json json = {{"node", report.record.node},
                             {"bundle", !report.record.bundle.empty()},
                             {"detail", report.record.detail},
                             {"checks", checks_of(report.checks)}};
  write_json_file(result_file(out, report.record.task.number), json);
}

std::string blocked_text(const std::vector<Check>& checks) {
  for (const Check& check : checks)
    if (check.level == CheckLevel::kBlocked) return fmt::format("{}; fix: {}", check.finding, check.fix);
  return {};
}

// An earlier attempt of the same task may have been there first; then ours does not count.
void put_in_place(const fs::path& made, const fs::path& place) {
  std::error_code taken;
  fs::rename(made, place, taken);
  if (taken) fs::remove_all(made, taken);
}

}  // namespace

fs::path result_file(const fs::path& out, int number) { return out / "slurm" / "results" / fmt::format("{:03}.json", number); }

void write_tasks(const fs::path& out, const Suite& suite, const std::vector<SuiteTask>& tasks) {
  ordered_json list = ordered_json::array();
  for (const SuiteTask& task : tasks)
    list.push_back({{"number", task.number},
                    {"target", suite.targets[task.target].name},
                    {"repetition", task.repetition},
                    {"profiled", task.profiled},
                    {"size", task.size}});
  write_json_file(tasks_file(out), ordered_json{{"tasks", list}});
}

bool run_node_task(const SuiteRequest& request, int number) {
  Interrupts interrupts;
  const Suite& suite = request.suite;
  const SuiteTask task = task_numbered(suite, request.out, number);
  if (fs::exists(result_file(request.out, number))) return true;
  NodeReport report{{task, TaskOutcome::kFailed, {}, {}, 0, {}, {}, node_name()}, check_environment(suite)};
  report.record.detail = blocked_text(report.checks);
  if (report.record.detail.empty()) {
    const fs::path made = request.out / "runs" / fmt::format(".{:03}-{}-{}", number, report.record.node, getpid());
    report.record = run_task(suite, task, {made, request.out / "warmup", suite.warmup, request.sets});
    report.record.node = node_name();
    if (report.record.outcome == TaskOutcome::kInterrupted) return fs::remove_all(made), false;
    if (!report.record.bundle.empty()) put_in_place(made, task_folder(request.out, suite, task));
  }
  write_report(request.out, report);
  return true;
}

std::optional<NodeReport> read_report(const Suite& suite, const SuiteTask& task, const fs::path& out) {
  std::error_code missing;
  if (!fs::exists(result_file(out, task.number), missing)) return std::nullopt;
  try {
    const auto json = read_json_file(result_file(out, task.number));
    NodeReport report;
    report.record = json.at("bundle").get<bool>() ? read_task(task, task_folder(out, suite, task))
                                                  : TaskRecord{task, TaskOutcome::kFailed, {}, {}, 0, {}, json.at("detail")};
    report.record.node = json.at("node");
    for (const auto& check : json.at("checks"))
      report.checks.push_back({check.at("id"), static_cast<CheckLevel>(check.at("level").get<int>()), check.at("subject"),
                               check.at("finding"), check.at("fix")});
    return report;
  } catch (const nlohmann::json::exception& damaged) {
    return NodeReport{{task, TaskOutcome::kFailed, {}, {}, 0, {}, fmt::format("its result is damaged: {}", json_fault(damaged.what()))},
                      {}};
  }
}

}  // namespace nl::runs::slurm

#include "runs/slurm/job_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>

#include "model/error.h"
#include "runs/slurm/json_file.h"

namespace nl::runs::slurm {
namespace fs = std::filesystem;
namespace {

constexpr int kMostRanks = 1 << 20;

fs::path job_file(const fs::path& out) { return out / "slurm" / "job.json"; }
fs::path report_file(const fs::path& attempt, int rank) { return attempt / fmt::format("rank-{}.json", rank); }

constexpr std::string_view kStates[] = {"missing", "running", "handing_in", "ended"};

RankState state_named(const std::string& name) {
  const auto found = std::find(std::begin(kStates), std::end(kStates), name);
  return found != std::end(kStates) ? static_cast<RankState>(found - std::begin(kStates)) : RankState::kRunning;
}

// -1: it is no number.
int number_of(const std::string& text) {
  int number = -1;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failed == std::errc{} && end == text.data() + text.size() ? number : -1;
}

}  // namespace

bool is_job_folder(const fs::path& folder) {
  std::error_code missing;
  return fs::is_regular_file(job_file(folder), missing);
}

void write_job(const fs::path& out, const RankJob& job) {
  write_json_file(job_file(out), {{"run", job.run},
                                  {"merge", job.merge},
                                  {"nodes", job.nodes},
                                  {"ranks_per_node", job.ranks_per_node},
                                  {"local", job.local},
                                  {"stop_after_s", job.stop_after_s},
                                  {"lost_after_s", job.lost_after_s}});
}

RankJob read_job(const fs::path& out) {
  try {
    const auto json = read_json_file(job_file(out));
    RankJob job;
    job.run = json.at("run").get<std::vector<std::string>>();
    job.merge = json.at("merge").get<std::vector<std::string>>();
    job.nodes = json.at("nodes");
    job.ranks_per_node = json.at("ranks_per_node");
    job.local = json.at("local");
    job.stop_after_s = json.at("stop_after_s");
    job.lost_after_s = json.at("lost_after_s");
    if (job.nodes >= 1 && job.ranks_per_node >= 1 && job.nodes <= kMostRanks / job.ranks_per_node) return job;
    throw Error(ErrorKind::kInput, fmt::format("the job has {} × {} ranks", job.nodes, job.ranks_per_node), job_file(out).string(),
                "submit it again");
  } catch (const nlohmann::json::exception& damaged) {
    throw Error(ErrorKind::kInput, fmt::format("the description of the job is missing or damaged: {}", json_fault(damaged.what())),
                job_file(out).string(), "give the folder that nl-stage submit made, or the bundles of the ranks");
  }
}

fs::path attempt_folder(const fs::path& out, int attempt) { return out / "ranks" / std::to_string(attempt); }

fs::path rank_bundle(const fs::path& attempt, int rank) { return attempt / fmt::format("rank-{}", rank); }

fs::path failure_note(const fs::path& attempt) { return attempt / "failed"; }

RankReport read_rank_report(const fs::path& attempt, int rank) {
  RankReport report;
  report.rank = rank;
  std::error_code missing;
  if (!fs::exists(report_file(attempt, rank), missing)) return report;
  try {
    const auto json = read_json_file(report_file(attempt, rank));
    report.state = state_named(json.at("state"));
    report.signs = json.at("signs");
    report.node = json.at("node");
    report.status = json.at("status");
    report.stopped = json.at("stopped");
    report.kept_at = json.at("kept_at");
    report.why = json.at("why");
  } catch (const nlohmann::json::exception&) {  // of a disk that was full: it ran, and more is not known
    report.state = RankState::kRunning;
  }
  return report;
}

void write_rank_report(const fs::path& attempt, const RankReport& report) {
  write_json_file(report_file(attempt, report.rank), {{"rank", report.rank},
                                                      {"node", report.node},
                                                      {"state", kStates[static_cast<std::size_t>(report.state)]},
                                                      {"signs", report.signs},
                                                      {"status", report.status},
                                                      {"stopped", report.stopped},
                                                      {"kept_at", report.kept_at},
                                                      {"why", report.why}});
}

bool Attempt::whole() const {
  return captured() == ranks.size() &&
         std::all_of(ranks.begin(), ranks.end(), [](const RankReport& rank) { return rank.state == RankState::kEnded; });
}

std::size_t Attempt::captured() const {
  return static_cast<std::size_t>(std::count_if(ranks.begin(), ranks.end(), [&](const RankReport& rank) {
    std::error_code missing;
    return fs::exists(rank_bundle(folder, rank.rank), missing);
  }));
}

std::vector<Attempt> read_attempts(const fs::path& out, int ranks) {
  std::vector<Attempt> attempts;
  std::error_code missing;
  for (fs::directory_iterator entry(out / "ranks", missing), end; !missing && entry != end; entry.increment(missing)) {
    const int number = number_of(entry->path().filename().string());
    if (number < 0) continue;
    Attempt attempt{number, entry->path(), {}};
    for (int rank = 0; rank < ranks; ++rank) attempt.ranks.push_back(read_rank_report(attempt.folder, rank));
    attempts.push_back(std::move(attempt));
  }
  std::sort(attempts.begin(), attempts.end(), [](const Attempt& a, const Attempt& b) { return a.number < b.number; });
  return attempts;
}

}  // namespace nl::runs::slurm

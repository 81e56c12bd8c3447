#include "runs/slurm/merge_ranks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "model/error.h"
#include "orchestrator/bundle/read_run.h"
#include "orchestrator/finish.h"
#include "runs/slurm/json_file.h"

namespace nl::runs::slurm {
namespace fs = std::filesystem;
namespace {

using orchestrator::ImportRequest;

constexpr int kWorkloadFailed = 5, kTimedOut = 7;  // exit statuses of nl-stage run

fs::path merged_file(const fs::path& job) { return job / "slurm" / "merged.json"; }

const Attempt& chosen(const std::vector<Attempt>& attempts, const MergeRequest& request) {
  const fs::path ranks = request.job / "ranks";
  if (request.attempt) {
    for (const Attempt& attempt : attempts)
      if (attempt.number == *request.attempt) return attempt;
    throw Error(ErrorKind::kUsage, fmt::format("the job has no attempt {}", *request.attempt), ranks.string(),
                "give the number of a folder in it");
  }
  const Attempt* best = nullptr;
  for (const Attempt& attempt : attempts)
    if (best == nullptr || attempt.captured() >= best->captured()) best = &attempt;
  if (best != nullptr && best->captured() > 0) return *best;
  throw Error(ErrorKind::kInput, "no rank of the job has left a bundle", ranks.string(),
              "slurm/logs in the folder of the job says what its ranks printed");
}

// What its own run says went wrong, without a full stop.
std::string what_its_run_says(const fs::path& bundle) {
  try {
    const fs::path file = orchestrator::run_json_of(bundle);
    return orchestrator::what_failed(orchestrator::read_run(orchestrator::read_run_text(file), file));
  } catch (const Error& error) {
    return error.message;
  }
}

// How each rank ended, in words, and the gravest of it.
class Ends {
 public:
  explicit Ends(const Attempt& attempt) : attempt_(attempt) {
    for (const RankReport& rank : attempt.ranks) add(rank);
    if (!stopped_.empty()) remarks_.push_back({Code::kRanksStopped, {fmt::format("{}", fmt::join(stopped_, ", "))}});
  }
  std::vector<Remark> remarks() const { return remarks_; }
  std::optional<ErrorKind> failure() const { return failure_; }

 private:
  void add(const RankReport& rank) {
    const std::string number = std::to_string(rank.rank), node = rank.node.empty() ? "a node that is not known" : rank.node;
    if (rank.state == RankState::kMissing) return fail(ErrorKind::kCapture, {Code::kRankNotStarted, {number}});
    if (rank.state != RankState::kEnded) return fail(ErrorKind::kCapture, {Code::kRankLost, {number, node}});
    if (!rank.why.empty())
      fail(ErrorKind::kOutput, {Code::kRankNotHandedIn, {number, node, rank.why, rank.kept_at.empty() ? "nowhere" : rank.kept_at}});
    if (rank.stopped) return stopped_.push_back(number);
    if (rank.status == kWorkloadFailed) fail(ErrorKind::kWorkload, {Code::kRankFailed, {number, node, said_by(rank)}});
    else if (rank.status == kTimedOut) fail(ErrorKind::kTimeout, {Code::kRankHung, {number, node}});
    else if (rank.status != 0) fail(ErrorKind::kCapture, {Code::kRankNotWhole, {number, node, said_by(rank)}});
  }

  std::string said_by(const RankReport& rank) const {
    const fs::path bundle = rank_bundle(attempt_.folder, rank.rank);
    std::error_code missing;
    const std::string said = fs::exists(bundle, missing) ? what_its_run_says(bundle) : std::string();
    return said.empty() ? fmt::format("nl-stage ended with status {}", rank.status) : said;
  }

  void fail(ErrorKind kind, Remark remark) {
    remarks_.push_back(std::move(remark));
    if (!failure_ || kind == ErrorKind::kWorkload) failure_ = kind;
  }

  const Attempt& attempt_;
  std::vector<Remark> remarks_;
  std::vector<std::string> stopped_;
  std::optional<ErrorKind> failure_;
};

// Of a merge that was killed: it is made of the ranks, which are there.
fs::path free_place(const fs::path& job) {
  const fs::path place = job / "merged";
  std::error_code ignored;
  if (!fs::exists(place / "manifest.json", ignored)) fs::remove_all(place, ignored);
  fs::path free = place;
  for (int number = 2; fs::exists(free, ignored); ++number) free = fs::path(place).concat(fmt::format("-{}", number));
  return free;
}

// A rank whose program ended before it did anything has a bundle without a capture.
void add_ranks(const Attempt& attempt, ImportRequest& import) {
  std::error_code missing;
  std::optional<Error> last;
  for (const RankReport& rank : attempt.ranks) {
    const fs::path bundle = rank_bundle(attempt.folder, rank.rank);
    if (!fs::exists(bundle, missing)) continue;
    try {
      orchestrator::add_input(bundle, import);
    } catch (const Error& error) {
      last = error;
      import.remarks.push_back({Code::kRankWithoutCapture, {std::to_string(rank.rank)}});
    }
  }
  if (import.all_files().empty() && last) throw *last;
}

}  // namespace

orchestrator::RunResult merge_ranks(const MergeRequest& request, orchestrator::Launcher& launcher) {
  const RankJob job = read_job(request.job);
  const std::vector<Attempt> attempts = read_attempts(request.job, job.ranks());
  const Attempt& attempt = chosen(attempts, request);
  if (attempt.captured() < attempt.ranks.size() && !request.import.partial_ranks)
    throw Error(ErrorKind::kInput, fmt::format("only {} of the {} ranks have left a bundle", attempt.captured(), attempt.ranks.size()),
                attempt.folder.string(), "wait until the job has ended, or give --partial-ranks to go on without the others");
  const Ends ends(attempt);
  ImportRequest import = request.import;
  for (Remark& remark : ends.remarks()) import.remarks.push_back(std::move(remark));
  add_ranks(attempt, import);
  if (import.out.empty()) import.out = free_place(request.job);
  orchestrator::RunResult result = orchestrator::import_captures(import, launcher);
  if (!result.failure) result.failure = ends.failure();
  return result;
}

void write_merged(const fs::path& job, const Merged& merged) {
  write_json_file(merged_file(job), {{"status", merged.status}, {"bundle", merged.bundle.string()}});
}

std::optional<Merged> read_merged(const fs::path& job) {
  std::error_code missing;
  if (!fs::exists(merged_file(job), missing)) return std::nullopt;
  try {
    const auto json = read_json_file(merged_file(job));
    return Merged{json.at("status").get<int>(), json.at("bundle").get<std::string>()};
  } catch (const nlohmann::json::exception&) {  // a shared disk that is late, or full
    return std::nullopt;
  }
}

}  // namespace nl::runs::slurm

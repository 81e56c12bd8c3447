#include "parsers/collector/runs.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <tuple>

#include "model/error.h"
#include "parsers/collector/records.h"

namespace nl::parsers {
namespace {

using collector_trace::File;

constexpr Ns kSecond = 1'000'000'000;
// Both clocks are read one after the other. The clock of the day may be set between two processes, by less than this.
constexpr Ns kSameBoot = kSecond;
// A script that starts one program after the other leaves some seconds between them: Python reads its modules.
constexpr Ns kRunsApart = 10 * kSecond;

struct Recorded {
  std::filesystem::path path;
  std::string run, process;
  Ns start_ns = 0, end_ns = 0;  // CLOCK_MONOTONIC, which counts from the boot
  Ns utc_start_ns = 0;
  std::optional<std::uint32_t> rank;
  Ns boot_ns() const { return utc_start_ns - start_ns; }
};

Ns last_time(const File& file) {
  Ns last = file.header.monotonic_ns;
  for (const auto& piece : file.pieces) {
    if (!piece.events.empty()) last = std::max(last, piece.events.back().time_ns);
    if (!piece.launches.empty()) last = std::max(last, piece.launches.back().time_ns);
  }
  for (const Kernel& kernel : file.gpu.kernels) last = std::max(last, kernel.end_ns());
  for (const MemOp& op : file.gpu.mem_ops) last = std::max(last, op.end_ns);
  for (const ApiCall& call : file.gpu.calls) last = std::max(last, call.end_ns());
  return last;
}

// Only the header where the end does not matter.
std::vector<Recorded> recorded_in(const std::vector<std::filesystem::path>& files, RunsBy by) {
  std::vector<Recorded> all;
  for (const auto& path : files) {
    File file;
    ImportStats ignored;
    const auto enough = by == RunsBy::kTime ? nullptr : +[](const File&) { return true; };
    try {
      if (!collector_trace::read_file(path, file, ignored, enough)) continue;
    } catch (const Error&) {  // the reader of all files reports it
      continue;
    }
    all.push_back({path, file.run, collector_trace::fixed_text(file.header.process_name, sizeof file.header.process_name),
                   file.header.monotonic_ns, last_time(file), file.header.realtime_ns, file.rank.rank});
  }
  std::sort(all.begin(), all.end(), [](const Recorded& a, const Recorded& b) {
    return std::tie(a.utc_start_ns, a.start_ns, a.path) < std::tie(b.utc_start_ns, b.start_ns, b.path);
  });
  return all;
}

// `earlier`: all of a run together, which began first.
bool told_apart(const Recorded& earlier, const Recorded& later, RunsBy by) {
  if (!earlier.run.empty() && !later.run.empty()) return earlier.run != later.run;
  if (std::llabs(earlier.boot_ns() - later.boot_ns()) > kSameBoot) return true;
  return by == RunsBy::kTime && later.start_ns - earlier.end_ns > kRunsApart;
}

void extend(Recorded& run, const Recorded& more) {
  run.end_ns = std::max(run.end_ns, more.end_ns);
  if (run.run.empty()) run.run = more.run;
}

}  // namespace

std::vector<CollectorRun> runs_of_files(const std::vector<std::filesystem::path>& files, RunsBy by) {
  std::vector<CollectorRun> runs;
  std::vector<Recorded> spans;  // of each run
  for (const Recorded& file : recorded_in(files, by)) {
    const auto same = std::find_if(spans.begin(), spans.end(), [&](const Recorded& run) { return !told_apart(run, file, by); });
    const auto index = static_cast<std::size_t>(same - spans.begin());
    if (same == spans.end()) {
      spans.push_back(file);
      runs.push_back({{}, {}, file.process, file.utc_start_ns});
    } else {
      extend(*same, file);
    }
    runs[index].files.push_back(file.path);
    if (file.rank) runs[index].by_rank[*file.rank].push_back(file.path);
  }
  return runs;
}

std::vector<std::vector<std::filesystem::path>> files_by_rank(const std::vector<std::filesystem::path>& files) {
  std::vector<CollectorRun> runs = runs_of_files(files, RunsBy::kLabel);
  if (runs.size() < 2) return {};
  std::vector<std::vector<std::filesystem::path>> all;
  for (CollectorRun& run : runs) {
    if (run.by_rank.empty()) return {};
    std::set<std::filesystem::path> others(run.files.begin(), run.files.end());
    for (const auto& [rank, own] : run.by_rank)
      for (const auto& file : own) others.erase(file);
    auto& first = run.by_rank.begin()->second;
    first.insert(first.end(), others.begin(), others.end());
    for (auto& [rank, own] : run.by_rank) all.push_back(std::move(own));
  }
  return all;
}

}  // namespace nl::parsers

#include "orchestrator/collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <utility>

#include "analysis/collectives/flight_report.h"
#include "analysis/collectives/speeds.h"
#include "model/error_code.h"
#include "model/parallel.h"
#include "orchestrator/process/activity.h"
#include "parsers/flight_recorder/dump.h"
#include "parsers/flight_recorder/pickle.h"
#include "parsers/inspector/inspector.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

constexpr const char* kDefaultGroup = "default_pg";  // the description that PyTorch gives the group of all ranks
constexpr const char* kWhatToGive =
    "give dumps of PyTorch's flight recorder (TORCH_NCCL_DEBUG_INFO_TEMP_FILE) or files of NCCL Inspector (NCCL_INSPECTOR_DUMP_DIR)";

struct Found {
  std::vector<fs::path> dumps, inspector;
  std::vector<CodedError> skipped;
};

CodedError coded_copy(const Error& error) { return {code_of(error), error.message, error.where, error.fix}; }

bool add_evidence(const fs::path& file, Found& found) {
  const parsers::FileHead head(file);
  if (parsers::is_inspector_file(head)) found.inspector.push_back(file);
  else if (parsers::is_flight_dump(head)) found.dumps.push_back(file);
  else return false;
  return true;
}

// Among files that are given one by one such a one is a dump whose process was killed: its reader says so, and the others are read.
bool is_hardly_written(const fs::path& file) {
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return false;
  const parsers::FileHead head(file);
  return head.bytes.empty() || head.starts_with(parsers::kPickleMagic);
}

// Of a folder those files that are evidence; files may lie there besides.
void add_evidence_in(const fs::path& folder, Found& found) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.is_regular_file(ignored)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  const std::size_t before = found.dumps.size() + found.inspector.size();
  for (const fs::path& file : files) add_evidence(file, found);
  if (found.dumps.size() + found.inspector.size() == before)
    throw CodedError(ErrorCode::kNoCapture, "the folder has no evidence on collectives", folder.string(), kWhatToGive);
}

Found evidence_in(const std::vector<fs::path>& given) {
  Found found;
  for (const fs::path& path : given) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) add_evidence_in(path, found);
    else if (is_hardly_written(path)) found.dumps.push_back(path);
    else if (!add_evidence(path, found))
      throw CodedError(ErrorCode::kUnknownFormat, "the file is no evidence on collectives", path.string(), kWhatToGive);
  }
  return found;
}

// Of each file what it has; of one that cannot be read nothing, and why.
template <class Evidence, class Read>
std::vector<Evidence> read_each(const std::vector<fs::path>& files, Read read, std::vector<CodedError>& skipped) {
  std::vector<std::optional<Evidence>> each(files.size());
  std::vector<std::optional<CodedError>> faults(files.size());
  each_in_parallel(files.size(), [&](std::size_t i) {
    try {
      each[i] = read(files[i]);
    } catch (const Error& error) {
      if (error.kind != ErrorKind::kInput) throw;
      faults[i] = coded_copy(error);
    }
  });
  std::vector<Evidence> all;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (each[i]) all.push_back(std::move(*each[i]));
    if (faults[i]) skipped.push_back(std::move(*faults[i]));
  }
  return all;
}

// "nccl_trace_rank_12", "v1.2_rank12.json": the number that ends the name.
std::optional<std::uint32_t> rank_ending(const fs::path& file) {
  fs::path name = file.filename();
  const auto is_digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  for (std::string last = name.extension().string(); last.size() > 1 && std::none_of(last.begin(), last.end(), is_digit);
       last = name.extension().string())
    name = name.stem();
  const std::string stem = name.string();
  std::size_t begin = stem.size();
  while (begin > 0 && is_digit(static_cast<unsigned char>(stem[begin - 1]))) --begin;
  std::uint32_t rank = 0;
  const auto [end, fault] = std::from_chars(stem.data() + begin, stem.data() + stem.size(), rank);
  if (begin == stem.size() || fault != std::errc() || end != stem.data() + stem.size()) return std::nullopt;
  return rank;
}

void number_dumps(std::vector<FlightDump>& dumps) {
  for (FlightDump& dump : dumps) {
    const auto rank = rank_ending(dump.file);
    if (!rank)
      throw Error(ErrorKind::kInput, "the name of the dump does not end with its rank, and a dump does not have it inside", dump.file,
                  "name it as PyTorch does: nccl_trace_rank_3");
    dump.rank = *rank;
  }
  std::stable_sort(dumps.begin(), dumps.end(), [](const FlightDump& a, const FlightDump& b) { return a.rank < b.rank; });
  for (std::size_t i = 1; i < dumps.size(); ++i)
    if (dumps[i].rank == dumps[i - 1].rank)
      throw Error(ErrorKind::kInput, fmt::format("two dumps are of rank {}", dumps[i].rank),
                  fmt::format("{} and {}", dumps[i - 1].file, dumps[i].file), "give one dump of each rank, of one job");
}

void refuse_wrong_rank(const FlightDump& dump) {
  for (const DumpGroup& group : dump.groups)
    if (!group.ranks.empty() && std::find(group.ranks.begin(), group.ranks.end(), dump.rank) == group.ranks.end())
      throw Error(ErrorKind::kInput,
                  fmt::format("by its name the dump is of rank {}, which is no member of the group {} in it", dump.rank, group.name),
                  dump.file, "give the dump under the name that PyTorch gave it, which ends with its rank");
}

// The group of all ranks is the same in all dumps of a job.
void refuse_other_jobs(const std::vector<FlightDump>& dumps) {
  const FlightDump* first = nullptr;
  const DumpGroup* all = nullptr;
  for (const FlightDump& dump : dumps) {
    refuse_wrong_rank(dump);
    for (const DumpGroup& group : dump.groups) {
      if (group.description != kDefaultGroup || group.ranks.empty()) continue;
      if (all == nullptr) first = &dump, all = &group;
      if (group.ranks != all->ranks)
        throw Error(ErrorKind::kInput,
                    fmt::format("the dumps are not of one job: one has {} ranks, the other {}", all->ranks.size(), group.ranks.size()),
                    fmt::format("{} and {}", first->file, dump.file), "give the dumps of one job");
    }
  }
}

void add_flight(const Found& found, CollectiveReport& report) {
  if (found.dumps.empty()) return;
  const Activity reading(fmt::format("reading the dumps of {} ranks", found.dumps.size()));
  std::vector<FlightDump> dumps = read_each<FlightDump>(found.dumps, parsers::read_flight_dump, report.skipped);
  if (dumps.empty()) return;
  number_dumps(dumps);
  refuse_other_jobs(dumps);
  report.flight = analysis::collectives::flight_report(dumps);
}

void add_inspector(const Found& found, CollectiveReport& report) {
  if (found.inspector.empty()) return;
  const Activity reading("reading what NCCL Inspector timed");
  const std::vector<InspectorFile> files = read_each<InspectorFile>(found.inspector, parsers::read_inspector, report.skipped);
  for (const InspectorFile& file : files) report.damaged_lines += file.lines_damaged;
  analysis::collectives::Speeds speeds = analysis::collectives::collective_speeds(files);
  report.inspector_files = files.size();
  report.speeds = std::move(speeds.table);
  report.timed_calls = speeds.calls;
  report.repeated_calls = speeds.repeated;
}

}  // namespace

CollectiveReport read_collectives(const std::vector<fs::path>& given) {
  const Found found = evidence_in(given);
  CollectiveReport report;
  add_flight(found, report);
  add_inspector(found, report);
  if (!report.flight && report.inspector_files == 0) throw CodedError(report.skipped.front());
  return report;
}

std::string collective_evidence(const fs::path& file) {
  const parsers::FileHead head(file);
  if (parsers::is_inspector_file(head)) return "a file of NCCL Inspector";
  return parsers::is_flight_dump(head) ? "a dump of PyTorch's flight recorder" : "";
}

}  // namespace nl::orchestrator

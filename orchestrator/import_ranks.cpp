#include "orchestrator/import_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "analysis/ranks/one_run.h"
#include "model/error.h"
#include "model/parallel.h"
#include "orchestrator/process/activity.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

using analysis::ranks::RankCapture;

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// "out/rank12.sqlite" → "out/rank#.sqlite" and {12}
std::pair<std::string, std::vector<std::string>> parted(const std::string& name) {
  std::pair<std::string, std::vector<std::string>> parts;
  for (std::size_t i = 0; i < name.size();) {
    std::size_t end = i;
    while (end < name.size() && is_digit(name[end])) ++end;
    if (end == i) {
      parts.first += name[i++];
      continue;
    }
    parts.first += '#';
    parts.second.push_back(name.substr(i, end - i));
    i = end;
  }
  return parts;
}

std::vector<std::uint32_t> numbers_at(const std::vector<std::vector<std::string>>& numbers, std::size_t place) {
  std::vector<std::uint32_t> out;
  std::set<std::uint32_t> once;
  for (const auto& of_file : numbers) {
    const std::string& text = of_file[place];
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || !once.insert(number).second) return {};
    out.push_back(number);
  }
  return out;
}

std::vector<Trace> read_all(const std::vector<RankFile>& files, const std::function<Trace(const RankFile&)>& read) {
  const Activity reading(fmt::format("reading the captures of {} ranks", files.size()));
  std::vector<Trace> traces(files.size());
  each_in_parallel(files.size(), [&](std::size_t i) { traces[i] = read(files[i]); });
  return traces;
}

void refuse_same_rank(const std::vector<RankCapture>& captures) {
  std::map<std::uint32_t, std::string> seen;
  for (const RankCapture& capture : captures)
    if (const auto [first, is_new] = seen.emplace(capture.rank, capture.file); !is_new)
      throw Error(ErrorKind::kInput, fmt::format("two captures are of rank {}", capture.rank),
                  fmt::format("{} and {}", first->second, capture.file), "give one capture of each rank, of one run");
}

void refuse_other_worlds(const std::vector<Trace>& traces, const std::vector<RankFile>& files) {
  for (std::size_t i = 1; i < traces.size(); ++i) {
    const auto &first = traces[0].rank.world_size, &other = traces[i].rank.world_size;
    if (!first || !other || *first == *other) continue;
    throw Error(ErrorKind::kInput, fmt::format("the captures are not of one run: one has {} ranks, the other {}", *first, *other),
                fmt::format("{} and {}", files[0].named.string(), files[i].named.string()), "give the captures of one run");
  }
}

// Of one report, exported twice, to the nanosecond: it would be two ranks that do the same.
void refuse_same_capture(const std::vector<Trace>& traces, const std::vector<RankFile>& files) {
  const auto same = [](const Trace& a, const Trace& b) {
    return a.utc_start_ns && a.utc_start_ns == b.utc_start_ns && a.duration_ns == b.duration_ns && a.kernels.size() == b.kernels.size() &&
           !a.kernels.empty() && a.kernels.front().start_ns == b.kernels.front().start_ns &&
           a.kernels.back().start_ns == b.kernels.back().start_ns;
  };
  for (std::size_t i = 1; i < traces.size(); ++i)
    for (std::size_t before = 0; before < i; ++before)
      if (same(traces[before], traces[i]))
        throw Error(ErrorKind::kUsage, "one capture is given twice, in two exports",
                    fmt::format("{} and {}", files[before].named.string(), files[i].named.string()), "give one of them");
}

// Those that tell no rank get the numbers that the others leave.
std::vector<std::uint32_t> ranks_in_order(const std::vector<Trace>& traces) {
  std::set<std::uint32_t> told;
  for (const Trace& trace : traces)
    if (trace.rank.rank) told.insert(*trace.rank.rank);
  std::vector<std::uint32_t> ranks;
  std::uint32_t next = 0;
  for (const Trace& trace : traces) {
    while (told.contains(next)) ++next;
    ranks.push_back(trace.rank.rank ? *trace.rank.rank : next++);
  }
  return ranks;
}

std::vector<RankCapture> numbered(std::vector<Trace> traces, const std::vector<RankFile>& files) {
  const bool told = std::all_of(traces.begin(), traces.end(), [](const Trace& trace) { return trace.rank.rank.has_value(); });
  std::vector<fs::path> names;
  for (const RankFile& file : files) names.push_back(file.named);
  const std::vector<std::uint32_t> by_name = told ? std::vector<std::uint32_t>() : ranks_by_name(names);
  const std::vector<std::uint32_t> in_order = ranks_in_order(traces);
  std::vector<RankCapture> captures;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    RankCapture capture{std::move(traces[i]), in_order[i], RankSource::kOrder, files[i].named.string()};
    if (!by_name.empty()) capture.rank = by_name[i], capture.source = RankSource::kFileName;
    else if (capture.trace.rank.rank) capture.source = capture.trace.rank.source;
    captures.push_back(std::move(capture));
  }
  refuse_same_rank(captures);
  std::sort(captures.begin(), captures.end(), [](const RankCapture& a, const RankCapture& b) { return a.rank < b.rank; });
  return captures;
}

// Numbers in names of files may begin anywhere: without a first one, none is known to be missing.
std::vector<std::uint32_t> missing_ranks(const std::vector<RankCapture>& captures) {
  const bool by_name = captures.front().source == RankSource::kFileName && captures.front().rank != 0;
  const std::uint32_t first = by_name ? captures.front().rank : 0;
  const std::uint32_t end = std::max(captures.back().rank + 1, captures.front().trace.rank.world_size.value_or(0));
  std::set<std::uint32_t> there;
  for (const RankCapture& capture : captures) there.insert(capture.rank);
  std::vector<std::uint32_t> missing;
  for (std::uint32_t rank = first; rank < end && missing.size() < (1u << 20); ++rank)
    if (!there.contains(rank)) missing.push_back(rank);
  return missing;
}

// "1, 2, 5 …"
std::string listed(const std::vector<std::uint32_t>& ranks) {
  constexpr std::size_t kMost = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, ranks.size()); ++i) text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
  return text + (ranks.size() > kMost ? " …" : "");
}

}  // namespace

std::vector<std::uint32_t> ranks_by_name(const std::vector<fs::path>& files) {
  std::vector<std::vector<std::string>> numbers;
  std::string skeleton;
  for (const fs::path& file : files) {
    auto [text, of_file] = parted(file.lexically_normal().string());
    if (!numbers.empty() && text != skeleton) return {};
    skeleton = std::move(text);
    numbers.push_back(std::move(of_file));
  }
  std::vector<std::uint32_t> found;
  for (std::size_t place = 0; !numbers.empty() && place < numbers[0].size(); ++place) {
    const std::vector<std::uint32_t> here = numbers_at(numbers, place);
    if (here.empty()) continue;
    if (!found.empty() && here != found) {  // "rank3.pid4711": the smaller numbers are the ranks
      if (*std::max_element(here.begin(), here.end()) >= *std::max_element(found.begin(), found.end())) continue;
    }
    found = here;
  }
  return found;
}

Trace join_ranks(const std::vector<RankFile>& files, const std::function<Trace(const RankFile&)>& read, bool partial) {
  std::vector<Trace> traces = read_all(files, read);
  refuse_same_capture(traces, files);
  refuse_other_worlds(traces, files);
  const std::optional<std::uint32_t> world = traces.front().rank.world_size;
  std::vector<RankCapture> captures = numbered(std::move(traces), files);
  const bool by_order =
      std::any_of(captures.begin(), captures.end(), [](const RankCapture& capture) { return capture.source == RankSource::kOrder; });
  const std::vector<std::uint32_t> missing = by_order ? std::vector<std::uint32_t>() : missing_ranks(captures);
  const std::size_t all = std::max<std::size_t>(world.value_or(0), captures.size() + missing.size());
  if (!missing.empty() && !partial)
    throw Error(ErrorKind::kInput, fmt::format("{} of the {} ranks of the run are not given: {}", missing.size(), all, listed(missing)),
                files.front().named.parent_path().string(), "give their captures too, or --partial-ranks to go on without them");
  const Activity joining("putting the ranks on one clock");
  Trace trace = analysis::ranks::one_run(std::move(captures));
  if (by_order) trace.stats.notes.push_back({Code::kRanksByOrder});
  if (!missing.empty())
    trace.stats.notes.push_back({Code::kRanksMissing, {std::to_string(files.size()), std::to_string(all), listed(missing)}});
  return trace;
}

}  // namespace nl::orchestrator

#include "exporters/collectives/sentences.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "exporters/report/text/figure_text.h"
#include "model/visible_text.h"

namespace nl::exporters::collectives {
namespace {

constexpr std::size_t kMostRuns = 6;        // of ranks in a row, before a text gives their number only
constexpr double kOften = 0.7;              // as the rule straggler_rank has it
constexpr double kWorthSaying = 0.1;        // a smaller spread is noise
constexpr Ns kLongApart = 600'000'000'000;  // ten minutes: clocks of hosts are not so far apart

constexpr std::array<std::string_view, 4> kInsideOfPyTorch = {"/torch/", "torch/distributed/", "torch/_", "<frozen"};

// {0, 1, 2, 7} → "0 to 2", "7"
std::vector<std::string> runs_of(const std::vector<std::uint32_t>& ranks) {
  std::vector<std::string> runs;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    if (end - i > 2) runs.push_back(fmt::format("{} to {}", ranks[i], ranks[end - 1]));
    else
      for (std::size_t each = i; each < end; ++each) runs.push_back(std::to_string(ranks[each]));
    i = end;
  }
  return runs;
}

std::string call_text(const std::string& kind, std::uint64_t sequence, const std::string& group) {
  return fmt::format("{} #{} of {}", kind.empty() ? "a call" : kind, sequence, group);
}

std::string call_text(const GroupReport& group, const GroupWait& wait) {
  return call_text(wait.form.kind, wait.sequence, group_text(group.group));
}

std::vector<std::uint32_t> waiting_in(const GroupWait& wait) {
  std::vector<std::uint32_t> ranks = wait.started;
  ranks.insert(ranks.end(), wait.scheduled.begin(), wait.scheduled.end());
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

const char* wait_or_waits(std::size_t ranks) { return ranks == 1 ? "waits" : "wait"; }
bool contains(const std::vector<std::uint32_t>& ranks, std::uint32_t rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

// "rank 3 called all_gather"
std::string side_text(const MismatchSide& side, MismatchKind kind) {
  const std::string sizes = fmt::format("{} → {}", sizes_text(side.form.inputs), sizes_text(side.form.outputs));
  const std::string what = kind == MismatchKind::kSizes   ? " of " + sizes
                           : kind == MismatchKind::kTypes ? " of " + join_and(side.form.input_dtypes)
                                                          : "";
  const std::string site = site_text(side.stack);
  return fmt::format("{} called {}{}{}", ranks_text(side.ranks), side.form.kind, what, site.empty() ? "" : ", from " + site);
}

void add_mismatch(const GroupReport& group, std::vector<std::string>& out) {
  const Mismatch& mismatch = *group.mismatch;
  const char* what = mismatch.kind == MismatchKind::kSizes   ? "with different sizes"
                     : mismatch.kind == MismatchKind::kTypes ? "with different data types"
                                                             : "as different collectives";
  out.push_back(fmt::format("Ranks made call #{} of {} {}.", mismatch.sequence, group_text(group.group), what));
  for (auto side = mismatch.sides.rbegin(); side != mismatch.sides.rend(); ++side) out.push_back(sentence(side_text(*side, mismatch.kind)));
  if (mismatch.kind == MismatchKind::kOrder)
    out.push_back("The next calls fit, so the order differs between the ranks, or one of them left out or added a call.");
}

// What the rank did last, which is not what it is doing now.
void add_last_call(const WaitedFor& each, std::vector<std::string>& out) {
  if (each.last_kind.empty()) {
    if (each.has_dump) out.push_back(fmt::format("The dump of rank {} has no call at all.", each.rank));
    return;
  }
  const char* state = each.last_state == CallState::kCompleted ? "completed"
                      : each.last_state == CallState::kStarted ? "started"
                                                               : "scheduled";
  const std::string site = site_text(each.last_stack);
  out.push_back(fmt::format("The last call that rank {} recorded is {} ({}){}.", each.rank,
                            call_text(each.last_kind, each.last_sequence, "group " + each.last_group), state,
                            site.empty() ? "" : ", from " + site));
}

void add_not_called(const FlightReport& report, const WaitedFor& each, std::vector<std::string>& out) {
  for (const GroupReport& group : report.groups) {
    if (!group.wait || group.wait->done_elsewhere || !contains(group.wait->not_called, each.rank)) continue;
    const auto waiting = waiting_in(*group.wait);
    out.push_back(sentence(fmt::format("rank {} did not call {}, and {} {} in it", each.rank, call_text(group, *group.wait),
                                       ranks_text(waiting), wait_or_waits(waiting.size()))));
  }
  for (const PeerWait& wait : report.peers)
    if (wait.peer == each.rank && wait.peer_called == false)
      out.push_back(fmt::format("Rank {} waits in {} rank {}, which did not call the other end.", wait.rank,
                                wait.sends ? "a send to" : "a receive from", wait.peer));
}

void add_waited_for(const FlightReport& report, bool in_circle, std::vector<std::string>& out) {
  constexpr std::size_t kMost = 3;
  std::size_t told = 0;
  for (const WaitedFor& each : report.waited_for) {
    if (!each.has_dump || each.waits_for.empty() == in_circle || told++ >= kMost) continue;
    add_not_called(report, each, out);
    add_last_call(each, out);
    if (in_circle) out.push_back(fmt::format("Rank {} itself waits for {}.", each.rank, ranks_text(each.waits_for)));
  }
  if (told > kMost) out.push_back(fmt::format("{} more ranks are waited for; the table has them.", told - kMost));
}

void add_waits(const FlightReport& report, std::vector<std::string>& out) {
  for (const GroupReport& group : report.groups) {
    if (!group.wait) continue;
    const auto waiting = waiting_in(*group.wait);
    out.push_back(sentence(fmt::format("{} {} in {}", ranks_text(waiting), wait_or_waits(waiting.size()), call_text(group, *group.wait))));
    if (!group.wait->no_dump.empty())
      out.push_back(
          sentence(fmt::format("{} left no dump: whether the call is missing there is not known", ranks_text(group.wait->no_dump))));
    if (group.wait->done_elsewhere)
      out.push_back(sentence(fmt::format("{} completed it, which needs all members: the dumps were made at different times",
                                         ranks_text(group.wait->completed))));
  }
}

// "it began on ranks 0 to 2, and is queued on rank 3"
std::string progress_text(const GroupWait& wait) {
  if (wait.scheduled.empty()) return "it began on " + ranks_text(wait.started);
  if (wait.started.empty()) return "it is queued on " + ranks_text(wait.scheduled) + ", and began on none";
  return fmt::format("it began on {}, and is queued on {}", ranks_text(wait.started), ranks_text(wait.scheduled));
}

void add_all_called(const FlightReport& report, std::vector<std::string>& out) {
  for (const GroupReport& group : report.groups)
    if (group.wait && group.wait->not_called.empty() && group.wait->no_dump.empty() && group.wait->unknown.empty())
      out.push_back(fmt::format("All {} called {}, alike, and it is not done: {}.", plural(group.members.size(), "member"),
                                call_text(group, *group.wait), progress_text(*group.wait)));
  for (const PeerWait& wait : report.peers)
    if (wait.peer_called == true)
      out.push_back(fmt::format("Rank {} waits in {} rank {}, which called the other end.", wait.rank,
                                wait.sends ? "a send to" : "a receive from", wait.peer));
  out.push_back("No call is missing. Look at the GPUs, the network, and what is queued before it.");
}

}  // namespace

std::string rank_numbers(const std::vector<std::uint32_t>& ranks) {
  if (ranks.empty()) return kNoValue;
  std::vector<std::string> runs = runs_of(ranks);
  if (runs.size() <= kMostRuns) return join(runs);
  runs.resize(kMostRuns);
  return fmt::format("{} … ({})", join(runs), count_text(ranks.size()));
}

std::string ranks_text(const std::vector<std::uint32_t>& ranks) {
  const std::vector<std::string> runs = runs_of(ranks);
  if (ranks.empty()) return "no rank";
  if (runs.size() > kMostRuns) return fmt::format("{} ranks", count_text(ranks.size()));
  return (ranks.size() == 1 ? "rank " : "ranks ") + join_and(runs);
}

std::string group_text(const DumpGroup& group) {
  return "group " + visible_line(group.name) + (!group.description.empty() ? fmt::format(" ({})", visible_line(group.description)) : "");
}

std::string sizes_text(const std::vector<std::vector<std::int64_t>>& tensors) {
  constexpr std::size_t kMost = 4;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(kMost, tensors.size()); ++i) texts.push_back(fmt::format("[{}]", fmt::join(tensors[i], ", ")));
  if (tensors.size() > kMost) texts.push_back(fmt::format("… ({})", tensors.size()));
  return texts.empty() ? "nothing" : join(texts);
}

std::string site_text(const std::vector<CallFrame>& stack) {
  const auto own = std::find_if(stack.begin(), stack.end(), [](const CallFrame& frame) {
    return std::none_of(kInsideOfPyTorch.begin(), kInsideOfPyTorch.end(),
                        [&](std::string_view part) { return frame.file.find(part) != frame.file.npos; });
  });
  if (stack.empty()) return {};
  const CallFrame& frame = own != stack.end() ? *own : stack.front();
  return visible_line(fmt::format("{} at {}:{}", frame.function, frame.file, frame.line));
}

std::vector<std::string> flight_sentences(const FlightReport& report) {
  std::vector<std::string> out;
  switch (report.verdict) {
    case FlightVerdict::kNothingWaits:
      out.push_back(fmt::format("Nothing waits: {} of {} are completed.",
                                report.calls == 1 ? "the 1 recorded call" : "all " + count_text(report.calls) + " recorded calls",
                                plural(report.ranks.size(), "rank")));
      break;
    case FlightVerdict::kMismatch:
      for (const GroupReport& group : report.groups)
        if (group.mismatch) add_mismatch(group, out);
      break;
    case FlightVerdict::kNotCalled: add_waited_for(report, false, out); break;
    case FlightVerdict::kCircle:
      out.push_back("Ranks wait for one another in a circle: none of those that are waited for is free to go on.");
      add_waited_for(report, true, out);
      break;
    case FlightVerdict::kAllCalled: add_all_called(report, out); break;
    case FlightVerdict::kNoDump:
    case FlightVerdict::kUnknown:
      add_waits(report, out);
      if (report.verdict == FlightVerdict::kUnknown) out.push_back("The dumps do not show for whom.");
      break;
  }
  return out;
}

std::vector<std::string> flight_notes(const FlightReport& report) {
  std::vector<std::string> out;
  if (!report.missing.empty())
    out.push_back(sentence(fmt::format("{} of {} have no dump: {}", count_text(report.missing.size()),
                                       plural(report.missing.size() + report.ranks.size(), "rank"), rank_numbers(report.missing))));
  if (!report.begin_late.empty())
    out.push_back(sentence(
        fmt::format("the recorder keeps the last calls only: the older ones of {} were written over", ranks_text(report.begin_late))));
  if (!report.incomplete.empty())
    out.push_back(sentence(
        fmt::format("completed calls are left out of the dumps of {}: what is not there may be done", ranks_text(report.incomplete))));
  if (report.damaged_calls > 0)
    out.push_back(
        fmt::format("{} without a number, a state or a group: left out.", plural(report.damaged_calls, "entry is", "entries are")));
  if (report.apart_ns > kLongApart)
    out.push_back(fmt::format("The last call of rank {} is {} older than the first of rank {}: the dumps may be of different jobs.",
                              report.early_rank, time_text(static_cast<double>(report.apart_ns)), report.late_rank));
  return out;
}

double spread_of(const CollectiveSpeed& speed) {
  if (speed.by_rank.size() < 2) return 0;
  const auto [least, most] = std::minmax_element(speed.by_rank.begin(), speed.by_rank.end(),
                                                 [](const RankSpeed& a, const RankSpeed& b) { return a.median_us < b.median_us; });
  return least->median_us > 0 ? most->median_us / least->median_us - 1 : 0;
}

std::vector<std::string> inspector_sentences(const CollectiveReport& report) {
  std::vector<std::string> out;
  out.push_back(fmt::format("NCCL Inspector timed {} in {}.", plural(report.timed_calls, "call"), plural(report.inspector_files, "file")));
  for (const CollectiveSpeed& speed : report.speeds) {
    if (speed.calls_of_all == 0 || speed.source != TimingSource::kGpuKernel || spread_of(speed) < kWorthSaying) continue;
    const auto last = std::max_element(speed.by_rank.begin(), speed.by_rank.end(),
                                       [](const RankSpeed& a, const RankSpeed& b) { return a.shortest < b.shortest; });
    const double share = static_cast<double>(last->shortest) / static_cast<double>(speed.calls_of_all);
    if (share <= kOften) continue;
    out.push_back(
        fmt::format("Rank {} of communicator {} had the shortest time in {} of {} of {}: it came last, and the others waited for it.",
                    last->rank, visible_line(speed.communicator), share_text(share), plural(speed.calls_of_all, speed.kind + " call"),
                    bytes_text(static_cast<double>(speed.size_bytes))));
    break;
  }
  if (report.repeated_calls > 0)
    out.push_back(fmt::format("{} twice in the files, and counted once.", plural(report.repeated_calls, "call is", "calls are")));
  if (report.damaged_lines > 0)
    out.push_back(fmt::format("{} cut off or without what a call has: left out.", plural(report.damaged_lines, "line is", "lines are")));
  return out;
}

}  // namespace nl::exporters::collectives

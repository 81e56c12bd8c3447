#include <fmt/format.h>

#include <algorithm>

#include "exporters/report/sections/sections.h"
#include "exporters/report/text/run_text.h"

namespace nl::exporters::report {
namespace {

std::string clock_text(RankClock clock) {
  switch (clock) {
    case RankClock::kNone: return "not known";
    case RankClock::kReference: return "the run's";
    case RankClock::kCollectives: return "by collectives";
    case RankClock::kMachine: return "of one machine";
    case RankClock::kWallClock: return "clock of the day";
  }
  return kNoValue;
}

Cell ahead_cell(Ns time_ns) {
  const auto value = static_cast<double>(time_ns);
  return Cell((time_ns < 0 ? "−" : "") + time_text(time_ns < 0 ? -value : value), value);
}

// "13.464 ± 0.454"
Cell drift_cell(const RankEntry& rank) {
  const std::string error = rank.drift_error_ppm ? fmt::format(" ± {:.3f}", *rank.drift_error_ppm) : "";
  return Cell(fmt::format("{:.3f}{}", rank.drift_ppm, error), rank.drift_ppm);
}

Table clocks_of(const Run& run) {
  Table table{"Clocks of the ranks",
              texts({"Rank", "Host", "Clock"}) + numbers({"Ahead by", "Drift (ppm)", "Residual (1 sigma)", "Largest", "Collectives"})};
  for (const RankEntry& rank : run.ranks) {
    const bool fitted = rank.clock == RankClock::kCollectives;
    table.rows.push_back({text_cell(rank_text(rank)), text_cell(rank.host.empty() ? kNoValue : rank.host), clock_text(rank.clock),
                          fitted ? ahead_cell(rank.offset_ns) : Cell(kNoValue), fitted ? drift_cell(rank) : Cell(kNoValue),
                          time_cell_if(rank.residual_ns.has_value(), rank.residual_ns.value_or(0)),
                          time_cell_if(rank.residual_max_ns.has_value(), rank.residual_max_ns.value_or(0)),
                          fitted ? count_cell(rank.collectives) : Cell(kNoValue)});
  }
  return table;
}

double mean_lateness(const RankLateness& late) {
  return late.last > 0 ? static_cast<double>(late.late_ns) / static_cast<double>(late.last) : 0;
}

// What it did while the others waited, where one cause has most of it.
std::string cause_text(const RankLateness& late) {
  if (late.computing_ns > late.host_ns)
    return late.slowest_kernel.empty() ? "its GPU computed longer" : "its GPU computed longer, " + late.slowest_kernel + " most of all";
  if (late.host_ns > late.computing_ns)
    return late.slowest_range.empty() ? "its GPU waited for its program" : "its GPU waited for its program, in " + late.slowest_range;
  return {};
}

Table lateness_of(const Run& run) {
  Table table{"Who was late", texts({"Rank"}) +
                                  numbers({"Collectives", "Last", "of them", "Late by, sum", "mean", "Computing", "Waiting for its program",
                                           "Waits for others"}) +
                                  texts({"What took it longer"})};
  for (const RankEntry& rank : run.ranks) {
    const RankLateness& late = judged_lateness(rank);
    if (late.collectives == 0) continue;
    table.rows.push_back({text_cell(rank_text(rank)), count_cell(late.collectives), count_cell(late.last),
                          share_cell(ratio(static_cast<double>(late.last), static_cast<double>(late.collectives))),
                          time_cell(static_cast<double>(late.late_ns)), time_cell_if(late.last > 0, mean_lateness(late)),
                          time_cell(static_cast<double>(late.computing_ns)), time_cell(static_cast<double>(late.host_ns)),
                          time_cell(static_cast<double>(late.waited_ns)),
                          text_cell(cause_text(late).empty() ? kNoValue : cause_text(late))});
  }
  return table;
}

std::string straggler_sentence(const Run& run) {
  Ns all_ns = 0;
  for (const RankEntry& rank : run.ranks) all_ns += judged_lateness(rank).late_ns;
  if (all_ns == 0) return {};
  const auto latest = std::max_element(run.ranks.begin(), run.ranks.end(), [](const RankEntry& a, const RankEntry& b) {
    return judged_lateness(a).late_ns < judged_lateness(b).late_ns;
  });
  const RankLateness& late = judged_lateness(*latest);
  const double share = static_cast<double>(late.late_ns) / static_cast<double>(all_ns);
  if (share <= kOftenLate)
    return fmt::format("Now one rank is late, now another: {} has the most of it, {} of {}.", rank_text(*latest), share_text(share),
                       time_text(static_cast<double>(all_ns)));
  const std::string cause = cause_text(late);
  return fmt::format("The late one is {}: {} of the {} by which ranks came after all others, at {} of {}{}.", rank_text(*latest),
                     share_text(share), time_text(static_cast<double>(all_ns)), count_text(late.last),
                     plural(late.collectives, "collective") + (latest->step_lateness ? " of the steps" : ""),
                     cause.empty() ? "" : ": " + cause);
}

// Of warm-up, and of what lies between steps, where that is more: while one rank compiles, the others wait.
std::string outside_sentence(const Run& run) {
  Ns outside_ns = 0, most_ns = 0, in_steps_ns = 0;
  const RankEntry* latest = nullptr;
  for (const RankEntry& rank : run.ranks) {
    const Ns late_ns = rank.step_lateness ? rank.lateness.late_ns - rank.step_lateness->late_ns : 0;
    outside_ns += late_ns;
    in_steps_ns += judged_lateness(rank).late_ns;
    if (late_ns > most_ns) most_ns = late_ns, latest = &rank;
  }
  if (latest == nullptr || outside_ns <= in_steps_ns) return {};
  const std::string cause = cause_text(latest->lateness);
  return fmt::format("Outside of the steps, warm-up included, ranks came {} after all others, {} of it {}{}.",
                     time_text(static_cast<double>(outside_ns)),
                     share_text(ratio(static_cast<double>(most_ns), static_cast<double>(outside_ns))), rank_text(*latest),
                     cause.empty() ? "" : " (in the whole capture " + cause + ")");
}

std::string clock_sentence(const Run& run) {
  double worst = 0;
  for (const RankEntry& rank : run.ranks) worst = std::max(worst, rank.residual_ns.value_or(0));
  if (worst <= 0) return {};
  return fmt::format(
      "Times of different ranks are comparable to about {} (1 sigma). A rank counts as last where it is later than that by three sigma.",
      time_text(worst));
}

}  // namespace

Blocks ranks(const Run& run) {
  if (run.ranks.empty()) return {};
  const bool one_capture =
      std::all_of(run.ranks.begin(), run.ranks.end(), [](const RankEntry& rank) { return rank.clock == RankClock::kMachine; });
  Blocks out = {
      Heading{"Ranks", "ranks"},
      Paragraph{one_capture
                    ? "Processes that have collectives together, recorded by one clock. A rank is late where it comes after all others."
                    : "The captures of the ranks were put on one clock by the ends of collectives, which all members leave together."}};
  std::vector<std::string> sentences;
  for (std::string text : {straggler_sentence(run), outside_sentence(run), clock_sentence(run)})
    if (!text.empty()) sentences.push_back(std::move(text));
  add(out, notes(sentences));
  add(out, lateness_of(run));
  for (auto& part : {rank_matrix(run), rank_budgets(run), rank_transfers(run)}) out.insert(out.end(), part.begin(), part.end());
  if (!one_capture) add(out, clocks_of(run));
  return out;
}

}  // namespace nl::exporters::report

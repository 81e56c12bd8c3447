#include <fmt/format.h>

#include <algorithm>

#include "exporters/report/sections/sections.h"
#include "exporters/report/text/run_text.h"

namespace nl::exporters::report {
namespace {

// "0–7"; "0, 4, 8"; of many "0, 8, 16 … 120 (16 ranks)".
std::string members_text(const std::vector<std::uint32_t>& ranks) {
  constexpr std::size_t kMostNamed = 6;
  if (ranks.size() > 2 && ranks.back() - ranks.front() + 1 == ranks.size()) return fmt::format("{}–{}", ranks.front(), ranks.back());
  std::string text;
  const bool cut = ranks.size() > kMostNamed;
  for (std::size_t i = 0; i < (cut ? 3 : ranks.size()); ++i) text += fmt::format("{}{}", i > 0 ? ", " : "", ranks[i]);
  return cut ? fmt::format("{} … {} ({} ranks)", text, ranks.back(), ranks.size()) : text;
}

Cell rate_cell(double bytes_per_s) { return Cell(bytes_rate_text(bytes_per_s), bytes_per_s); }

Table rates_table(const Run& run) {
  Table table{"Bandwidth of collectives",
              texts({"Kind", "Ranks"}) + numbers({"Calls", "Bytes per call", "Transfer", "Algorithm bandwidth", "Bus bandwidth"})};
  for (const CollectiveRate& rate : run.collective_rates) {
    const double bytes = ratio(static_cast<double>(rate.bytes), static_cast<double>(rate.calls)).value_or(0);
    table.rows.push_back({key_cell(rate.kind), text_cell(members_text(rate.ranks)), count_cell(rate.calls), Cell(bytes_text(bytes), bytes),
                          time_cell(static_cast<double>(rate.transfer_ns)), rate_cell(rate.algorithm_bytes_per_s),
                          rate_cell(rate.bus_bytes_per_s)});
  }
  return table;
}

Table pairs_table(const Run& run) {
  Table table{"Sends and receives", texts({"Ranks"}) + numbers({"Calls", "Lower waits", "Higher waits", "Transfer"})};
  for (const RankPair& pair : run.rank_pairs)
    table.rows.push_back({text_cell(members_text({pair.first, pair.second})), count_cell(pair.calls),
                          time_cell(static_cast<double>(pair.first_waited_ns)), time_cell(static_cast<double>(pair.second_waited_ns)),
                          time_cell(static_cast<double>(pair.transfer_ns))});
  return table;
}

Table experts_table(const Run& run) {
  Table table{"Experts of the ranks", texts({"Ranks"}) + numbers({"Exchanges", "Mean", "Busiest of each", "Longer"}) +
                                          texts({"Busiest in all"}) + numbers({"Its experts", "Busiest in"}) + texts({"Kernel"})};
  for (const ExpertLoad& load : run.expert_loads)
    table.rows.push_back({text_cell(members_text(load.ranks)), count_cell(load.rounds), time_cell(static_cast<double>(load.mean_ns)),
                          time_cell(static_cast<double>(load.most_ns)), time_cell(static_cast<double>(load.excess_ns())),
                          text_cell(fmt::format("rank {}", load.busiest)), time_cell(static_cast<double>(load.busiest_ns)),
                          share_cell(ratio(static_cast<double>(load.busiest_rounds), static_cast<double>(load.rounds))),
                          text_cell(load.kernel.empty() ? kNoValue : load.kernel)});
  return table;
}

}  // namespace

Blocks rank_transfers(const Run& run) {
  Blocks out;
  if (!run.collective_rates.empty()) {
    add(out, Paragraph{
                 "How fast collectives move their data once the last member is there. What the links could carry is not known: captures do "
                 "not tell which link a collective took."});
    add(out, rates_table(run));
  }
  if (!run.expert_loads.empty()) {
    add(out, Paragraph{"What experts compute in the steps from one all-to-all to the next. All ranks of a group wait for the busiest of "
                       "each exchange; what a "
                       "slower GPU takes longer for everything is left out."});
    add(out, experts_table(run));
  }
  if (!run.rank_pairs.empty()) {
    add(out, Paragraph{"Sends and receives: how long each of the two ranks was there before the other one."});
    add(out, pairs_table(run));
  }
  return out;
}

}  // namespace nl::exporters::report

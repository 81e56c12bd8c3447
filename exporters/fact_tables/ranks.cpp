#include "exporters/fact_tables/table.h"
#include "model/words.h"

// A row for every rank of a run of several.
namespace nl::exporters::fact_tables {
namespace {

using enum Type;

Column of_rank(const char* name, Type type, const char* unit, const char* help, Value (*read)(const RankEntry&)) {
  return {name, type, unit, help, [read](const Row& row) { return read(*row.rank); }};
}

Value first_of(const auto& numbers) { return numbers.empty() ? Value() : Value(static_cast<std::int64_t>(numbers.front())); }

// Of a clock that was not fitted an offset of zero would be a claim.
bool is_fitted(const RankEntry& rank) { return rank.clock == RankClock::kCollectives; }

void add_place(std::vector<Column>& columns) {
  using Rank = const RankEntry&;
  columns.insert(
      columns.end(),
      {of_rank("rank", kInteger, "", "its number", [](Rank rank) { return count(rank.rank); }),
       of_rank("source", kText, "", "what told the number: environment, file-name; order: ranks were only counted",
               [](Rank rank) { return text(key_of(rank.source)); }),
       of_rank("host", kText, "", "its machine", [](Rank rank) { return text(rank.host); }),
       of_rank("pid", kInteger, "", "its first process, as it is called in the run", [](Rank rank) { return first_of(rank.pids); }),
       of_rank("processes", kInteger, "", "how many processes it has", [](Rank rank) { return positive(rank.pids.size()); }),
       of_rank("gpu", kInteger, "", "number of its first GPU", [](Rank rank) { return first_of(rank.devices); }),
       of_rank("gpus", kInteger, "", "how many GPUs it uses", [](Rank rank) { return count(rank.devices.size()); })});
}

void add_clock(std::vector<Column>& columns) {
  using Rank = const RankEntry&;
  columns.insert(
      columns.end(),
      {of_rank("clock", kText, "", "what put its times on the clock of the first rank", [](Rank rank) { return text(key_of(rank.clock)); }),
       of_rank("offset_ns", kInteger, "ns", "that its clock was ahead; null: not fitted",
               [](Rank rank) { return is_fitted(rank) ? Value(rank.offset_ns) : Value(); }),
       of_rank("drift_ppm", kReal, "ppm", "how much faster its clock runs; null: not fitted",
               [](Rank rank) { return is_fitted(rank) ? Value(rank.drift_ppm) : Value(); }),
       of_rank("drift_error_ppm", kReal, "ppm", "of drift_ppm, 1 sigma", [](Rank rank) { return number(rank.drift_error_ppm); }),
       of_rank("residual_ns", kReal, "ns", "ends of collectives beside the fitted clock, 1 sigma",
               [](Rank rank) { return number(rank.residual_ns); }),
       of_rank("residual_max_ns", kReal, "ns", "the largest", [](Rank rank) { return number(rank.residual_max_ns); }),
       of_rank("fitted_collectives", kInteger, "", "whose ends were fitted",
               [](Rank rank) { return is_fitted(rank) ? count(rank.collectives) : Value(); })});
}

void add_lateness(std::vector<Column>& columns, const std::string& prefix, const std::string& where,
                  const RankLateness* (*lateness)(const RankEntry&)) {
  const auto add = [&](const char* name, Type type, const char* unit, const std::string& help, Value (*read)(const RankLateness&)) {
    columns.push_back({prefix + name, type, unit, help + where, [lateness, read](const Row& row) {
                         const RankLateness* late = lateness(*row.rank);
                         return late != nullptr ? read(*late) : Value();
                       }});
  };
  using Late = const RankLateness&;
  add("collectives", kInteger, "", "that all members were seen in", [](Late late) { return count(late.collectives); });
  add("last", kInteger, "", "of them: it came last, by more than the clocks may be off", [](Late late) { return count(late.last); });
  add("late_ns", kInteger, "ns", "in those: after the last but one", [](Late late) { return Value(late.late_ns); });
  add("waited_ns", kInteger, "ns", "until the last one came, in all collectives", [](Late late) { return Value(late.waited_ns); });
  add("computing_ns", kInteger, "ns", "of late_ns: its GPU computed longer than those of the others",
      [](Late late) { return Value(late.computing_ns); });
  add("host_ns", kInteger, "ns", "of late_ns: its GPU waited longer for its program", [](Late late) { return Value(late.host_ns); });
  add("slowest_kernel", kText, "", "ran the longest above its mean on the others, where it computed longer",
      [](Late late) { return text(late.slowest_kernel); });
  add("slowest_range", kText, "", "its program was in while its GPU waited", [](Late late) { return text(late.slowest_range); });
}

// Without collectives that were paired nothing tells them.
const RankLateness* in_capture(const RankEntry& rank) { return rank.lateness.collectives > 0 ? &rank.lateness : nullptr; }
const RankLateness* in_steps(const RankEntry& rank) { return rank.step_lateness ? &*rank.step_lateness : nullptr; }

// Of the steps of the whole run.
void add_steps(std::vector<Column>& columns) {
  using Rank = const RankEntry&;
  columns.push_back(of_rank("steps_latest", kInteger, "", "of the run's steps: no other rank was as late",
                            [](Rank rank) { return rank.lateness.collectives > 0 ? count(rank.lateness.steps_latest) : Value(); }));
  columns.push_back(of_rank("worst_step_ns", kInteger, "ns", "of late_ns: in the step that has the most of it",
                            [](Rank rank) { return rank.lateness.collectives > 0 ? Value(rank.lateness.worst_step_ns) : Value(); }));
}

Column of_rank_budget(const char* name, const char* help, Value (*read)(const RankBudget&)) {
  return {name, kInteger, "ns", help, [read](const Row& row) {
            const RankBudget& budget = row.rank->budget;
            return budget.wall_ns > 0 ? read(budget) : Value();
          }};
}

void add_rank_budget(std::vector<Column>& columns) {
  using Budget = const RankBudget&;
  columns.insert(
      columns.end(),
      {of_rank_budget("budget_wall_ns", "its GPUs in its steps, or from the first work to the last: the sum of the six that follow",
                      [](Budget budget) { return Value(budget.wall_ns); }),
       of_rank_budget("budget_compute_ns", "a compute kernel runs", [](Budget budget) { return Value(budget.compute_ns); }),
       of_rank_budget("budget_exchange_ns", "else communication: all members have come, or who came when is not known",
                      [](Budget budget) { return Value(budget.exchange_ns); }),
       of_rank_budget("budget_wait_ns", "else a collective that not all members have come to",
                      [](Budget budget) { return Value(budget.wait_ns); }),
       of_rank_budget("budget_receive_wait_ns", "else a send or receive whose partner has not come",
                      [](Budget budget) { return Value(budget.receive_wait_ns); }),
       of_rank_budget("budget_copy_ns", "else a copy or a set", [](Budget budget) { return Value(budget.copy_ns); }),
       of_rank_budget("budget_idle_ns", "nothing runs", [](Budget budget) { return Value(budget.idle_ns()); })});
}

void each_rank(const Run& run, const WorkloadIdentity& identity, const UseRow& use) {
  for (std::size_t i = 0; i < run.ranks.size(); ++i) use({.run = run, .identity = identity, .number = i, .rank = &run.ranks[i]});
}

}  // namespace

Table ranks_table() {
  std::vector<Column> columns = {{"run_id", kText, "", "runs.run_id", [](const Row& row) { return text(row.run.run_id); }}};
  add_place(columns);
  add_clock(columns);
  add_lateness(columns, "", "; in the whole capture", in_capture);
  add_lateness(columns, "step_", "; in its steps, null: none are known", in_steps);
  add_steps(columns);
  add_rank_budget(columns);
  return {"ranks", "a rank of a run of several", std::move(columns), each_rank};
}

}  // namespace nl::exporters::fact_tables

#include <algorithm>

#include "analysis/verdicts/rules/fields.h"
#include "model/rank_shares.h"
#include "model/words.h"

namespace nl::analysis::rules {
namespace {

const CommunicationTotals* talk(const Subject& s) {
  if (s.budget() == nullptr) return nullptr;
  return s.scope == RuleScope::kStage ? &s.totals->stages[s.index].communication : &s.totals->communication;
}

Value of_wall(const Subject& s, Read time) { return s.budget() ? time(s).over(s.budget()->wall_ns) : Value::not_captured(); }

constexpr Read kExposedTime = member_of<&Subject::budget, &Budget::communication_ns>;

Value talk_time(const Subject& s) {
  return talk(s) ? Value::of(static_cast<double>(s.budget()->communication_ns) + talk(s)->overlapped_ns) : Value::not_captured();
}

Value overlap_share(const Subject& s) {
  const Value all = talk_time(s);
  return all.known ? Value::of(talk(s)->overlapped_ns).over(all.number) : all;
}

// Where ranks cannot be paired, another capture would not help: the value is none, not "not captured".
Value late_time(const Subject& s) {
  if (!talk(s)) return Value::not_captured();
  return talk(s)->late_peer_ns ? Value::of(*talk(s)->late_peer_ns) : Value::none();
}

const GpuSpread* spread(const Subject& s) { return pointer_into(s.stage().gpu_spread); }

bool has_steps_of_ranks(const Subject& s) { return are_rank_steps(*s.run, s.stage().name); }

const RankEntry* slowest_rank(const Subject& s) { return spread(s) ? s.totals->stages[s.index].slowest_rank : nullptr; }

// Empty where captures of ranks were not joined, or the rank was never late.
const RankLateness* lateness(const Subject& s) {
  const RankEntry* rank = slowest_rank(s);
  if (rank == nullptr) return nullptr;
  const RankLateness& late = judged_lateness(*rank);
  return late.last > 0 ? &late : nullptr;
}

Value share_of_budgets(const Subject& s, Ns RankBudget::* part) {
  const auto share = rank_share(*s.run, part);
  return share ? Value::of(*share) : Value::none();
}

Value time_of_share(const Subject& s, Value share) {
  return share.known && s.budget() ? Value::of(share.number * static_cast<double>(s.budget()->wall_ns)) : share;
}

// In a pipeline each stage waits for what the one before sends.
double late_without_pairs(const Subject& s) {
  double late_ns = 0;
  for (const Communication& each : s.stage().communication)
    if (s.run->rank_pairs.empty() || each.kind != Collective::kSendRecv) late_ns += static_cast<double>(each.late_peer_ns.value_or(0));
  return late_ns / s.totals->stages[s.index].gpus;
}

// Where the ranks' budgets do not tell, at most all that no kernel hides.
Value late_wait_time(const Subject& s) {
  const Value late = late_time(s);
  if (!late.known || !s.budget()) return late;
  if (has_steps_of_ranks(s)) return time_of_share(s, share_of_budgets(s, &RankBudget::wait_ns));
  return Value::of(std::min(late_without_pairs(s), static_cast<double>(s.budget()->communication_ns)));
}

// Fewer steps tell nothing about how often a rank is late.
constexpr std::uint64_t kFewestSteps = 4;

// The steps tell of a part of them, too, whether its lateness lies together.
Value worst_step_share(const Subject& s) {
  const RankEntry* rank = slowest_rank(s);
  if (rank == nullptr || !rank->step_lateness || s.run->rank_matrix.steps < kFewestSteps) return Value::none();
  return Value::of(static_cast<double>(rank->step_lateness->worst_step_ns)).over(static_cast<double>(rank->step_lateness->late_ns));
}

Value share_of_late(const Subject& s, Ns RankLateness::* part) {
  const RankLateness* late = lateness(s);
  return late ? Value::of(static_cast<double>(late->*part)).over(static_cast<double>(late->late_ns)) : Value::none();
}

Value name_of_late(const Subject& s, std::string RankLateness::* name) {
  const RankLateness* late = lateness(s);
  return late && !(late->*name).empty() ? Value::of_text(late->*name) : Value::none();
}

// No value where no send could be paired with its receive.
bool has_pairs(const Subject& s) { return has_steps_of_ranks(s) && !s.run->rank_pairs.empty(); }

Value receive_wait_share(const Subject& s) { return has_pairs(s) ? share_of_budgets(s, &RankBudget::receive_wait_ns) : Value::none(); }

Value receive_wait_time(const Subject& s) { return time_of_share(s, receive_wait_share(s)); }

// The rank that waits the longest part of its steps; nullptr: none does.
const RankEntry* most_waiting(const Subject& s) {
  if (!has_pairs(s)) return nullptr;
  const RankEntry* most = nullptr;
  const auto share = [](const RankEntry& rank) {
    return rank.budget.wall_ns > 0 ? static_cast<double>(rank.budget.receive_wait_ns) / static_cast<double>(rank.budget.wall_ns) : 0;
  };
  for (const RankEntry& rank : s.run->ranks)
    if (share(rank) > (most != nullptr ? share(*most) : 0)) most = &rank;
  return most;
}

// Of the group whose imbalance costs the most; nullptr: no experts are known, or the windows of the stage are not the ranks' steps.
const ExpertLoad* experts(const Subject& s) {
  return has_steps_of_ranks(s) && !s.run->expert_loads.empty() ? &s.run->expert_loads.front() : nullptr;
}

// What all ranks would save, as a share of their steps: the mean, as their other waits are told.
Value expert_imbalance_share(const Subject& s) {
  if (experts(s) == nullptr) return Value::none();
  double excess_ns = 0, wall_ns = 0;
  for (const ExpertLoad& load : s.run->expert_loads)
    excess_ns += static_cast<double>(load.excess_ns()) * static_cast<double>(load.ranks.size());
  for (const RankEntry& rank : s.run->ranks) wall_ns += static_cast<double>(rank.budget.wall_ns);
  return Value::of(excess_ns).over(wall_ns);
}

Value busiest_experts(const Subject& s) {
  return experts(s) != nullptr && !s.totals->busiest_experts.empty() ? Value::of_text(s.totals->busiest_experts) : Value::none();
}

// The value of the whole capture, because there may be no stages.
Value of_capture(const Subject& s, double CaptureTotals::* part) {
  return Value::of(s.totals->capture.*part).over(s.totals->capture.busy_ns);
}

// What the first of the ranks that did not come did last; nullptr: no rank waits for another when the captures end.
const AbsentRank* absent_rank(const Subject& s) {
  return s.run->rank_hang && !s.run->rank_hang->absent.empty() ? &s.run->rank_hang->absent.front() : nullptr;
}

Value name_if(const std::string& name) { return name.empty() ? Value::none() : Value::of_text(std::string_view(name)); }

}  // namespace

void add_communication_fields(std::vector<Field>& fields) {
  const FieldGroup add(fields, Capture::kCuda, Place::kBudget);
  add("exposed_communication_time", Unit::kTime, "communication with other GPUs runs, and no compute kernel", kExposedTime);
  add("exposed_communication_share", Unit::kShare, "`exposed_communication_time` ÷ `total_time`",
      [](const Subject& s) { return of_wall(s, kExposedTime); });
  add("communication_time", Unit::kTime, "communication runs, overlapped with compute kernels or not", talk_time);
  add("communication_share", Unit::kShare, "`communication_time` ÷ `total_time`", [](const Subject& s) { return of_wall(s, talk_time); });
  add("communication_overlap_share", Unit::kShare, "of `communication_time`: a compute kernel runs on the same GPU", overlap_share);
}

void add_stage_communication_fields(std::vector<Field>& fields) {
  const FieldGroup add(fields, Capture::kCuda, Place::kSelf);
  add("collectives", Unit::kCount, "collectives, sends and peer copies of all GPUs", member_of<talk, &CommunicationTotals::count>);
  add("late_peer_time", Unit::kTime, "of the collectives: waiting for the last rank; no value where ranks cannot be paired", late_time);
  add("late_peer_share", Unit::kShare, "`late_peer_time` ÷ `total_time`", [](const Subject& s) { return of_wall(s, late_time); });
  add("late_wait_time", Unit::kTime,
      "waiting for the last rank while no compute kernel runs, the mean over ranks; where the ranks' steps are not of this stage, without "
      "sends and at most `exposed_communication_time`; no value where ranks cannot be paired",
      late_wait_time);
  add("late_wait_share", Unit::kShare, "`late_wait_time` ÷ `total_time`", [](const Subject& s) { return of_wall(s, late_wait_time); });
  add("slowest_worst_step_share", Unit::kShare,
      "of the time by which the slowest rank is late in the ranks' steps: in one of them; no value with fewer than 4 steps",
      worst_step_share);
  add("gpu_spread", Unit::kShare, "(most − mean) ÷ mean of the GPUs' computing time; no value with one GPU",
      [](const Subject& s) { return spread(s) ? Value::of(spread(s)->compute_spread) : Value::none(); });
  add("slowest_last_share", Unit::kShare, "of the collectives: the slowest rank reaches them last", [](const Subject& s) {
    return spread(s) && spread(s)->slowest_last_share ? Value::of(*spread(s)->slowest_last_share) : Value::none();
  });
  add("slowest_last", Unit::kCount, "of the collectives: the slowest rank reaches them last",
      [](const Subject& s) { return spread(s) ? Value::of(static_cast<double>(s.totals->stages[s.index].slowest_last)) : Value::none(); });
  add("slowest_late_share", Unit::kShare,
      "of the time by which GPUs come to collectives after all others: the slowest rank does; of runs before format 3.10 "
      "`slowest_last_share`",
      [](const Subject& s) {
        if (!spread(s) || !spread(s)->slowest_last_share) return Value::none();
        return Value::of(spread(s)->slowest_late_share.value_or(*spread(s)->slowest_last_share));
      });
  add("receive_wait_time", Unit::kTime,
      "in sends and receives before the other end has come, and no compute kernel runs: the bubble of a pipeline, the mean over ranks; no "
      "value where sends could not be paired",
      receive_wait_time);
  add("receive_wait_share", Unit::kShare, "`receive_wait_time` ÷ `total_time`", receive_wait_share);
  add("most_receive_wait_share", Unit::kShare, "the same of the rank that waits the longest", [](const Subject& s) {
    const RankEntry* rank = most_waiting(s);
    return rank != nullptr ? Value::of(static_cast<double>(rank->budget.receive_wait_ns)).over(static_cast<double>(rank->budget.wall_ns))
                           : Value::none();
  });
  add("most_waiting_rank", Unit::kCount, "the number of that rank; no value where ranks were only counted", [](const Subject& s) {
    const RankEntry* rank = most_waiting(s);
    return rank != nullptr && number_known(*rank) ? Value::of(rank->rank) : Value::none();
  });
  add("expert_imbalance_time", Unit::kTime,
      "experts of the busiest rank compute longer than the mean, from each all-to-all to the next, the mean over ranks; no value where no "
      "experts are known",
      [](const Subject& s) { return time_of_share(s, expert_imbalance_share(s)); });
  add("expert_imbalance_share", Unit::kShare, "`expert_imbalance_time` ÷ `total_time`", expert_imbalance_share);
  add("busiest_experts_above", Unit::kShare, "(most − mean) ÷ mean of what the experts of the ranks compute", [](const Subject& s) {
    const ExpertLoad* load = experts(s);
    return load != nullptr ? Value::of(static_cast<double>(load->busiest_ns - load->mean_ns)).over(static_cast<double>(load->mean_ns))
                           : Value::none();
  });
  add("busiest_experts_rounds", Unit::kShare,
      "of the stretches from an all-to-all to the next: the experts with the most to compute in all have the most", [](const Subject& s) {
        const ExpertLoad* load = experts(s);
        return load != nullptr ? Value::of(static_cast<double>(load->busiest_rounds)).over(static_cast<double>(load->rounds))
                               : Value::none();
      });
  add.text("busiest_experts", "the GPU and process whose experts compute the most", busiest_experts);
  add.text("expert_kernel", "the kernel of the experts that takes that GPU longer than the mean", [](const Subject& s) {
    const ExpertLoad* load = experts(s);
    return load != nullptr && !load->kernel.empty() ? Value::of_text(load->kernel) : Value::none();
  });
  add.text("slowest_gpu", "the slowest GPU and its process",
           [](const Subject& s) { return spread(s) ? Value::of_text(s.totals->stages[s.index].slowest_gpu) : Value::none(); });
  add("slowest_computes_share", Unit::kShare,
      "of the time by which the slowest rank is late, in the ranks' steps where they are known: its GPU computes longer; no value where "
      "captures of ranks were not joined",
      [](const Subject& s) { return share_of_late(s, &RankLateness::computing_ns); });
  add("slowest_host_share", Unit::kShare, "likewise: its GPU waits for its program longer",
      [](const Subject& s) { return share_of_late(s, &RankLateness::host_ns); });
  add.text("slowest_kernel", "the kernel that takes the slowest rank longer than the others",
           [](const Subject& s) { return name_of_late(s, &RankLateness::slowest_kernel); });
  add.text("slowest_range", "the range in which the slowest rank's program is while its GPU waits",
           [](const Subject& s) { return name_of_late(s, &RankLateness::slowest_range); });
}

void add_capture_communication_fields(std::vector<Field>& fields) {
  const FieldGroup add(fields, Capture::kCuda, Place::kCoverage);
  add("capture_communication_share", Unit::kShare, "of the GPUs' busy time in the whole capture: exposed communication",
      [](const Subject& s) { return of_capture(s, &CaptureTotals::exposed_ns); });
  add("capture_overlap_share", Unit::kShare, "of the same: communication while a compute kernel runs",
      [](const Subject& s) { return of_capture(s, &CaptureTotals::overlapped_ns); });
  add("capture_late_peer_share", Unit::kShare, "of the same: waiting for the last rank; no value where ranks cannot be paired",
      [](const Subject& s) { return s.totals->capture.paired ? of_capture(s, &CaptureTotals::late_peer_ns) : Value::none(); });
  const FieldGroup hang(fields, Capture::kCuda, Place::kRankHang);
  hang("rank_hang_time", Unit::kTime,
       "ranks wait in a collective until the captures end, longer than any took before; no value where none does or captures do not tell",
       [](const Subject& s) { return absent_rank(s) != nullptr ? Value::of(s.run->rank_hang->waited_ns) : Value::none(); });
  hang.text("waiting_ranks", "the ranks that wait so", [](const Subject& s) { return name_if(s.totals->waiting_ranks); });
  hang.text("absent_ranks", "the ranks that they wait for", [](const Subject& s) { return name_if(s.totals->absent_ranks); });
  hang.text("hang_collective", "the collective that the first of them waits in",
            [](const Subject& s) { return absent_rank(s) != nullptr ? Value::of_text(key_of(s.run->rank_hang->kind)) : Value::none(); });
  hang.text("absent_range", "the innermost range that the first absent rank was in last",
            [](const Subject& s) { return absent_rank(s) != nullptr ? name_if(absent_rank(s)->range) : Value::none(); });
  hang.truth("absent_in_range", "it is in that range until the captures end",
             [](const Subject& s) { return absent_rank(s) != nullptr ? Value::of_truth(absent_rank(s)->in_range) : Value::none(); });
}

}  // namespace nl::analysis::rules

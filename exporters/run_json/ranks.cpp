#include "exporters/run_json/parts.h"

namespace nl::exporters {

void fields(auto& io, Ref<decltype(io), RankLateness> l) {
  io("collectives", l.collectives, "that all members were seen in");
  io("last", l.last, "it came last to, by more than the clocks may be off");
  io("late_ns", l.late_ns, "in those: after the last but one");
  io("waited_ns", l.waited_ns, "until the last one came, in all collectives");
  io("computing_ns", l.computing_ns, "of late_ns: where its GPU computed longer than those of the others");
  io("host_ns", l.host_ns, "of late_ns: where its GPU waited longer for its program");
  io.known("slowest_kernel", l.slowest_kernel, "ran the longest above its mean on the others, where it computed longer; null: not known");
  io.known("slowest_range", l.slowest_range, "its program was in while its GPU waited; null: not known");
  io("steps_latest", l.steps_latest, "of the steps of rank_matrix: no other rank was as late");
  io("worst_step_ns", l.worst_step_ns, "of late_ns: in the one of those steps that has the most of it");
}

void fields(auto& io, Ref<decltype(io), RankBudget> b) {
  io("wall_ns", b.wall_ns, "of all of its GPUs: the windows that are the steps, or the time from the first work of all ranks to the last");
  io("compute_ns", b.compute_ns, "a compute kernel runs");
  io("exchange_ns", b.exchange_ns, "else communication: all members have come, or who came when is not known");
  io("wait_ns", b.wait_ns, "else a collective that not all members have come to");
  io("receive_wait_ns", b.receive_wait_ns, "else a send or receive whose partner has not come");
  io("copy_ns", b.copy_ns, "else a copy or a set; what is left of wall_ns, nothing runs");
}

void fields(auto& io, Ref<decltype(io), RankEntry> r) {
  io("rank", r.rank, "its number");
  io.code("source", r.source, "what told the number");
  io.known("host", r.host, "its machine; null: not known");
  io("pids", r.pids, "its processes, as they are called in this run: of two of one number, one got another");
  io("devices", r.devices, "its GPUs, likewise", kAnySign);
  io.known("file", r.file, "its capture; null: of several ranks");
  io.code("clock", r.clock, "what put its times on the clock of the first rank");
  io("capture_end_ns", r.capture_end_ns, "time of the run at which its capture ends, until format 3.11 not known; null: it does not tell",
     kAnySign);
  io("offset_ns", r.offset_ns, "that its clock of the day was ahead; where captures have none, the time since its start", kAnySign);
  io("drift_ppm", r.drift_ppm, "how much faster its clock runs", kAnySign);
  io("drift_error_ppm", r.drift_error_ppm, "of drift_ppm, 1 sigma, until format 3.11 not known; null: not fitted");
  io("drift_from_ns", r.drift_from_ns, "time of the run at which offset_ns holds; null: not fitted", kAnySign);
  io("residual_ns", r.residual_ns, "ends of collectives beside the fitted line, 1 sigma; null: not fitted");
  io("residual_max_ns", r.residual_max_ns, "the largest; null: not fitted");
  io("collectives", r.collectives, "whose ends were fitted");
  io("lateness", r.lateness, "how late it came to collectives of the whole capture");
  io("step_lateness", r.step_lateness, "to those of its steps, until format 3.10 not known; null: no steps are known");
  io("budget", r.budget, "what its GPUs did in its steps, until format 3.10 not known");
}

void fields(auto& io, Ref<decltype(io), MatrixRow> r) {
  io("start_ns", r.start_ns, "the first rank comes to the first collective", kAnySign);
  io("late_ns", r.late_ns, "by rank_matrix.ranks: after the last but one, the sum over collectives");
}

void fields(auto& io, Ref<decltype(io), RankMatrix> m) {
  io.known("stage", m.stage, "whose windows are the steps; null: no steps are known, and each collective counts as one");
  io("steps", m.steps, "that have a collective; warm-up is left out");
  io("steps_each", m.steps_each, "that a row stands for; the last one may have fewer");
  io("late_steps", m.late_steps, "that some rank was late in");
  io("changes", m.changes, "of them: another rank was the latest than in the one before");
  io("outside", m.outside, "collectives that are in no step");
  io("ranks", m.ranks, "the columns: those that were late the longest, 64 at most, by number");
  io("rows", m.rows, "steps that follow each other, by time; 32 rows at most");
}

void fields(auto& io, Ref<decltype(io), CollectiveRate> r) {
  io.code("kind", r.kind, "all-reduce, all-gather …");
  io("ranks", r.ranks, "the members, by number");
  io("calls", r.calls, "whose size is known, of about one size: from one power of two to the next");
  io("bytes", r.bytes, "sum; of a call the larger of what a member gives and gets");
  io("transfer_ns", r.transfer_ns, "sum: from the arrival of the last member until it leaves");
  io("algorithm_bytes_per_s", r.algorithm_bytes_per_s, "bytes ÷ transfer_ns");
  io("bus_bytes_per_s", r.bus_bytes_per_s,
     "what each link carries: that × 2 (n − 1) ÷ n of an all-reduce, (n − 1) ÷ n of others, 1 of a send");
}

void fields(auto& io, Ref<decltype(io), RankPair> p) {
  io("first", p.first, "the lower number");
  io("second", p.second, "the higher number");
  io("calls", p.calls, "sends and receives between them");
  io("first_waited_ns", p.first_waited_ns, "the first was there and the second was not");
  io("second_waited_ns", p.second_waited_ns, "the second was there and the first was not");
  io("transfer_ns", p.transfer_ns, "once both were there");
}

void fields(auto& io, Ref<decltype(io), ExpertLoad> e) {
  io("ranks", e.ranks, "the members of the group, by number");
  io("rounds", e.rounds, "stretches of their steps from an all-to-all to the next in which experts compute");
  io("mean_ns", e.mean_ns, "what experts compute, sum over the rounds: of all members the mean");
  io("most_ns", e.most_ns, "likewise of the member with the most, less what its GPU is slower at all that it does");
  io("busiest", e.busiest, "the rank whose experts compute the most in all");
  io("busiest_ns", e.busiest_ns, "what they compute in all rounds");
  io("busiest_rounds", e.busiest_rounds, "in which no other rank's computed more");
  io.known("kernel", e.kernel, "of the experts, takes that rank the longest above the mean; null: not known");
}

void fields(auto& io, Ref<decltype(io), AbsentRank> a) {
  io("rank", a.rank, "its number");
  io.known("range", a.range, "the innermost that its program was in last; null: it has none");
  io("in_range", a.in_range, "it is in it until the captures end");
  io("since_ns", a.since_ns, "when that range began; where the rank is in none, when the last one ended", kAnySign);
}

void fields(auto& io, Ref<decltype(io), RankHang> h) {
  io("waiting", h.waiting, "ranks that wait in a collective until the captures end");
  io("absent", h.absent, "ranks of their groups that did not come to it");
  io.code("kind", h.kind, "the collective that the first of them waits in");
  io("since_ns", h.since_ns, "when it began to wait", kAnySign);
  io("waited_ns", h.waited_ns, "from then until the first capture ends");
}

void rank_fields(auto& io, Ref<decltype(io), Run> run) {
  io("ranks", run.ranks, "of captures that were joined, by number; empty: one capture");
  io("rank_matrix", run.rank_matrix, "how late each rank was in each step");
  io("collective_rates", run.collective_rates,
     "by kind, group and size, those that take the longest first, 32 at most; empty: no size is known");
  io("expert_loads", run.expert_loads,
     "experts of groups of ranks that exchange tokens all to all, until format 3.11 not known; empty: there are none, or they cannot be "
     "told");
  io("rank_hang", run.rank_hang,
     "ranks that wait for another one when the captures end, longer than any collective took, until format 3.11 not known; null: none do");
  io("rank_pairs", run.rank_pairs,
     "sends and receives of two ranks, those that wait the longest first, 64 at most; empty: none could be paired");
}

template void rank_fields(JsonWriter&, const Run&);
template void rank_fields(JsonReader&, Run&);
template void rank_fields(SchemaWriter&, const Run&);

}  // namespace nl::exporters

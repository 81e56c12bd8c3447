#include <nlohmann/json.hpp>

#include "exporters/collectives/collectives.h"
#include "exporters/collectives/words.h"

namespace nl::exporters {
namespace collectives {
namespace {

using nlohmann::ordered_json;

template <class Value>
ordered_json or_null(const std::optional<Value>& value) {
  return value ? ordered_json(*value) : ordered_json();
}

template <class Each, class Of>
ordered_json list_of(const std::vector<Each>& all, Of of) {
  ordered_json list = ordered_json::array();
  for (const Each& each : all) list.push_back(of(each));
  return list;
}

ordered_json form_json(const CallForm& form) {
  return {{"kind", form.kind},
          {"input_sizes", form.inputs},
          {"output_sizes", form.outputs},
          {"input_dtypes", form.input_dtypes},
          {"output_dtypes", form.output_dtypes}};
}

ordered_json frames_json(const std::vector<CallFrame>& stack) {
  return list_of(
      stack, [](const CallFrame& frame) { return ordered_json{{"function", frame.function}, {"file", frame.file}, {"line", frame.line}}; });
}

ordered_json member_json(const MemberState& member) {
  return {{"rank", member.rank},
          {"has_dump", member.has_dump},
          {"first", or_null(member.first)},
          {"called", or_null(member.called)},
          {"started", or_null(member.started)},
          {"completed", or_null(member.completed)}};
}

ordered_json side_json(const MismatchSide& side) {
  return {{"ranks", side.ranks}, {"call", form_json(side.form)}, {"frames", frames_json(side.stack)}};
}

ordered_json mismatch_json(const Mismatch& mismatch) {
  return {{"sequence", mismatch.sequence},
          {"kind", key_of(mismatch.kind)},
          {"majority", mismatch.majority},
          {"sides", list_of(mismatch.sides, side_json)}};
}

ordered_json wait_json(const GroupWait& wait) {
  return {
      {"sequence", wait.sequence},   {"call", form_json(wait.form)},         {"frames", frames_json(wait.stack)}, {"started", wait.started},
      {"scheduled", wait.scheduled}, {"completed", wait.completed},          {"not_called", wait.not_called},     {"no_dump", wait.no_dump},
      {"unknown", wait.unknown},     {"done_elsewhere", wait.done_elsewhere}};
}

ordered_json group_json(const GroupReport& report) {
  return {{"name", report.group.name},
          {"description", report.group.description},
          {"ranks", report.group.ranks},
          {"members", list_of(report.members, member_json)},
          {"mismatch", report.mismatch ? mismatch_json(*report.mismatch) : ordered_json()},
          {"wait", report.wait ? wait_json(*report.wait) : ordered_json()}};
}

ordered_json peer_json(const FlightReport& report, const PeerWait& wait) {
  return {{"rank", wait.rank},
          {"call", wait.sends ? "send" : "recv"},
          {"peer", wait.peer},
          {"group", report.groups[wait.group].group.name},
          {"sequence", wait.sequence},
          {"state", key_of(wait.state)},
          {"peer_has_dump", wait.peer_has_dump},
          {"peer_called", or_null(wait.peer_called)},
          {"frames", frames_json(wait.stack)}};
}

ordered_json waited_for_json(const WaitedFor& each) {
  ordered_json last;
  if (!each.last_kind.empty())
    last = {{"kind", each.last_kind},
            {"group", each.last_group},
            {"sequence", each.last_sequence},
            {"state", key_of(each.last_state)},
            {"frames", frames_json(each.last_stack)}};
  return {{"rank", each.rank}, {"by", each.by}, {"waits_for", each.waits_for}, {"has_dump", each.has_dump}, {"last_call", last}};
}

ordered_json flight_json(const FlightReport& report) {
  ordered_json apart;
  if (report.apart_ns > 0) apart = {{"apart_ns", report.apart_ns}, {"early_rank", report.early_rank}, {"late_rank", report.late_rank}};
  return {{"verdict", key_of(report.verdict)},
          {"ranks", report.ranks},
          {"missing_ranks", report.missing},
          {"calls", report.calls},
          {"damaged_calls", report.damaged_calls},
          {"begin_late", report.begin_late},
          {"incomplete", report.incomplete},
          {"apart", apart},
          {"waited_for", list_of(report.waited_for, waited_for_json)},
          {"groups", list_of(report.groups, group_json)},
          {"peers", list_of(report.peers, [&](const PeerWait& wait) { return peer_json(report, wait); })}};
}

ordered_json rank_json(const RankSpeed& rank) {
  return {{"rank", rank.rank},
          {"host", rank.host},
          {"pid", rank.pid},
          {"calls", rank.calls},
          {"shortest", rank.shortest},
          {"median_us", rank.median_us},
          {"least_us", rank.least_us},
          {"most_us", rank.most_us},
          {"bus_gb_per_s", rank.bus_gbs},
          {"algorithm_gb_per_s", rank.algorithm_gbs}};
}

ordered_json speed_json(const CollectiveSpeed& speed) {
  return {{"communicator", speed.communicator},
          {"name", speed.name.empty() ? ordered_json() : ordered_json(speed.name)},
          {"kind", speed.kind},
          {"point_to_point", speed.point_to_point},
          {"size_bytes", speed.size_bytes},
          {"timing", key_of(speed.source)},
          {"ranks", speed.ranks},
          {"nodes", speed.nodes},
          {"absent_ranks", speed.absent},
          {"calls_of_all", speed.calls_of_all},
          {"by_rank", list_of(speed.by_rank, rank_json)}};
}

ordered_json inspector_json(const CollectiveReport& report) {
  return {{"files", report.inspector_files},
          {"calls", report.timed_calls},
          {"repeated_calls", report.repeated_calls},
          {"damaged_lines", report.damaged_lines},
          {"collectives", list_of(report.speeds, speed_json)}};
}

}  // namespace

ordered_json report_json(const CollectiveReport& report) {
  return {{"flight", report.flight ? flight_json(*report.flight) : ordered_json()},
          {"inspector", report.inspector_files > 0 ? inspector_json(report) : ordered_json()}};
}

}  // namespace collectives

nlohmann::ordered_json collectives_json(const CollectiveReport& report) { return collectives::report_json(report); }

}  // namespace nl::exporters

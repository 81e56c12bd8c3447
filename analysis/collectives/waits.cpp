#include "analysis/collectives/waits.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace nl::analysis::collectives {
namespace {

// A batch is as far as the last of its parts; PyTorch tells all of one batch alike.
CallState state_of(std::span<const RecordedCall* const> calls) {
  CallState least = CallState::kCompleted;
  for (const RecordedCall* call : calls) least = std::min(least, call->state);
  return least;
}

// A member can be done before all have called.
bool is_one_sided(CallRule rule) { return rule == CallRule::kRoot || rule == CallRule::kScatter || rule == CallRule::kGather; }

// The dump would have the call if the rank had made it.
bool would_have(const MemberCalls& member, std::uint64_t sequence) {
  if (!member.dump->has_every_call()) return false;
  if (!member.collectives.empty()) return member.collectives.back()->sequence < sequence;
  return !member.dump->begins_late();
}

void put(const MemberCalls& member, GroupWait& wait) {
  const auto calls = member.dump != nullptr ? member.at(wait.sequence) : std::span<const RecordedCall* const>();
  if (member.dump == nullptr) wait.no_dump.push_back(member.rank);
  else if (calls.empty()) (would_have(member, wait.sequence) ? wait.not_called : wait.unknown).push_back(member.rank);
  else if (state_of(calls) == CallState::kCompleted) wait.completed.push_back(member.rank);
  else (state_of(calls) == CallState::kStarted ? wait.started : wait.scheduled).push_back(member.rank);
}

GroupWait wait_at(const GroupCalls& group, std::uint64_t sequence) {
  GroupWait wait;
  wait.sequence = sequence;
  for (const MemberCalls& member : group.members) {
    const bool first = wait.started.empty() && wait.scheduled.empty();
    put(member, wait);
    if (!first || (wait.started.empty() && wait.scheduled.empty())) continue;
    const RecordedCall& call = *member.at(sequence).front();
    wait.form = member.dump->forms[call.form];
    wait.stack = member.dump->stacks[call.stack];
  }
  wait.done_elsewhere = !wait.completed.empty() && !is_one_sided(wait.form.rule);
  if (wait.done_elsewhere) {  // older dumps: their ranks have called meanwhile
    wait.unknown.insert(wait.unknown.end(), wait.not_called.begin(), wait.not_called.end());
    std::sort(wait.unknown.begin(), wait.unknown.end());
    wait.not_called.clear();
  }
  return wait;
}

struct PeerCall {
  bool sends = false;
  std::uint32_t peer = 0;  // of the job
};

std::optional<PeerCall> peer_call_of(const CallForm& form, const DumpGroup& group) {
  if (!form.peer || *form.peer >= group.ranks.size()) return std::nullopt;
  return PeerCall{form.rule == CallRule::kSend, group.ranks[*form.peer]};
}

// The calls of a member to or from one other.
std::vector<const RecordedCall*> calls_with(const MemberCalls& member, const DumpGroup& group, const PeerCall& to) {
  std::vector<const RecordedCall*> calls;
  for (const RecordedCall* call : member.peers)
    if (const auto one = peer_call_of(member.dump->forms[call->form], group); one && one->sends == to.sends && one->peer == to.peer)
      calls.push_back(call);
  return calls;
}

bool is_whole(const MemberCalls& member) { return member.dump->has_every_call() && !member.dump->begins_late(); }

// One of them may be done before the other is called, so that only an open one, or the numbers of both, show anything.
std::optional<bool> is_called(const MemberCalls& peer, const MemberCalls& member, const RecordedCall& call, const PeerCall& to,
                              const DumpGroup& group) {
  const auto theirs = calls_with(peer, group, {!to.sends, member.rank});
  if (std::any_of(theirs.begin(), theirs.end(), [](const RecordedCall* each) { return each->state != CallState::kCompleted; })) return true;
  if (!is_whole(peer) || !is_whole(member)) return std::nullopt;
  const auto ours = calls_with(member, group, to);
  const auto place = std::find(ours.begin(), ours.end(), &call) - ours.begin();
  return theirs.size() > static_cast<std::size_t>(place);
}

PeerWait peer_wait(const GroupCalls& group, const MemberCalls& member, const RecordedCall& call, const PeerCall& to) {
  PeerWait wait{member.rank, to.peer, 0, call.peer_sequence, to.sends, call.state, false, {}, member.dump->stacks[call.stack]};
  const auto peer = std::find_if(group.members.begin(), group.members.end(), [&](const MemberCalls& each) { return each.rank == to.peer; });
  wait.peer_has_dump = peer != group.members.end() && peer->dump != nullptr;
  if (wait.peer_has_dump) wait.peer_called = is_called(*peer, member, call, to, group.group);
  return wait;
}

}  // namespace

std::vector<MemberState> states_of(const GroupCalls& group) {
  std::vector<MemberState> states;
  for (const MemberCalls& member : group.members) {
    MemberState state{member.rank, member.dump != nullptr, {}, {}, {}, {}};
    if (!member.collectives.empty()) state.first = member.collectives.front()->sequence;
    for (const RecordedCall* call : member.collectives) {
      state.called = call->sequence;
      if (call->state >= CallState::kStarted) state.started = call->sequence;
      if (call->state == CallState::kCompleted) state.completed = call->sequence;
    }
    states.push_back(state);
  }
  return states;
}

std::optional<GroupWait> first_wait(const GroupCalls& group) {
  std::set<std::uint64_t> open;
  for (const MemberCalls& member : group.members)
    for (const RecordedCall* call : member.collectives)
      if (call->state != CallState::kCompleted) open.insert(call->sequence);
  std::optional<GroupWait> done_elsewhere;
  for (const std::uint64_t sequence : open) {
    GroupWait wait = wait_at(group, sequence);
    if (!wait.done_elsewhere) return wait;
    if (!done_elsewhere) done_elsewhere = std::move(wait);
  }
  return done_elsewhere;
}

std::vector<PeerWait> peer_waits(const GroupCalls& group, std::uint32_t number) {
  std::vector<PeerWait> waits;
  std::set<std::tuple<std::uint32_t, bool, std::uint32_t>> seen;
  for (const MemberCalls& member : group.members)
    for (const RecordedCall* call : member.peers) {
      if (call->state == CallState::kCompleted) continue;
      const auto to = peer_call_of(member.dump->forms[call->form], group.group);
      if (!to || !seen.emplace(member.rank, to->sends, to->peer).second) continue;
      waits.push_back(peer_wait(group, member, *call, *to));
      waits.back().group = number;
    }
  return waits;
}

}  // namespace nl::analysis::collectives

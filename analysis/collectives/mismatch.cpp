#include "analysis/collectives/mismatch.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace nl::analysis::collectives {
namespace {

using Elements = std::vector<std::uint64_t>;

// Kind, elements of inputs and outputs, types of inputs and outputs.
using Agreed = std::tuple<std::string, Elements, Elements, std::vector<std::string>, std::vector<std::string>>;

Elements elements_of(const std::vector<std::vector<std::int64_t>>& tensors) {
  Elements all;
  for (const auto& sizes : tensors) {
    std::uint64_t elements = 1;
    for (const std::int64_t size : sizes) elements *= static_cast<std::uint64_t>(size);
    all.push_back(elements);
  }
  return all;
}

Agreed agreed_part(const CallForm& form) {
  Agreed out{form.kind, elements_of(form.inputs), elements_of(form.outputs), form.input_dtypes, form.output_dtypes};
  auto& [kind, inputs, outputs, input_types, output_types] = out;
  if (form.rule == CallRule::kFreeSizes) inputs.clear(), outputs.clear();
  if (form.rule == CallRule::kScatter) inputs.clear(), input_types.clear();
  if (form.rule == CallRule::kGather) outputs.clear(), output_types.clear();
  return out;
}

MismatchKind kind_of(const Agreed& a, const Agreed& b) {
  if (std::get<0>(a) != std::get<0>(b)) return MismatchKind::kKind;
  if (std::get<1>(a) != std::get<1>(b) || std::get<2>(a) != std::get<2>(b)) return MismatchKind::kSizes;
  return MismatchKind::kTypes;
}

// What each form of each dump stands for, as numbers that are quick to compare.
class Agreements {
 public:
  using Calls = std::vector<std::uint32_t>;

  Calls of(const MemberCalls& member, std::uint64_t sequence) {
    const std::vector<std::uint32_t>& forms = forms_of(*member.dump);
    Calls out;
    for (const RecordedCall* call : member.at(sequence)) out.push_back(forms[call->form]);
    return out;
  }
  const Agreed& operator[](std::uint32_t number) const { return *all_[number]; }

 private:
  const std::vector<std::uint32_t>& forms_of(const FlightDump& dump) {
    auto [found, is_new] = by_dump_.try_emplace(&dump);
    if (is_new)
      for (const CallForm& form : dump.forms) {
        const auto [agreed, fresh] = numbers_.emplace(agreed_part(form), static_cast<std::uint32_t>(all_.size()));
        if (fresh) all_.push_back(&agreed->first);
        found->second.push_back(agreed->second);
      }
    return found->second;
  }

  std::map<Agreed, std::uint32_t> numbers_;
  std::vector<const Agreed*> all_;
  std::map<const FlightDump*, std::vector<std::uint32_t>> by_dump_;
};

struct Side {
  Agreements::Calls calls;
  std::vector<const MemberCalls*> members;
};

bool is_cut_part(const MemberCalls& member, std::uint64_t sequence) {
  return member.dump->begins_late() && member.collectives.front()->sequence == sequence;
}

// The larger first.
std::vector<Side> sides_at(const GroupCalls& group, std::uint64_t sequence, Agreements& agreements) {
  std::vector<Side> sides;
  for (const MemberCalls& member : group.members) {
    if (member.dump == nullptr || member.collectives.empty() || is_cut_part(member, sequence)) continue;
    const Agreements::Calls calls = agreements.of(member, sequence);
    if (calls.empty()) continue;
    auto side = std::find_if(sides.begin(), sides.end(), [&](const Side& each) { return each.calls == calls; });
    if (side == sides.end()) side = sides.insert(sides.end(), {calls, {}});
    side->members.push_back(&member);
  }
  std::stable_sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) { return a.members.size() > b.members.size(); });
  return sides;
}

// Where the sides first differ in what they called: 0 but in a batch.
std::size_t first_difference(const Agreements::Calls& a, const Agreements::Calls& b) {
  const auto end = std::min(a.size(), b.size());
  const auto both = std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(end), b.begin());
  return std::min<std::size_t>(static_cast<std::size_t>(both.first - a.begin()), end == 0 ? 0 : end - 1);
}

MismatchKind kind_at(const Side& a, const Side& b, std::uint64_t sequence, Agreements& agreements) {
  const auto next = [&](const Side& side) { return agreements.of(*side.members.front(), sequence + 1); };
  const bool kinds_differ = a.calls.size() != b.calls.size() || agreements[a.calls.front()] != agreements[b.calls.front()];
  if (kinds_differ && (next(b) == a.calls || next(a) == b.calls)) return MismatchKind::kOrder;
  const std::size_t place = first_difference(a.calls, b.calls);
  return a.calls.size() != b.calls.size() ? MismatchKind::kKind : kind_of(agreements[a.calls[place]], agreements[b.calls[place]]);
}

MismatchSide side_of(const Side& side, std::uint64_t sequence, std::size_t place) {
  MismatchSide out;
  for (const MemberCalls* member : side.members) out.ranks.push_back(member->rank);
  const FlightDump& dump = *side.members.front()->dump;
  const auto calls = side.members.front()->at(sequence);
  const RecordedCall& call = *calls[std::min(place, calls.size() - 1)];
  out.form = dump.forms[call.form];
  out.stack = dump.stacks[call.stack];
  return out;
}

Mismatch mismatch_of(const std::vector<Side>& sides, std::uint64_t sequence, Agreements& agreements) {
  Mismatch out{sequence, kind_at(sides[0], sides[1], sequence, agreements), {}, false};
  std::size_t members = 0;
  for (const Side& side : sides) {
    out.sides.push_back(side_of(side, sequence, first_difference(sides[0].calls, sides[1].calls)));
    members += side.members.size();
  }
  out.majority = 2 * sides[0].members.size() > members;
  return out;
}

}  // namespace

std::optional<Mismatch> first_mismatch(const GroupCalls& group) {
  std::set<std::uint64_t> sequences;
  for (const MemberCalls& member : group.members)
    for (const RecordedCall* call : member.collectives) sequences.insert(call->sequence);
  Agreements agreements;
  for (const std::uint64_t sequence : sequences)
    if (const std::vector<Side> sides = sides_at(group, sequence, agreements); sides.size() > 1)
      return mismatch_of(sides, sequence, agreements);
  return std::nullopt;
}

}  // namespace nl::analysis::collectives

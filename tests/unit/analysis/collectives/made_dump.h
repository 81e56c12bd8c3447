#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/flight_dump.h"

namespace nl::test {

inline CallForm form(std::string kind, std::vector<std::int64_t> sizes = {1024}, std::string dtype = "Float",
                     CallRule rule = CallRule::kSame) {
  return {std::move(kind), rule, {}, {sizes}, {sizes}, {dtype}, {dtype}};
}

// A dump that is written call by call.
class MadeDump {
 public:
  explicit MadeDump(std::uint32_t rank, std::vector<DumpGroup> groups = {{"0", "default_pg", {0, 1, 2, 3}}}) {
    dump.rank = rank;
    dump.file = "rank_" + std::to_string(rank);
    dump.groups = std::move(groups);
    dump.stacks = {{}};
    dump.calls_dumped = true;
    sequences_.resize(dump.groups.size());
  }

  MadeDump& call(CallForm form, CallState state = CallState::kCompleted, std::uint32_t group = 0, int line = 0) {
    add(std::move(form), state, group, line);
    dump.calls.back().sequence = ++sequences_[group];
    return *this;
  }
  // The place of the other rank in the group.
  MadeDump& peer(bool sends, std::uint32_t place, CallState state, std::uint32_t group = 0) {
    CallForm call = form(sends ? "send" : "recv", {1024}, "Float", sends ? CallRule::kSend : CallRule::kReceive);
    call.peer = place;
    add(std::move(call), state, group, 0);
    dump.calls.back().point_to_point = true;
    return *this;
  }
  MadeDump& calls(int count) {
    for (int i = 0; i < count; ++i) call(form("all_reduce"));
    return *this;
  }
  // What a recorder has that keeps so many.
  MadeDump& keep(std::size_t count) {
    dump.calls.erase(dump.calls.begin(), dump.calls.end() - static_cast<std::ptrdiff_t>(count));
    return *this;
  }

  FlightDump dump;

 private:
  void add(CallForm form, CallState state, std::uint32_t group, int line) {
    RecordedCall call;
    call.record = dump.calls.size();
    call.created_ns = 1'000'000'000 + static_cast<Ns>(call.record);
    call.group = group;
    call.form = static_cast<std::uint32_t>(dump.forms.size());
    call.state = state;
    if (line > 0) {
      call.stack = static_cast<std::uint32_t>(dump.stacks.size());
      dump.stacks.push_back({{"step", "train.py", static_cast<std::uint64_t>(line)}});
    }
    dump.forms.push_back(std::move(form));
    dump.calls.push_back(call);
  }

  std::vector<std::uint64_t> sequences_;
};

}  // namespace nl::test

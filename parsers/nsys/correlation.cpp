#include "parsers/nsys/correlation.h"

#include <bit>

#include "parsers/nsys/records.h"

namespace nl::parsers {
namespace {

// Calls visit(process, api) for every piece of GPU work; the process of a queue may be kNone.
template <typename TraceType, typename Visit>
void for_each_work(TraceType& trace, Visit visit) {
  auto process_of = [&](std::uint32_t queue) { return queue < trace.queues.size() ? trace.queues[queue].process : kNone; };
  for (auto& kernel : trace.kernels) visit(process_of(static_cast<std::uint32_t>(kernel.queue)), kernel.api);
  for (auto& op : trace.mem_ops) visit(process_of(op.queue), op.api);
  for (auto& run : trace.graph_runs) visit(process_of(run.queue), run.api);
}

}  // namespace

std::size_t CorrelationMap::place_of(std::uint32_t number) const {
  std::size_t at = mix(0x51ED27, number) & (blocks_.size() - 1);
  while (blocks_[at].bits != 0 && blocks_[at].number != number) at = (at + 1) & (blocks_.size() - 1);
  return at;
}

void CorrelationMap::grow() {
  std::vector<Block> old(blocks_.size() * 2);
  old.swap(blocks_);
  for (const Block& block : old)
    if (block.bits != 0) blocks_[place_of(block.number)] = block;
}

void CorrelationMap::insert(std::uint32_t correlation) {
  if (correlation == kNone) return;
  if ((used_ + 1) * 2 > blocks_.size()) grow();
  Block& block = blocks_[place_of(correlation / 64)];
  if (block.bits == 0) ++used_;
  block.number = correlation / 64;
  block.bits |= std::uint64_t{1} << correlation % 64;
}

bool CorrelationMap::contains(std::uint32_t correlation) const { return blocks_[place_of(correlation / 64)].bits >> correlation % 64 & 1; }

void CorrelationMap::seal() {
  std::uint32_t calls = 0;
  for (Block& block : blocks_) {
    block.first_call = calls;
    calls += static_cast<std::uint32_t>(std::popcount(block.bits));
  }
  calls_.assign(calls, kNone);
}

std::uint32_t* CorrelationMap::slot_of(std::uint32_t correlation) {
  const Block& block = blocks_[place_of(correlation / 64)];
  std::uint64_t bit = std::uint64_t{1} << correlation % 64;
  if (!(block.bits & bit)) return nullptr;
  return &calls_[block.first_call + static_cast<std::uint32_t>(std::popcount(block.bits & (bit - 1)))];
}

bool CorrelationMap::set(std::uint32_t correlation, std::uint32_t call) {
  std::uint32_t* slot = slot_of(correlation);
  if (!slot) return true;
  if (*slot != kNone) return false;
  *slot = call;
  return true;
}

std::uint32_t CorrelationMap::call_of(std::uint32_t correlation) const {
  const std::uint32_t* slot = const_cast<CorrelationMap*>(this)->slot_of(correlation);
  return slot ? *slot : kNone;
}

void forget_launches(Trace& trace) {
  for_each_work(trace, [](std::uint32_t, std::uint32_t& api) { api = kNone; });
}

Launches::Launches(const Trace& trace, bool any_process) : maps_(any_process ? 1 : trace.processes.size()), any_process_(any_process) {
  for_each_work(trace, [&](std::uint32_t process, std::uint32_t correlation) {
    if (auto* map = map_of(process)) map->insert(correlation);
  });
}

CorrelationMap* Launches::map_of(std::uint32_t process) {
  if (any_process_) return &maps_.front();
  return process < maps_.size() ? &maps_[process] : nullptr;
}

const CorrelationMap* Launches::of_process(std::uint32_t process) const { return const_cast<Launches*>(this)->map_of(process); }

std::uint64_t Launches::link(Trace& trace) {
  for (CorrelationMap& map : maps_) map.seal();
  std::uint64_t repeated = 0;
  for (std::size_t i = 0; i < trace.api_calls.size(); ++i) {
    const ApiCall& call = trace.api_calls[i];
    CorrelationMap* map = map_of(trace.threads[call.thread].process);
    if (map && !map->set(call.correlation, static_cast<std::uint32_t>(i))) ++repeated;
  }
  for_each_work(trace, [&](std::uint32_t process, std::uint32_t& api) {
    CorrelationMap* map = map_of(process);
    api = map ? map->call_of(api) : kNone;
  });
  return repeated;
}

}  // namespace nl::parsers

#include "analysis/staging/found/steps.h"

#include <algorithm>

#include "model/trace.h"

namespace nl::analysis {
namespace {

// Open addressing: a trace of ten million kernels asks ten million times.
class KindTable {
 public:
  std::uint32_t id_of(std::uint64_t key) {
    if ((count_ + 1) * 2 > keys_.size()) grow();
    std::size_t at = slot_of(key);
    if (ids_[at] == kNone) {
      keys_[at] = key;
      ids_[at] = count_++;
    }
    return ids_[at];
  }
  std::uint32_t size() const { return count_; }

 private:
  std::size_t slot_of(std::uint64_t key) const {
    std::size_t at = (key ^ (key >> 29)) & (keys_.size() - 1);
    while (ids_[at] != kNone && keys_[at] != key) at = (at + 1) & (keys_.size() - 1);
    return at;
  }
  void grow() {
    const std::vector<std::uint64_t> keys = std::move(keys_);
    const std::vector<std::uint32_t> ids = std::move(ids_);
    keys_.assign(std::max<std::size_t>(1024, keys.size() * 2), 0);
    ids_.assign(keys_.size(), kNone);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (ids[i] == kNone) continue;
      const std::size_t at = slot_of(keys[i]);
      keys_[at] = keys[i];
      ids_[at] = ids[i];
    }
  }
  std::vector<std::uint64_t> keys_;
  std::vector<std::uint32_t> ids_;
  std::uint32_t count_ = 0;
};

constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15;

std::uint64_t key_at(const std::vector<std::uint32_t>& symbols, std::size_t place) {
  const auto symbol = [&](std::size_t at) { return at < symbols.size() ? symbols[at] + 1 : 0; };  // wraps before the first
  std::uint64_t key = 0;
  for (const std::size_t at : {place - 2, place - 1, place, place + 1}) key = (key ^ symbol(at)) * kFactor + (key >> 32);
  return key;
}

}  // namespace

Neighbourhoods::Neighbourhoods(const WorkSequence& sequence, const WorkAmounts& amounts) {
  const auto& symbols = sequence.symbols;
  KindTable table;
  kind_at_.reserve(symbols.size());
  for (std::size_t i = 0; i < symbols.size() && !too_many_; ++i) {
    kind_at_.push_back(table.id_of(key_at(symbols, i)));
    too_many_ = table.size() > 100'000 && table.size() > i / 4;
  }
  if (too_many_) return;
  kinds_.resize(table.size());
  vote();
  count_regular(amounts);
}

// The majority vote of Boyer and Moore, with about() for equality.
void Neighbourhoods::vote() {
  std::vector<std::uint32_t> last(kinds_.size(), kNone);
  std::vector<std::int32_t> votes(kinds_.size(), 0);
  for (std::uint32_t i = 0; i < kind_at_.size(); ++i) {
    const std::uint32_t id = kind_at_[i];
    Kind& kind = kinds_[id];
    ++kind.count;
    if (last[id] != kNone) {
      const std::uint32_t distance = i - last[id];
      if (votes[id] == 0) kind.period = distance;
      votes[id] += about(distance, kind.period) ? 1 : -1;
    }
    last[id] = i;
  }
}

void Neighbourhoods::count_regular(const WorkAmounts& amounts) {
  std::vector<std::uint32_t> last(kinds_.size(), kNone);
  for (std::uint32_t i = 0; i < kind_at_.size(); ++i) {
    const std::uint32_t id = kind_at_[i];
    Kind& kind = kinds_[id];
    if (last[id] != kNone && about(i - last[id], kind.period)) {
      ++kind.regular;
      kind.regular_ns += amounts.gpu_ns_before(i) - amounts.gpu_ns_before(last[id]);
    }
    last[id] = i;
  }
}

std::vector<Level> find_levels(const Neighbourhoods& neighbourhoods) {
  const auto& kinds = neighbourhoods.kinds();
  std::vector<std::uint32_t> periodic;
  for (std::uint32_t i = 0; i < kinds.size(); ++i)
    if (kinds[i].regular >= 2 && kinds[i].regular * 10 >= (kinds[i].count - 1) * 6) periodic.push_back(i);
  std::sort(periodic.begin(), periodic.end(), [&](std::uint32_t a, std::uint32_t b) { return kinds[a].period < kinds[b].period; });
  std::vector<Level> levels;
  for (const std::uint32_t i : periodic) {
    if (levels.empty() || !about(kinds[i].period, levels.back().period)) levels.push_back({kinds[i].period, {}, 0, 0});
    levels.back().kinds.push_back(i);
  }
  for (Level& level : levels) {
    std::stable_sort(level.kinds.begin(), level.kinds.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return kinds[a].regular > kinds[b].regular; });
    level.period = kinds[level.kinds[0]].period;
    level.repeats = kinds[level.kinds[0]].regular;
    level.covered_ns = kinds[level.kinds[0]].regular_ns;
  }
  return levels;
}

}  // namespace nl::analysis

#include "analysis/figures/detail/collective_bands.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <set>

#include "analysis/figures/ranks/shared_collectives.h"
#include "analysis/trace/communication_kernels.h"
#include "model/rank_titles.h"
#include "model/words.h"

namespace nl::analysis {
namespace {

struct PlacedBand {
  CollectiveBand band;
  Ns first_left_ns = 0;  // from then on a member may be in the next one
};

class BandMaker {
 public:
  explicit BandMaker(const Trace& trace) : trace_(trace), shared_(trace), communication_(trace) {}

  std::vector<PlacedBand> make() const {
    std::vector<PlacedBand> bands;
    for (const auto& members : shared_.calls())
      if (members.size() > 1) bands.push_back(band_of(members));
    std::stable_sort(bands.begin(), bands.end(), [](const auto& a, const auto& b) { return a.band.start_ns < b.band.start_ns; });
    return bands;
  }

 private:
  PlacedBand band_of(const SharedCollectives::Members& members) const {
    PlacedBand placed;
    CollectiveBand& band = placed.band;
    band.start_ns = shared_.first_arrival_ns(members);
    placed.first_left_ns = std::numeric_limits<Ns>::max();
    for (const std::uint32_t each : members) {
      placed.first_left_ns = std::min(placed.first_left_ns, trace_.kernels[each].end_ns());
      band.all_there_ns = std::max(band.all_there_ns, trace_.kernels[each].start_ns);
      band.end_ns = std::max(band.end_ns, trace_.kernels[each].end_ns());
    }
    const Collective kind = communication_.of(trace_.kernels[members.front()]).value_or(Collective::kOther);
    std::set<std::uint32_t> processes;
    for (const std::uint32_t each : members) processes.insert(process_of(each));
    band.name = fmt::format("{} of {} ranks", key_of(kind), processes.size());
    if (const auto last = shared_.last_of(members)) band.awaited = "waits for " + rank_or_process(trace_, process_of(*last));
    return placed;
  }
  std::uint32_t process_of(std::uint32_t kernel) const {
    return trace_.queues[static_cast<std::size_t>(trace_.kernels[kernel].queue)].process;
  }

  const Trace& trace_;
  SharedCollectives shared_;
  CommunicationKernels communication_;
};

}  // namespace

std::uint32_t CollectiveBands::levels() const {
  std::uint32_t levels = 0;
  for (const CollectiveBand& band : list) levels = std::max(levels, band.level + 1);
  return levels;
}

bool CollectiveBands::any_awaited(std::uint32_t level) const {
  return std::any_of(list.begin(), list.end(), [&](const CollectiveBand& band) { return band.level == level && !band.awaited.empty(); });
}

CollectiveBands collective_bands(const Trace& trace) {
  CollectiveBands out;
  if (trace.collectives.empty()) return out;
  struct Level {
    Ns free_from_ns = std::numeric_limits<Ns>::min();
    std::size_t last = 0;  // its latest band
  };
  std::vector<Level> levels;
  for (PlacedBand& placed : BandMaker(trace).make()) {
    CollectiveBand& band = placed.band;
    auto level = std::find_if(levels.begin(), levels.end(), [&](const Level& each) { return each.free_from_ns <= band.start_ns; });
    if (level == levels.end() && levels.size() == kMostBandLevels) {
      ++out.left_out;
      continue;
    }
    if (level == levels.end()) level = levels.insert(level, Level{});
    else out.list[level->last].end_ns = std::min(out.list[level->last].end_ns, band.start_ns);
    *level = {placed.first_left_ns, out.list.size()};
    band.level = static_cast<std::uint32_t>(level - levels.begin());
    out.list.push_back(std::move(band));
  }
  return out;
}

}  // namespace nl::analysis

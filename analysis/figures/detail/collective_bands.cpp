#include "analysis/figures/detail/collective_bands.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "analysis/figures/ranks/shared_collectives.h"
#include "analysis/trace/communication_kernels.h"
#include "model/rank_titles.h"
#include "model/words.h"

namespace nl::analysis {
namespace {

class BandMaker {
 public:
  explicit BandMaker(const Trace& trace) : trace_(trace), shared_(trace), communication_(trace) {}

  std::vector<CollectiveBand> make() const {
    std::vector<CollectiveBand> bands;
    for (const auto& members : shared_.calls())
      if (members.size() > 1) bands.push_back(band_of(members));
    std::stable_sort(bands.begin(), bands.end(), [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
    return bands;
  }

 private:
  CollectiveBand band_of(const SharedCollectives::Members& members) const {
    CollectiveBand band;
    band.start_ns = shared_.first_arrival_ns(members);
    for (const std::uint32_t each : members) {
      band.all_there_ns = std::max(band.all_there_ns, trace_.kernels[each].start_ns);
      band.end_ns = std::max(band.end_ns, trace_.kernels[each].end_ns());
    }
    const Collective kind = communication_.of(trace_.kernels[members.front()]).value_or(Collective::kOther);
    band.name = fmt::format("{} of {} ranks", key_of(kind), members.size());
    if (const auto last = shared_.last_of(members)) band.awaited = "waits for " + rank_or_process(trace_, process_of(*last));
    return band;
  }
  std::uint32_t process_of(std::uint32_t kernel) const {
    return trace_.queues[static_cast<std::size_t>(trace_.kernels[kernel].queue)].process;
  }

  const Trace& trace_;
  SharedCollectives shared_;
  CommunicationKernels communication_;
};

}  // namespace

std::vector<CollectiveBand> collective_bands(const Trace& trace) {
  if (trace.collectives.empty()) return {};
  std::vector<CollectiveBand> bands = BandMaker(trace).make();
  std::vector<Ns> free_from;  // by level
  std::erase_if(bands, [&](CollectiveBand& band) {
    auto level = std::find_if(free_from.begin(), free_from.end(), [&](Ns time_ns) { return time_ns <= band.start_ns; });
    if (level == free_from.end()) {
      if (free_from.size() == kMostBandLevels) return true;
      level = free_from.insert(level, std::numeric_limits<Ns>::min());
    }
    *level = band.end_ns;
    band.level = static_cast<std::uint32_t>(level - free_from.begin());
    return false;
  });
  return bands;
}

}  // namespace nl::analysis

#include "analysis/ranks/tracks.h"

#include <map>

#include "analysis/trace/communication_kernels.h"
#include "analysis/trace/gpu_order.h"
#include "analysis/trace/kernel_class.h"

namespace nl::analysis::ranks {
namespace {

Leaving leaving_of(Collective kind) {
  switch (kind) {
    case Collective::kAllReduce:
    case Collective::kAllGather:
    case Collective::kReduceScatter:
    case Collective::kAllToAll: return Leaving::kTogether;
    case Collective::kSendRecv: return Leaving::kInPairs;
    // The root of a broadcast is done when it has sent, the others of a reduction are.
    case Collective::kBroadcast:
    case Collective::kReduce:
    case Collective::kPeerCopy:
    case Collective::kOther: return Leaving::kApart;
  }
  return Leaving::kApart;
}

}  // namespace

void add_tracks(const Trace& trace, std::uint32_t capture, Ns shift_ns, std::vector<Track>& all) {
  const CommunicationKernels kernels(trace);
  std::map<std::uint64_t, Track> by_queue;
  for (const std::uint32_t i : start_order_of(trace.kernels, [&](const Kernel& kernel) { return kernels.of(kernel).has_value(); })) {
    const Kernel& kernel = trace.kernels[i];
    Track& track = by_queue[kernel.queue];
    // Tools write arguments of templates each in its way: "<4096ul>", "<(unsigned long)4096>".
    const auto name = static_cast<std::uint32_t>(stable_hash(kernel_function(trace.strings[trace.shapes[kernel.shape].name])));
    track.events.push_back({kernel.start_ns + shift_ns, kernel.end_ns() + shift_ns, i, name, leaving_of(*kernels.of(kernel))});
  }
  for (auto& [queue, track] : by_queue) {
    track.capture = capture;
    if (queue < trace.queues.size()) {
      track.process = trace.queues[static_cast<std::size_t>(queue)].process;
      track.device = trace.queues[static_cast<std::size_t>(queue)].device;
    }
    all.push_back(std::move(track));
  }
}

}  // namespace nl::analysis::ranks

#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "analysis/figures/ranks/rank_figures.h"
#include "tests/unit/analysis/trace_builder.h"

inline constexpr const char* kAllReduceKernel = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
inline constexpr const char* kSendRecvKernel = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)";
inline const nl::analysis::WarmupRule kEveryStep{nl::analysis::WarmupRule::Mode::kNone};

// Ranks of one machine, one GPU each: thread i, queue 2i for kernels and 2i + 1 for NCCL.
struct RanksBuilder : TraceBuilder {
  explicit RanksBuilder(std::uint32_t ranks) {
    trace.processes.clear();
    trace.threads.clear();
    trace.queues.clear();
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      thread(process());
      queue(rank, static_cast<std::int32_t>(rank), 7);
      queue(rank, static_cast<std::int32_t>(rank), 20);
      trace.processes[rank].rank = rank;
      nl::RankEntry entry;
      entry.rank = rank;
      trace.ranks.push_back(entry);
    }
  }

  // Arrivals by rank; the members leave together. A member that does not take part has none.
  void collective(const std::vector<std::optional<nl::Ns>>& arrivals, nl::Ns end_ns, const char* name = kAllReduceKernel) {
    const auto members =
        static_cast<std::uint32_t>(std::count_if(arrivals.begin(), arrivals.end(), [](const auto& at) { return at.has_value(); }));
    for (std::uint32_t rank = 0; rank < arrivals.size(); ++rank)
      if (const auto at = arrivals[rank]) {
        kernel(name, *at, static_cast<std::uint64_t>(end_ns - *at), call(*at - 5, rank), 2 * rank + 1);
        trace.collectives.push_back({static_cast<std::uint32_t>(trace.kernels.size() - 1), number, members});
      }
    ++number;
  }
  // A step of all ranks from there on, 100 long, with one collective that one rank is late to.
  void step(nl::Ns at_ns, std::uint32_t late_rank, nl::Ns late_ns) {
    std::vector<std::optional<nl::Ns>> arrivals;
    for (std::uint32_t rank = 0; rank < trace.ranks.size(); ++rank) {
      stage("decode_step", at_ns, at_ns + 100, rank);
      arrivals.emplace_back(at_ns + 10 + (rank == late_rank ? late_ns : 0));
    }
    collective(arrivals, at_ns + 90);
  }

  nl::analysis::RankFigures figures(const std::string& stage = "decode_step", const nl::analysis::WarmupRule& warmup = kEveryStep) const {
    return nl::analysis::rank_figures(nl::analysis::StagedTrace(trace, warmup), stage);
  }

  std::uint32_t number = 0;
};

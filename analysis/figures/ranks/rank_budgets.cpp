#include "analysis/figures/ranks/rank_budgets.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <utility>

#include "analysis/trace/communication_kernels.h"
#include "analysis/trace/gpu_lanes.h"
#include "analysis/trace/gpu_order.h"

namespace nl::analysis {
namespace {

// What comes first is told where several are true of an instant.
enum class BudgetPart : std::uint8_t { kCompute, kExchange, kWait, kReceiveWait, kCopy };
constexpr std::size_t kBudgetParts = 5;

struct BudgetPiece {
  Ns start_ns = 0, end_ns = 0;
  BudgetPart part = BudgetPart::kCompute;
  friend bool operator>(const BudgetPiece& a, const BudgetPiece& b) { return a.start_ns > b.start_ns; }
};

// One GPU of a rank, inside the rank's spans.
class LaneParts {
 public:
  explicit LaneParts(const Spans& spans) : spans_(&spans) {}

  // Work comes in the order of its start, but the second part of a collective begins later than work that comes after it.
  void add(const BudgetPiece& piece) {
    if (piece.end_ns > piece.start_ns) waiting_.push(piece);
  }
  void work_begins_at(Ns time_ns) {
    for (; !waiting_.empty() && waiting_.top().start_ns <= time_ns; waiting_.pop()) cover(waiting_.top());
  }

  void add_to(RankBudget& budget) {
    work_begins_at(std::numeric_limits<Ns>::max());
    static constexpr Ns RankBudget::* kPlaces[kBudgetParts] = {&RankBudget::compute_ns, &RankBudget::exchange_ns, &RankBudget::wait_ns,
                                                               &RankBudget::receive_wait_ns, &RankBudget::copy_ns};
    for (const auto& [start_ns, end_ns] : *spans_) budget.wall_ns += end_ns - start_ns;
    for (std::size_t i = 0; i < kBudgetParts; ++i) budget.*kPlaces[i] += covered_[i].total_ns() - (i > 0 ? covered_[i - 1].total_ns() : 0);
  }

 private:
  void cover(const BudgetPiece& piece) {
    while (next_ < spans_->size() && (*spans_)[next_].second <= piece.start_ns) ++next_;
    for (std::size_t i = next_; i < spans_->size() && (*spans_)[i].first < piece.end_ns; ++i) {
      const Ns start_ns = std::max(piece.start_ns, (*spans_)[i].first), end_ns = std::min(piece.end_ns, (*spans_)[i].second);
      for (auto part = static_cast<std::size_t>(piece.part); part < kBudgetParts; ++part) covered_[part].add(start_ns, end_ns);
    }
  }

  const Spans* spans_;
  std::size_t next_ = 0;
  std::array<CoveredTime, kBudgetParts> covered_ = {};  // of this part and those before it: the union
  std::priority_queue<BudgetPiece, std::vector<BudgetPiece>, std::greater<>> waiting_;
};

Spans whole_work(const Trace& trace) {
  Ns first_ns = std::numeric_limits<Ns>::max(), last_ns = std::numeric_limits<Ns>::min();
  each_gpu_work(trace, [&](const auto& work) {
    first_ns = std::min(first_ns, work.start_ns);
    last_ns = std::max(last_ns, end_of(work));
  });
  return first_ns < last_ns ? Spans{{first_ns, last_ns}} : Spans{};
}

class BudgetPass {
 public:
  BudgetPass(const Trace& trace, const SharedCollectives& shared, const std::vector<Spans>& spans)
      : trace_(trace), shared_(shared), communication_(trace), lanes_(trace), whole_(whole_work(trace)) {
    const bool stepped = std::any_of(spans.begin(), spans.end(), [](const Spans& each) { return !each.empty(); });
    for (const GpuLane& lane : lanes_) {
      ranks_.push_back(shared.rank_of_process(lane.process));
      if (!stepped) parts_.emplace_back(whole_);
      else parts_.emplace_back(ranks_.back() && *ranks_.back() < spans.size() ? spans[*ranks_.back()] : none_);
    }
  }

  void operator()(const Kernel& kernel) {
    if (!communication_.of(kernel)) return add(kernel, BudgetPart::kCompute);
    const auto index = static_cast<std::uint32_t>(&kernel - trace_.kernels.data());
    const Ns all_there_ns = kernel.start_ns + shared_.waited_ns(index);
    LaneParts& lane = lane_of(kernel);
    lane.add({kernel.start_ns, all_there_ns, shared_.is_of_pair(index) ? BudgetPart::kReceiveWait : BudgetPart::kWait});
    lane.add({all_there_ns, kernel.end_ns(), BudgetPart::kExchange});
  }
  void operator()(const MemOp& op) { add(op, op.kind == MemOpKind::kPeerToPeer ? BudgetPart::kExchange : BudgetPart::kCopy); }
  void operator()(const GraphRun& run) { add(run, BudgetPart::kCompute); }

  std::vector<RankBudget> finish() {
    std::vector<RankBudget> budgets(trace_.ranks.size());
    for (std::size_t lane = 0; lane < parts_.size(); ++lane)
      if (ranks_[lane]) parts_[lane].add_to(budgets[*ranks_[lane]]);
    return budgets;
  }

 private:
  template <class Work>
  LaneParts& lane_of(const Work& work) {
    LaneParts& lane = parts_[lanes_.of_queue(work.queue)];
    lane.work_begins_at(work.start_ns);
    return lane;
  }
  template <class Work>
  void add(const Work& work, BudgetPart part) {
    lane_of(work).add({work.start_ns, end_of(work), part});
  }

  const Trace& trace_;
  const SharedCollectives& shared_;
  CommunicationKernels communication_;
  GpuLanes lanes_;
  Spans whole_, none_;
  std::vector<std::optional<std::size_t>> ranks_;  // by lane
  std::vector<LaneParts> parts_;                   // by lane
};

}  // namespace

std::vector<RankBudget> rank_budgets(const Trace& trace, const SharedCollectives& shared, const std::vector<Spans>& spans) {
  BudgetPass pass(trace, shared, spans);
  visit_gpu_work(trace, pass);
  return pass.finish();
}

}  // namespace nl::analysis

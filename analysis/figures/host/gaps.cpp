#include "analysis/figures/host/gaps.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>

#include "analysis/account/gpu_mean.h"
#include "analysis/statistics/bootstrap.h"

namespace nl::analysis {
namespace {

constexpr Ns kShortestLaunchGapNs = 2'000, kLongestLaunchGapNs = 20'000;  // between which the usual launch gap is believed to lie
constexpr Ns kTimesLaunchGap = 8;                                         // a gap this much longer has another reason than a launch
constexpr double kLeastShare = 0.005;                                     // of a stage's time: for less a gap is not listed on its own
constexpr double kAboutAsLong = 4;                                        // times: what varies more is not one gap
constexpr std::size_t kMostGaps = 20;                                     // that are listed of a stage
constexpr std::uint64_t kFewWindows = 3;                                  // with fewer, gaps come again inside of a window
constexpr std::uint64_t kFewSamples = 4;                                  // of fewer no share is told

bool same_surroundings(const GapSum& a, const GapSum& b) { return a.before == b.before && a.after == b.after && a.at_edge == b.at_edge; }

void join_gaps(GapSum& sum, const GapSum& more) {
  sum.add(more);
  sum.windows += more.windows;
  sum.by_window.add(more.by_window);
}

double mean_length(const GapSum& sum) { return static_cast<double>(sum.budget.wall_ns) / static_cast<double>(sum.count); }

bool is_long(const GapSum& sum) { return mean_length(sum) >= static_cast<double>(GapTable::kSurelyLongNs); }

bool about_as_long(const GapSum& a, const GapSum& b) {
  return mean_length(a) < kAboutAsLong * mean_length(b) && mean_length(b) < kAboutAsLong * mean_length(a);
}

struct NamedGap {
  GapSum sum;
  std::optional<double> median_ns;
  std::optional<HostBlame> host;
};

// The gaps of one stage, over all of its GPUs.
class StageGaps {
 public:
  StageGaps(const Trace& trace, const BudgetSums& sums, const StageEntry& stage, std::uint32_t target, const BlameTable* blame)
      : trace_(trace), stage_(stage), blame_(blame), waits_(target < sums.host.size() ? &sums.host[target].samples : nullptr) {
    std::map<std::array<std::uint32_t, 5>, GapSum> places;
    for (std::size_t lane = 0; lane < sums.lanes.size(); ++lane) {
      const GapTable& table = sums.gaps[lane][target];
      windows_ += sums.sums[lane][target].windows;
      late_.add(table.late());
      gaps_ += table.gaps();
      idle_windows_ += table.idle_windows();
      for (GapSum& sum : table.sums()) {
        const auto [found, added] = places.try_emplace(
            {sum.before, sum.after, sum.at_edge ? 1u : 0u, windows_few() ? 0u : sum.place, is_long(sum) ? 1u : 0u}, GapSum());
        if (added) found->second = std::move(sum);
        else join_gaps(found->second, sum);
      }
    }
    for (auto& [key, sum] : places) {
      sum.windows = std::min(sum.windows, windows_);  // in a window of many steps it has many places
      places_.push_back(std::move(sum));
    }
    if (windows_ > 0) scale_ = static_cast<double>(stage.wall.count) / static_cast<double>(windows_);
  }

  std::vector<StageGap> told() {
    if (windows_ == 0 || !stage_.budget) return {};
    follow_shifts();
    const Ns long_ns = kTimesLaunchGap * std::clamp(late_.median_ns(), kShortestLaunchGapNs, kLongestLaunchGapNs);
    std::vector<NamedGap> recurring;
    GapSum occasional;
    for (GapSum& sum : places_) {
      if (sum.budget.wall_ns / static_cast<Ns>(sum.count) < long_ns) continue;
      if (comes_again(sum)) recurring.push_back(named(std::move(sum)));
      else join_gaps(occasional, sum);
    }
    join_same_cause(recurring);
    std::stable_sort(recurring.begin(), recurring.end(),
                     [](const NamedGap& a, const NamedGap& b) { return a.sum.budget.wall_ns > b.sum.budget.wall_ns; });
    std::vector<StageGap> out;
    for (const NamedGap& gap : recurring) {
      if (share_of(gap.sum) < kLeastShare || out.size() == kMostGaps) break;
      out.push_back(told(gap, GapKind::kRecurring));
      told_samples_.insert(told_samples_.end(), gap.sum.samples.begin(), gap.sum.samples.end());
    }
    if (occasional.count > 0 && share_of(occasional) >= kLeastShare) {
      occasional.windows = std::min(occasional.windows, windows_);
      NamedGap gap = named(std::move(occasional));
      gap.sum.before = gap.sum.after = kNone;
      out.push_back(told(gap, GapKind::kOccasional));
      told_samples_.insert(told_samples_.end(), gap.sum.samples.begin(), gap.sum.samples.end());
    }
    add_rest(out);
    return out;
  }

 private:
  bool windows_few() const { return stage_.wall.count < kFewWindows; }
  double share_of(const GapSum& sum) const {
    return scale_ * static_cast<double>(sum.budget.wall_ns) / static_cast<double>(std::max<Ns>(1, stage_.budget->wall_ns));
  }
  bool comes_again(const GapSum& sum) const { return windows_few() ? sum.count >= kFewWindows * windows_ : 2 * sum.windows >= windows_; }

  // Where a window has one piece of work more than another, what comes after it has another place. Gaps of the same surroundings that no
  // window has both of are one.
  void follow_shifts() {
    std::vector<GapSum> out;
    for (GapSum& sum : places_) {
      const auto same = std::find_if(out.rbegin(), out.rend(), [&](const GapSum& each) {
        return same_surroundings(each, sum) && each.windows + sum.windows <= windows_ && about_as_long(each, sum);
      });
      if (same != out.rend()) join_gaps(*same, sum);
      else out.push_back(std::move(sum));
    }
    places_ = std::move(out);
  }

  NamedGap named(GapSum sum) const {
    NamedGap gap;
    std::vector<double> values(sum.by_window.kept().begin(), sum.by_window.kept().end());
    if (!windows_few()) gap.median_ns = median_of(std::move(values));
    if (blame_ != nullptr) gap.host = blame_->of(sum.samples);
    gap.sum = std::move(sum);
    return gap;
  }

  // Gaps of every layer, say, that have one function as their cause are one.
  void join_same_cause(std::vector<NamedGap>& gaps) const {
    const auto cause = [](const NamedGap& gap) { return gap.host ? gap.host->function : std::nullopt; };
    std::vector<NamedGap> out;
    for (NamedGap& gap : gaps) {
      const auto same = std::find_if(
          out.begin(), out.end(), [&](const NamedGap& each) { return same_surroundings(each.sum, gap.sum) && cause(each) == cause(gap); });
      if (same == out.end()) {
        out.push_back(std::move(gap));
        continue;
      }
      same->sum.add(gap.sum);
      same->sum.windows = std::max(same->sum.windows, gap.sum.windows);
      if (same->median_ns && gap.median_ns) *same->median_ns += *gap.median_ns;
      if (blame_ != nullptr) same->host = blame_->of(same->sum.samples);
    }
    gaps = std::move(out);
  }

  Ns scaled(Ns ns) const { return static_cast<Ns>(std::llround(scale_ * static_cast<double>(ns))); }

  Budget scaled(const Budget& budget) const {
    Budget out;
    for (const BudgetBinKey& bin : kBudgetBinKeys) {
      out.*bin.time_ns = scaled(budget.*bin.time_ns);
      out.wall_ns += out.*bin.time_ns;
    }
    return out;
  }

  std::string name_of(std::uint32_t name) const {
    if (name == kWholeGraphName) return "CUDA graph";
    return name < kWholeGraphName ? std::string(trace_.strings[StringId{name}]) : std::string();
  }

  StageGap told(const NamedGap& gap, GapKind kind) const {
    const GapSum& sum = gap.sum;
    StageGap out;
    out.kind = kind;
    out.before = name_of(sum.before);
    out.after = name_of(sum.after);
    out.at_edge = sum.at_edge;
    out.count = sum.count;
    out.windows = static_cast<std::uint64_t>(scaled(static_cast<Ns>(sum.windows)));
    out.mean_ns = static_cast<double>(sum.budget.wall_ns) / static_cast<double>(std::max<std::uint64_t>(1, sum.windows));
    out.median_ns = gap.median_ns;
    out.budget = scaled(sum.budget);
    out.wall_share = std::min(1.0, share_of(sum));
    out.after_wait_ns = std::min(scaled(sum.after_wait_ns), out.budget.wall_ns);
    out.not_launching_ns = not_launching(out, sum);
    out.host = gap.host;
    return out;
  }

  // By the samples; where there are none, after a wait for the GPU: what a program does with a value that it waited for is its own.
  Ns not_launching(const StageGap& gap, const GapSum& sum) const {
    const auto host_ns = static_cast<double>(gap.budget.launch_starved_ns + gap.budget.other_host_ns);
    double share = 0;
    if (blame_ != nullptr && sum.samples.size() >= kFewSamples)
      share = static_cast<double>(blame_->not_launching(sum.samples, true)) / static_cast<double>(sum.samples.size());
    else if (gap.kind == GapKind::kRecurring && gap.budget.wall_ns > 0)
      share = static_cast<double>(gap.after_wait_ns) / static_cast<double>(gap.budget.wall_ns);
    return static_cast<Ns>(std::llround(share * host_ns));
  }

  // Everything that is not told by itself. Together they are the idle time of the stage.
  void add_rest(std::vector<StageGap>& gaps) const {
    StageGap rest;
    rest.kind = GapKind::kBetweenLaunches;
    rest.count = gaps_;
    for (const BudgetBinKey& bin : kBudgetBinKeys) {
      if (bin.time_ns == &Budget::gpu_compute_ns || bin.time_ns == &Budget::communication_ns || bin.time_ns == &Budget::exposed_copy_ns)
        continue;
      Ns left_ns = *stage_.budget.*bin.time_ns;
      for (const StageGap& gap : gaps) left_ns -= gap.budget.*bin.time_ns;
      rest.budget.*bin.time_ns = std::max<Ns>(0, left_ns);
      rest.budget.wall_ns += rest.budget.*bin.time_ns;
    }
    for (const StageGap& gap : gaps) rest.count -= std::min(rest.count, gap.count);
    if (rest.budget.wall_ns <= 0) return;
    rest.windows = static_cast<std::uint64_t>(scaled(static_cast<Ns>(idle_windows_)));
    rest.mean_ns = static_cast<double>(rest.budget.wall_ns) / static_cast<double>(std::max<std::uint64_t>(1, rest.windows));
    rest.wall_share = static_cast<double>(rest.budget.wall_ns) / static_cast<double>(std::max<Ns>(1, stage_.budget->wall_ns));
    if (blame_ != nullptr && waits_ != nullptr) add_code(rest);
    gaps.push_back(std::move(rest));
  }

  // What the host runs while the GPU waits for launches in no gap that is told by itself.
  void add_code(StageGap& rest) const {
    std::vector<std::uint32_t> all = *waits_, told = told_samples_, samples;
    std::sort(all.begin(), all.end());
    std::sort(told.begin(), told.end());
    std::set_difference(all.begin(), all.end(), told.begin(), told.end(), std::back_inserter(samples));
    rest.host = blame_->of(samples);
    if (samples.size() < kFewSamples) return;
    const double share = static_cast<double>(blame_->not_launching(samples, false)) / static_cast<double>(samples.size());
    rest.not_launching_ns = static_cast<Ns>(std::llround(share * static_cast<double>(rest.budget.launch_starved_ns)));
  }

  const Trace& trace_;
  const StageEntry& stage_;
  const BlameTable* blame_;
  const std::vector<std::uint32_t>* waits_;  // samples in waits for launches; null: there are none
  std::vector<std::uint32_t> told_samples_;  // in gaps that are told by themselves
  std::vector<GapSum> places_;               // by what is around them, then by place
  LengthCounts late_;
  std::uint64_t windows_ = 0, idle_windows_ = 0, gaps_ = 0;  // of all GPUs
  double scale_ = 1;                                         // to one GPU
};

}  // namespace

std::vector<std::vector<StageGap>> stage_gaps(const Trace& trace, const BudgetSums& sums, const std::vector<StageEntry>& stages,
                                              const BlameTable* blame) {
  std::vector<std::vector<StageGap>> out;
  for (std::uint32_t i = 0; i < stages.size(); ++i) out.push_back(StageGaps(trace, sums, stages[i], i, blame).told());
  return out;
}

}  // namespace nl::analysis

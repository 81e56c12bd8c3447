#include "analysis/statistics/time_summary.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <utility>

namespace nl::analysis {
namespace {

// Around the mean, in a second pass: the sum of squares alone would lose the digits that matter where the
// times are long and close to each other.
template <typename Value>
double deviation(const std::vector<Value>& values, double mean) {
  if (values.size() < 2) return 0;
  double squares = 0;
  for (Value value : values) {
    double off = static_cast<double>(value) - mean;
    squares += off * off;
  }
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

template <typename Value>
TimeSummary summarise(std::vector<Value>& values) {
  TimeSummary summary;
  summary.count = values.size();
  if (values.empty()) return summary;
  auto [min, max] = std::minmax_element(values.begin(), values.end());
  summary.min_ns = static_cast<Ns>(*min);
  summary.max_ns = static_cast<Ns>(*max);
  for (Value value : values) summary.total_ns += static_cast<Ns>(value);
  summary.mean_ns = static_cast<double>(summary.total_ns) / static_cast<double>(summary.count);
  summary.stddev_ns = deviation(values, summary.mean_ns);
  summary.median_ns = median_in_place(values);
  // By nearest rank, each in the part above the one before it: all above the median are last already.
  auto from = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  const auto percentile = [&](std::size_t percent) {
    const auto at = values.begin() + static_cast<std::ptrdiff_t>((values.size() * percent + 99) / 100 - 1);
    std::nth_element(from, at, values.end());
    from = at;
    return static_cast<Ns>(*at);
  };
  if (summary.count >= kLeastForP95) {
    summary.p90_ns = percentile(90);
    summary.p95_ns = percentile(95);
  }
  if (summary.count >= kLeastForP99) summary.p99_ns = percentile(99);
  return summary;
}

constexpr std::size_t kMany = 8192;  // times, from which on two passes over them cost less than copying and sorting by halves

// Times of 32 bits by size: 128 buckets for each power of two, so that the one with the median holds few of them, however they are spread.
class SizeBuckets {
 public:
  static std::uint32_t of(std::uint32_t time) {
    const auto shift = static_cast<unsigned>(std::max(static_cast<int>(std::bit_width(time)) - 8, 0));
    return (shift << 7) + (time >> shift);
  }
  static constexpr std::size_t kCount = (24 << 7) + 256;
};

__extension__ using WideSum = unsigned __int128;

// Sums are whole numbers, which come out the same in whatever order times are met.
class ManyTimes {
 public:
  explicit ManyTimes(const Durations& times) : times_(times), counts_(SizeBuckets::kCount), list_of_(SizeBuckets::kCount, kNoList) {
    times.each_short([&](std::span<const std::uint32_t> some) { add(some); });
  }
  TimeSummary summary() {
    TimeSummary all;
    all.count = times_.count();
    all.min_ns = min_;
    all.max_ns = max_;
    all.total_ns = times_.total_ns();
    const auto count = static_cast<double>(all.count), total = static_cast<double>(all.total_ns);
    all.mean_ns = total / count;
    const WideSum sum = static_cast<WideSum>(all.total_ns);
    all.stddev_ns = std::sqrt(static_cast<double>(all.count * squares_ - sum * sum) / (count * (count - 1)));
    const std::size_t middle = all.count / 2, below = all.count % 2 == 1 ? middle : middle - 1;
    const auto of_percent = [&](std::size_t percent) { return (all.count * percent + 99) / 100 - 1; };
    const std::vector<std::uint32_t> found = at_ranks({below, middle, of_percent(90), of_percent(95), of_percent(99)});
    all.median_ns = (static_cast<double>(found[0]) + static_cast<double>(found[1])) / 2;
    all.p90_ns = found[2];
    all.p95_ns = found[3];
    all.p99_ns = found[4];
    return all;
  }

 private:
  static constexpr std::uint8_t kNoList = 0xFF;
  void add(std::span<const std::uint32_t> some) {
    for (const std::uint32_t time : some) {
      min_ = std::min(min_, time);
      max_ = std::max(max_, time);
      squares_ += std::uint64_t{time} * time;
      ++counts_[SizeBuckets::of(time)];
    }
  }
  // The times of ranks that ascend, from 0.
  std::vector<std::uint32_t> at_ranks(const std::vector<std::size_t>& ranks) {
    std::vector<std::vector<std::uint32_t>> lists;
    std::vector<std::pair<std::uint8_t, std::size_t>> places;  // a list, and the rank in it
    std::size_t bucket = 0, before = 0;
    for (const std::size_t rank : ranks) {
      for (; before + counts_[bucket] <= rank; ++bucket) before += counts_[bucket];
      if (list_of_[bucket] == kNoList) {
        list_of_[bucket] = static_cast<std::uint8_t>(lists.size());
        lists.emplace_back().reserve(counts_[bucket]);
      }
      places.emplace_back(list_of_[bucket], rank - before);
    }
    times_.each_short([&](std::span<const std::uint32_t> some) {
      for (const std::uint32_t time : some)
        if (const std::uint8_t list = list_of_[SizeBuckets::of(time)]; list != kNoList) lists[list].push_back(time);
    });
    std::vector<std::uint32_t> found;
    for (const auto& [list, rank] : places) {
      const auto at = lists[list].begin() + static_cast<std::ptrdiff_t>(rank);
      std::nth_element(lists[list].begin(), at, lists[list].end());
      found.push_back(*at);
    }
    return found;
  }

  const Durations& times_;
  std::vector<std::uint32_t> counts_;  // by bucket
  std::vector<std::uint8_t> list_of_;  // by bucket
  std::uint32_t min_ = UINT32_MAX, max_ = 0;
  WideSum squares_ = 0;
};

}  // namespace

TimeSummary summarise_times(std::vector<Ns>& values) { return summarise(values); }

TimeSummary summarise_times(const Durations& durations) {
  if (durations.all_short()) {
    if (durations.count() >= kMany) return ManyTimes(durations).summary();
    std::vector<std::uint32_t> brief;
    brief.reserve(durations.count());
    durations.each_short([&](std::span<const std::uint32_t> some) { brief.insert(brief.end(), some.begin(), some.end()); });
    return summarise(brief);
  }
  std::vector<Ns> values = durations.values();
  return summarise(values);
}

}  // namespace nl::analysis

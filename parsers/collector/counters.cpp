#include "parsers/collector/trace.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include "parsers/collector/records.h"
#include "parsers/nsys/strings.h"
#include "parsers/registry.h"

namespace nl::parsers {
namespace {

using collector_trace::File;
using collector_trace::KernelCount;
using collector_trace::MetricSet;
using collector_trace::StageCount;

Dim3 dims(const std::uint32_t (&three)[3]) { return {three[0], three[1], three[2]}; }

bool possible(Ns time_ns) { return time_ns >= 0 && time_ns < std::numeric_limits<Ns>::max() / 2; }

void add_metrics(const MetricSet& set, const std::vector<double>& values, std::map<std::string, double>& metrics) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (std::isfinite(values[i])) metrics.emplace(as_utf8(set.series.metrics[i]), values[i]);
}

// When the ranges of all processes of a pass began, by domain and name: windows are numbered among them, as the trace
// numbers its own.
class RangeBegins {
 public:
  explicit RangeBegins(const std::vector<File>& files) {
    for (const File& file : files)
      for (const auto& piece : file.pieces)
        for (const auto& event : piece.events)
          if (event.kind == trace_format::Kind::kPush || event.kind == trace_format::Kind::kStart)
            times_[{text(file, event.domain), text(file, event.name)}].push_back(event.time_ns);
    for (auto& [range, times] : times_) std::sort(times.begin(), times.end());
  }

  // The number of the range that begins at this time or next; nothing where none does.
  std::optional<std::uint64_t> number(const File& file, std::uint32_t domain, std::uint32_t name, Ns time_ns) const {
    const auto found = times_.find({text(file, domain), text(file, name)});
    if (found == times_.end()) return std::nullopt;
    const auto own = std::lower_bound(found->second.begin(), found->second.end(), time_ns);
    if (own == found->second.end()) return std::nullopt;
    return static_cast<std::uint64_t>(own - found->second.begin());
  }

 private:
  static std::string text(const File& file, std::uint32_t number) {
    auto found = file.strings.find(number);
    return found != file.strings.end() ? found->second : std::string();
  }

  std::map<std::pair<std::string, std::string>, std::vector<Ns>> times_;
};

class FileCounters {
 public:
  FileCounters(File& file, const RangeBegins& begins, Ns origin_ns, CounterReport& report)
      : file_(file), begins_(begins), origin_ns_(origin_ns), report_(report) {}

  void add() {
    for (const StageCount& count : file_.gpu.metrics.stages) add_window(count);
    for (const Remark& note : file_.gpu.notes) add_once(report_.notes, note);
    add_kernels();
  }

 private:
  // Nothing where the string was lost; number 0 is the default domain.
  const std::string* text(std::uint32_t number) const {
    static const std::string none;
    if (number == 0) return &none;
    auto found = file_.strings.find(number);
    return found != file_.strings.end() ? &found->second : nullptr;
  }

  void add_window(const StageCount& count) {
    const trace_format::StageCounters& record = count.record;
    const std::string *domain = text(record.domain), *name = text(record.name);
    if (domain == nullptr || name == nullptr || record.name == 0) {
      ++report_.rows_damaged[{Code::kPartLost, {"counters of a range", "name"}}];
      return;
    }
    if (!possible(record.start_ns) || !possible(record.end_ns) || record.end_ns < record.start_ns || record.windows == 0) {
      ++report_.rows_damaged[{Code::kImpossibleWindow}];
      return;
    }
    WindowCounters window;
    window.domain = as_utf8(*domain);
    window.name = as_utf8(*name);
    window.device = static_cast<std::int32_t>(record.device);
    // A window is opened just before its range is recorded. The collector's own number begins with CUDA.
    window.first = begins_.number(file_, record.domain, record.name, record.start_ns).value_or(record.first);
    window.windows = record.windows;
    window.start_ns = record.start_ns - origin_ns_;
    window.end_ns = record.end_ns - origin_ns_;
    add_metrics(file_.gpu.metrics.sets[count.set], count.values, window.metrics);
    report_.windows.push_back(std::move(window));
  }

  std::uint32_t passes(const KernelCount& count) const { return std::max(1u, file_.gpu.metrics.sets[count.set].passes); }

  // The set that was the first with these metrics: a set may be defined anew, for another context.
  std::uint32_t kind_of(std::uint32_t set) const {
    const std::vector<MetricSet>& sets = file_.gpu.metrics.sets;
    auto same = [&](const MetricSet& other) {
      return other.passes == sets[set].passes && other.series.metrics == sets[set].series.metrics;
    };
    return static_cast<std::uint32_t>(std::find_if(sets.begin(), sets.end(), same) - sets.begin());
  }

  // The first measurement of a shape by each set is of one launch with the others', and so is the second …
  struct Key {
    std::uint32_t kernel = 0, device = 0;
    Dim3 grid, block;
    std::uint64_t turn = 0;
    auto operator<=>(const Key&) const = default;
  };

  void add_kernels() {
    std::map<Key, std::vector<const KernelCount*>> launches;
    std::map<std::pair<Key, std::uint32_t>, std::uint64_t> turns;  // of a shape and kind of set
    for (const KernelCount& count : file_.gpu.metrics.kernels) {
      Key key{count.record.kernel, count.record.device, dims(count.record.grid), dims(count.record.block), 0};
      if (!usable(count)) continue;
      key.turn = turns[{key, kind_of(count.set)}]++;
      launches[key].push_back(&count);
    }
    std::vector<std::vector<const KernelCount*>> in_order;
    for (auto& [key, counts] : launches) {
      std::stable_sort(counts.begin(), counts.end(), [&](auto* a, auto* b) { return passes(*a) < passes(*b); });
      in_order.push_back(std::move(counts));
    }
    std::stable_sort(in_order.begin(), in_order.end(),
                     [](const auto& a, const auto& b) { return a[0]->record.time_ns < b[0]->record.time_ns; });
    std::size_t first = report_.kernels.launches.size();
    for (const auto& counts : in_order) add_launch(counts);
    std::vector<const KernelCount*> leaders;
    for (const auto& counts : in_order) leaders.push_back(counts[0]);
    add_ranges(leaders, first);
  }

  bool usable(const KernelCount& count) {
    if (!file_.gpu.names.contains(count.record.kernel)) ++report_.rows_damaged[{Code::kPartLost, {"counters of a kernel", "name"}}];
    else if (!possible(count.record.time_ns)) ++report_.rows_damaged[{Code::kImpossibleWindow}];
    else return true;
    return false;
  }

  // `counts`: of one launch, the set with the fewest passes first.
  void add_launch(const std::vector<const KernelCount*>& counts) {
    const trace_format::KernelCounters& record = counts[0]->record;
    NcuLaunch launch;
    launch.id = report_.kernels.launches.size();
    launch.pid = file_.header.pid;
    launch.kernel_name = as_utf8(file_.gpu.names.at(record.kernel));
    launch.device = static_cast<std::int32_t>(record.device);
    launch.context = record.context;
    launch.grid = dims(record.grid);
    launch.block = dims(record.block);
    bool in_place = passes(*counts[0]) == 1;
    for (const KernelCount* count : counts) {
      const MetricSet& set = file_.gpu.metrics.sets[count->set];
      for (std::size_t i = 0; i < count->values.size(); ++i) {
        std::string metric = as_utf8(set.series.metrics[i]);
        bool warm_dram = in_place && passes(*count) > 1 && metric.find("dram_") != std::string::npos;
        if (warm_dram || !std::isfinite(count->values[i])) continue;
        launch.metrics.emplace(metric, count->values[i]);
      }
    }
    report_.kernels.launches.push_back(std::move(launch));
  }

  // The ranges that were open on the launching thread, for the launches from `first` on, which come by time.
  void add_ranges(const std::vector<const KernelCount*>& leaders, std::size_t first) {
    Trace trace;
    collector_trace::Replay replay(file_, trace, 0);
    replay.run();
    add_damage(report_.rows_damaged, trace.stats.rows_damaged);
    std::stable_sort(trace.ranges.begin(), trace.ranges.end(), [](const Range& a, const Range& b) {
      return std::tuple(a.start_ns, a.open ? std::numeric_limits<Ns>::min() : -a.end_ns) <
             std::tuple(b.start_ns, b.open ? std::numeric_limits<Ns>::min() : -b.end_ns);
    });
    std::vector<const Range*> open;
    auto next = trace.ranges.begin();
    for (std::size_t i = 0; i < leaders.size(); ++i) {
      Ns now_ns = leaders[i]->record.time_ns;
      for (; next != trace.ranges.end() && next->start_ns <= now_ns; ++next) open.push_back(&*next);
      std::erase_if(open, [&](const Range* range) { return !range->open && range->end_ns < now_ns; });
      for (const Range* range : open)
        if (trace.threads[range->thread].tid == leaders[i]->record.tid)
          report_.kernels.launches[first + i].ranges.push_back(
              {as_utf8(trace.strings[range->domain]), as_utf8(trace.strings[range->name]), range->style});
    }
  }

  File& file_;
  const RangeBegins& begins_;
  Ns origin_ns_;
  CounterReport& report_;
};

}  // namespace

CounterReport read_collector_counters(const std::vector<std::filesystem::path>& paths) {
  CounterReport report;
  report.kernels.page = "raw";
  ImportStats stats;
  std::vector<File> files = collector_trace::read_files(paths, stats);
  report.rows_damaged = std::move(stats.rows_damaged);
  report.notes = std::move(stats.notes);
  const RangeBegins begins(files);
  for (File& file : files) FileCounters(file, begins, files.front().header.monotonic_ns, report).add();
  return report;
}

// Of a counter pass. The files begin as those of a trace do, so that only the flag tells them apart.
extern const Format kCountersFormat = {.name = "counters",
                                       .help = "counter files of the collector (counters/*/*.nltrace); joined to the capture, as --ncu is",
                                       .known_as = {},
                                       .gives = Gives::kCounters,
                                       .together = true,
                                       .read = [](const Files& files) -> Reading { return read_collector_counters(files); }};

}  // namespace nl::parsers

#include "analysis/figures/detail/detail.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "analysis/figures/detail/host_part.h"
#include "analysis/staging/staged_trace.h"
#include "analysis/trace/gpu_order.h"

namespace nl::analysis {
namespace {

constexpr std::uint32_t kLaneBuckets = 100'000, kFewestBuckets = 512;  // of all lanes together, and of one

std::uint32_t buckets_for(std::size_t lanes, std::uint32_t most) {
  const auto fair = static_cast<std::uint32_t>(kLaneBuckets / std::max<std::size_t>(1, lanes));
  return std::min(most, std::max(kFewestBuckets, fair));
}

std::vector<BudgetSpan> spans_of(const std::vector<Window>& windows) {
  std::vector<BudgetSpan> spans;
  for (const Window& window : windows)
    spans.push_back({window.start_ns, window.end_ns, window.end_ns, window.process, window.thread, 0, false});
  return spans;
}

std::string device_title(const Trace& trace, const GpuLane& lane) {
  if (lane.device == kNoDevice) return "a process without GPU work";
  std::string title = fmt::format("GPU {}", lane.device);
  for (const Device& device : trace.devices)
    if (device.id == lane.device && !device.name.empty()) title += fmt::format(" ({})", device.name);
  return trace.processes.size() > 1 ? fmt::format("{} of process {}", title, lane.pid) : title;
}

class DetailMaker {
 public:
  DetailMaker(StagedTrace staged, const CaptureSpan& capture, const Spans& cited, const DetailLimits& limits)
      : trace_(staged.trace), limits_(limits), stages_(std::move(staged.table)), windows_(std::move(staged.windows)), capture_(capture) {
    std::stable_sort(windows_.begin(), windows_.end(), [](const Window& a, const Window& b) {
      return std::tuple(a.start_ns, -a.end_ns) < std::tuple(b.start_ns, -b.end_ns);
    });
    exact_ = exact_windows(trace_, capture_, windows_, cited, limits.slices);
  }

  Detail make() {
    const LaneTable lanes(trace_, stages_);
    const Buckets buckets(capture_, buckets_for(lanes.lanes().size(), limits_.buckets));
    NameTable names(trace_);
    Origins origins(trace_, lanes.ranges_by_start());
    const CallsByThread launches(trace_), other_calls(trace_, trace_.other_calls);
    Sites sites(trace_, launches, other_calls, lanes.ranges_by_start());
    LaneFilling filling(buckets, lanes.lanes().size());
    SliceCollector slices(exact_, lanes.lanes().size());
    const DetailParts parts{trace_, launches, other_calls, lanes, names, origins, sites, filling, slices};
    add_host_slices(parts);
    add_gpu(parts, buckets);
    detail_.overview.bucket_ns = buckets.length_ns();
    detail_.overview.count = buckets.count();
    detail_.overview.lanes = filling.take();
    detail_.lanes = lanes.lanes();
    detail_.lanes_left_out = lanes.lanes_left_out();
    detail_.slices_left_out = lanes.slices_left_out();
    put_windows(slices);
    detail_.operators = origins.take_operators();
    detail_.layers = origins.take_layers();
    detail_.sites = sites.take();
    detail_.sample_period_ns = trace_.host.period_ns;
    detail_.names = names.take();
    detail_.stages = stages_.stages();
    detail_.start_ns = capture_.start_ns;
    detail_.end_ns = capture_.end_ns;
    return std::move(detail_);
  }

 private:
  void add_gpu(const DetailParts& parts, const Buckets& buckets) {
    const GpuLanes gpus(trace_);
    const auto listed = listed_steps(windows_, exact_, limits_.steps / std::max(1u, gpus.size()));
    bins_.emplace(windows_, process_slots(trace_), buckets, exact_, listed);
    BudgetSweep budget(trace_, gpus, spans_of(windows_), 1, &*bins_);
    bins_->set_lanes(budget.lanes());
    for (const GpuLane& lane : budget.lanes())
      detail_.devices.push_back(
          {lane.device == kNoDevice ? std::nullopt : std::optional(lane.device), lane.pid, device_title(trace_, lane)});
    GpuPart part(parts, buckets, gpus, budget, *bins_, limits_.sums);
    visit_gpu_work(trace_, part);
    budget.finish();
    bins_->finish();
    part.put(detail_);
    detail_.steps = list_steps(windows_, listed);
    detail_.steps_in_all = windows_.size();
    find_exact_windows(exact_, detail_.steps);
    bins_->put_overview(detail_.overview);
    bins_->put_bins(detail_.steps);
  }

  void put_windows(SliceCollector& slices) {
    detail_.windows = slices.take();
    for (std::size_t i = 0; i < detail_.windows.size(); ++i) {
      DetailWindow& window = detail_.windows[i];
      window.whole = window.start_ns <= capture_.start_ns && window.end_ns >= capture_.end_ns;
      for (std::uint32_t lane = 0; lane < detail_.devices.size(); ++lane) window.bins.push_back(bins_->take_intervals(i, lane));
    }
  }

  const Trace& trace_;
  const DetailLimits& limits_;
  StageTable stages_;
  std::vector<Window> windows_;  // by start, longest first
  CaptureSpan capture_;
  Spans exact_;
  std::optional<BinRecorder> bins_;
  Detail detail_;
};

}  // namespace

Detail make_detail(const Trace& trace, const WarmupRule& warmup, const Spans& cited, const DetailLimits& limits) {
  const CaptureSpan capture = capture_span(trace);
  return capture.empty() ? Detail() : DetailMaker(StagedTrace(trace, warmup), capture, cited, limits).make();
}

Spans cited_moments(const Run& run) {
  Spans cited;
  const auto add = [&](std::optional<Ns> start_ns, std::optional<Ns> end_ns) {
    if (start_ns && end_ns && std::find(cited.begin(), cited.end(), std::pair(*start_ns, *end_ns)) == cited.end())
      cited.emplace_back(*start_ns, *end_ns);
  };
  for (const Finding& finding : run.findings)
    for (const FindingEvidence& evidence : finding.evidence) add(evidence.window_start_ns, evidence.window_end_ns);
  for (const StageEntry& stage : run.stages)
    if (stage.activity) add(stage.activity->longest_gap_at_ns, stage.activity->longest_gap_at_ns + stage.activity->longest_gap_ns);
  return cited;
}

}  // namespace nl::analysis

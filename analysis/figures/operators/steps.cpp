#include "analysis/figures/operators/steps.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/figures/operators/types.h"
#include "nvtx/names.h"

namespace nl::analysis {
namespace {

// Nearest rank; `sorted` is not empty.
Ns percentile(const std::vector<Ns>& sorted, double part) {
  const auto rank = static_cast<std::size_t>(std::ceil(part * static_cast<double>(sorted.size())));
  return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

template <class Value>
std::optional<OperatorTimes> times_over(const std::vector<const OperatorStep*>& iterations, std::size_t call, Value value) {
  std::vector<Ns> values;
  for (const OperatorStep* each : iterations)
    if (const std::optional<Ns> ns = value(each->calls[call])) values.push_back(*ns);
  if (values.size() < 2) return std::nullopt;
  return times_of(std::move(values));
}

constexpr std::size_t kMostWindows = 16;  // of a stage that times are over

// Chooses the window of each stage that represents the others.
class Representatives {
 public:
  Representatives(const StepRequest& request, const RangeIndex& index)
      : steps_(request.windows), operators_(operators_by_window(request.trace, steps_, request.catalogue.items, index)),
        gpu_ns_(steps_.all().size()) {
    visit_work(request.trace, [&](const WorkRow& row) {
      for (std::uint32_t window = steps_.find(row.launch.thread, row.launch.start_ns, row.launch.end_ns); window != kNone;
           window = steps_.parent(window))
        gpu_ns_[window] += row.duration_ns;
    });
  }

  struct Pick {
    std::uint32_t window = kNone;
    std::uint64_t windows = 0;         // of the stage, with operators
    std::vector<std::uint32_t> alike;  // with as many operators, itself among them
  };
  Pick of(const std::string& stage) const {
    std::map<std::uint64_t, std::vector<std::uint32_t>> by_count;
    Pick pick;
    for (std::uint32_t i = 0; i < operators_.chosen.size(); ++i) {
      if (!operators_.chosen[i] || steps_.all()[i].stage != stage) continue;
      by_count[operators_.ranges[i] + operators_.replayed[i]].push_back(i);
      ++pick.windows;
    }
    const std::vector<std::uint32_t>* most = nullptr;  // of two as frequent, the one with more operators
    for (const auto& [count, windows] : by_count)
      if (most == nullptr || windows.size() >= most->size()) most = &windows;
    if (most == nullptr) return pick;
    std::vector<std::uint32_t> order = *most;
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return std::tuple(gpu_ns_[a], a) < std::tuple(gpu_ns_[b], b); });
    pick.window = order[(order.size() - 1) / 2];
    pick.alike = some_of(*most, pick.window);
    return pick;
  }

 private:
  // Spread over all of them where they are many: each is gone through call by call.
  static std::vector<std::uint32_t> some_of(const std::vector<std::uint32_t>& windows, std::uint32_t own) {
    if (windows.size() <= kMostWindows) return windows;
    std::vector<std::uint32_t> some = {own};
    for (std::size_t i = 0; i < kMostWindows && some.size() < kMostWindows; ++i)
      if (const std::uint32_t window = windows[i * windows.size() / kMostWindows]; window != own) some.push_back(window);
    return some;
  }

  const StepWindows& steps_;
  const WindowOperators operators_;
  std::vector<Ns> gpu_ns_;
};

// What a window holds: operators and the work that is launched in it.
struct WindowContent {
  std::uint32_t window = kNone;
  std::vector<std::uint32_t> ranges;
  std::vector<WorkRow> work;
};

// All windows in one pass over the trace.
std::vector<WindowContent> contents_of(const StepRequest& request, const std::vector<std::uint32_t>& windows) {
  std::vector<WindowContent> out;
  for (const std::uint32_t window : windows) out.push_back({window, {}, {}});
  const auto window_of = [&](const WindowContent& content) -> const StepWindow& { return request.windows.all()[content.window]; };
  for (std::uint32_t i = 0; i < request.trace.ranges.size(); ++i) {
    const Range& range = request.trace.ranges[i];
    if (request.catalogue.items.item_of_range[i] == kNone) continue;
    for (WindowContent& each : out)
      if (window_of(each).holds(range.thread, range.start_ns, range.end_ns)) each.ranges.push_back(i);
  }
  visit_work(request.trace, [&](const WorkRow& row) {
    for (WindowContent& each : out)
      if (window_of(each).holds(row.launch.thread, row.launch.start_ns, row.launch.end_ns)) each.work.push_back(row);
  });
  return out;
}

// The name of the innermost range of a domain around another, without the domain.
std::string innermost_of(const Trace& trace, const std::vector<std::uint32_t>& around, std::string_view domain) {
  for (auto range = around.rbegin(); range != around.rend(); ++range) {
    const nvtx::RangeName name =
        nvtx::normalise_range(trace.strings[trace.ranges[*range].domain], trace.strings[trace.ranges[*range].name]);
    if (name.domain == domain) return name.name;
  }
  return {};
}

class StepBuilder {
 public:
  StepBuilder(const StepRequest& request, const RangeIndex& index)
      : request_(request), trace_(request.trace), index_(index), innermost_(index, request.catalogue.items), dtypes_(request.dtypes),
        gpu_(trace_.has_kernel_data || trace_.has_mem_data) {}

  OperatorStep build(const WindowContent& content, std::uint64_t windows) {
    const StepWindow& window = request_.windows.all()[content.window];
    calls_.clear();
    outside_ns_ = 0;
    for (const std::uint32_t range : content.ranges) calls_[place_of(range)] = {};
    for (const WorkRow& row : content.work) add_work(row);
    OperatorStep step{window.stage, source_name(request_.source, trace_), window.number, windows, {}, 0, {}};
    step.wall_ns = window.end_ns - window.start_ns;
    if (gpu_) step.gpu_outside_ns = std::llround(outside_ns_);
    std::uint32_t number = 0;
    for (const auto& [place, work] : calls_) {
      if (step.calls.size() < request_.max_calls) step.calls.push_back(call_of(place.range, number++, work));
      else ++step.calls_left_out;
    }
    return step;
  }

 private:
  struct Work {
    bool replayed = false;
    double time_ns = 0;
    Ns recorded_ns = 0;
    std::map<std::uint32_t, std::pair<std::uint64_t, double>> kernels;  // by name: calls and time
  };
  struct Place {
    Ns when_ns;           // it begins, or its graph is launched
    Ns start_ns, end_ns;  // of the range; the longest first
    std::uint32_t range;
    friend bool operator<(const Place& a, const Place& b) {
      return std::tuple(a.when_ns, a.start_ns, -a.end_ns, a.range) < std::tuple(b.when_ns, b.start_ns, -b.end_ns, b.range);
    }
  };
  Place place_of(std::uint32_t range) const {
    return {trace_.ranges[range].start_ns, trace_.ranges[range].start_ns, trace_.ranges[range].end_ns, range};
  }

  std::string stage_of(const WorkRow& row) const {
    const std::uint32_t window = request_.windows.find(row.launch.thread, row.launch.start_ns, row.launch.end_ns);
    return window == kNone ? std::string() : request_.windows.all()[window].stage;
  }

  void add_work(const WorkRow& row) {
    const double time_ns = request_.time_ns ? request_.time_ns(stage_of(row), row) : static_cast<double>(row.duration_ns);
    const std::uint32_t range = innermost_.of(row.origin);
    if (range == kNone) {
      outside_ns_ += time_ns;
      return;
    }
    Work& work = row.origin == row.launch ? calls_[place_of(range)] : replayed(row, range);
    work.time_ns += time_ns;
    work.recorded_ns += row.duration_ns;
    auto& [calls, total_ns] = work.kernels[row.name];
    ++calls;
    total_ns += time_ns;
  }

  // At the launch of the graph, with the operators around it: the times of their ranges are those at which the graph was made.
  Work& replayed(const WorkRow& row, std::uint32_t innermost) {
    index_.enclosing(row.origin.thread, row.origin.start_ns, row.origin.end_ns, around_);
    Work* work = nullptr;
    for (const std::uint32_t range : around_) {
      if (request_.catalogue.items.item_of_range[range] == kNone) continue;
      Place place = place_of(range);
      place.when_ns = row.launch.start_ns;
      Work& each = calls_[place];
      each.replayed = true;
      if (range == innermost) work = &each;
    }
    return *work;
  }

  OperatorCall call_of(std::uint32_t index, std::uint32_t number, const Work& work) {
    const Range& range = trace_.ranges[index];
    const Catalogue& catalogue = request_.catalogue;
    const std::uint32_t item = catalogue.items.item_of_range[index];
    OperatorCall call;
    call.index = number;
    call.name = catalogue.names[catalogue.items.group_of_item[item]];
    call.type = operator_type(call.name);
    call.shapes = catalogue.shapes[item];
    call.dtypes = dtypes_.of(call.name, call.shapes);
    call.host_ns = work.replayed ? 0 : range.end_ns - range.start_ns;
    index_.enclosing(range.thread, range.start_ns, range.end_ns, around_);
    for (const std::uint32_t other : around_)
      if (other != index && catalogue.items.item_of_range[other] != kNone) ++call.depth;
    call.layer = split_layer_name(innermost_of(trace_, around_, nvtx::kLayerDomain)).name;
    call.line = innermost_of(trace_, around_, nvtx::kLineDomain);
    if (!gpu_) return call;
    call.gpu_ns = std::llround(work.time_ns);
    call.gpu_recorded_ns = work.recorded_ns;
    for (const auto& [name, sum] : work.kernels) call.kernels.push_back({name_of_work(trace_, name), sum.first, std::llround(sum.second)});
    std::sort(call.kernels.begin(), call.kernels.end(), [](const OperatorKernel& a, const OperatorKernel& b) {
      return std::tuple(-a.total_ns, std::string_view(a.name)) < std::tuple(-b.total_ns, std::string_view(b.name));
    });
    return call;
  }

  const StepRequest& request_;
  const Trace& trace_;
  const RangeIndex& index_;
  InnermostRange innermost_;
  DtypeTable dtypes_;
  const bool gpu_;
  std::map<Place, Work> calls_;
  double outside_ns_ = 0;
  std::vector<std::uint32_t> around_;
};

}  // namespace

OperatorTimes times_of(std::vector<Ns> values) {
  OperatorTimes times;
  times.count = values.size();
  if (values.empty()) return times;
  std::sort(values.begin(), values.end());
  for (const Ns value : values) times.total_ns += value;
  const std::size_t middle = values.size() / 2;
  const double upper = static_cast<double>(values[middle]);
  times.median_ns = values.size() % 2 == 1 ? upper : (upper + static_cast<double>(values[middle - 1])) / 2;
  times.min_ns = values.front();
  times.p10_ns = percentile(values, 0.1);
  times.p90_ns = percentile(values, 0.9);
  times.max_ns = values.back();
  return times;
}

bool same_calls(const OperatorStep& a, const OperatorStep& b) {
  return std::equal(
      a.calls.begin(), a.calls.end(), b.calls.begin(), b.calls.end(),
      [](const OperatorCall& left, const OperatorCall& right) { return left.name == right.name && left.depth == right.depth; });
}

void add_times_of(std::span<const OperatorStep> iterations, OperatorStep& step) {
  std::vector<const OperatorStep*> alike;
  for (const OperatorStep& each : iterations)
    if (same_calls(each, step)) alike.push_back(&each);
  step.iterations = std::max<std::size_t>(1, alike.size());
  std::vector<Ns> walls;
  for (const OperatorStep* each : alike)
    if (each->wall_ns) walls.push_back(*each->wall_ns);
  if (!walls.empty()) step.wall_ns = std::llround(times_of(std::move(walls)).median_ns);
  for (std::size_t i = 0; i < step.calls.size(); ++i) {
    step.calls[i].host_times = times_over(alike, i, [](const OperatorCall& call) { return call.host_ns; });
    step.calls[i].gpu_times = times_over(alike, i, [](const OperatorCall& call) { return call.gpu_recorded_ns; });
  }
}

std::vector<OperatorStep> operator_steps(const StepRequest& request) {
  std::vector<OperatorStep> steps;
  if (request.catalogue.items.groups == 0) return steps;
  const RangeIndex index(request.trace);
  const Representatives representatives(request, index);
  StepBuilder builder(request, index);
  for (const std::string& stage : request.windows.stages()) {
    const auto pick = representatives.of(stage);
    if (pick.window == kNone) continue;
    std::vector<OperatorStep> alike;
    for (const WindowContent& content : contents_of(request, pick.alike)) {
      alike.push_back(builder.build(content, pick.windows));
      if (content.window == pick.window) steps.push_back(alike.back());
    }
    add_times_of(alike, steps.back());
  }
  return steps;
}

}  // namespace nl::analysis

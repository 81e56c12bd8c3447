#include "analysis/nsys_stats/range_work.h"

#include <algorithm>
#include <tuple>

#include "analysis/nsys_stats/reports.h"

namespace nl::analysis {
namespace {

constexpr std::uint32_t kNoCall = 0;  // the context of work without one
constexpr std::size_t kRowsAtOnce = 256;

}  // namespace

RangeWork::RangeWork(const Trace& trace, std::size_t call_parts, std::size_t work_parts)
    : trace_(trace), open_end_ns_(last_range_time(trace)), call_parts_(call_parts), work_parts_(work_parts) {
  for (CallPart& part : call_parts_) found_.push_back(&part.contexts);
  contexts_.emplace_back();
  make_lanes();
}

void RangeWork::make_lanes() {
  lanes_.resize(trace_.threads.size());
  std::vector<std::uint32_t> ranges;
  for (std::uint32_t i = 0; i < trace_.ranges.size(); ++i)
    if (encloses_calls(trace_.ranges[i])) ranges.push_back(i);
  std::sort(ranges.begin(), ranges.end(),
            [&](std::uint32_t a, std::uint32_t b) { return trace_.ranges[a].start_ns < trace_.ranges[b].start_ns; });
  for (const std::uint32_t i : ranges) {
    const Range& range = trace_.ranges[i];
    Lane& lane = lanes_[range.thread];
    lane.starts.push_back(range.start_ns);
    lane.ends.push_back(end_of(range));
    lane.latest_end.push_back(lane.latest_end.empty() ? lane.ends.back() : std::max(lane.latest_end.back(), lane.ends.back()));
  }
  for (Lane& lane : lanes_) std::sort(lane.ends.begin(), lane.ends.end());
}

void RangeWork::add_calls(std::size_t part, std::span<const CallRow> calls) {
  CallPart& own = call_parts_[part];
  for (const CallRow& call : calls)
    if (call.correlation != kNone && call.process != kNone) own.contexts.put(call.process, call.correlation, context_of(own, call));
}

std::uint32_t RangeWork::context_of(CallPart& part, const CallRow& call) {
  if (call.thread >= part.cursors.size()) part.cursors.resize(call.thread + 1);
  Cursor& cursor = part.cursors[call.thread];
  const bool stays = call.start_ns >= cursor.start_from_ns && call.start_ns < cursor.start_before_ns && call.end_ns > cursor.end_after_ns &&
                     call.end_ns <= cursor.end_to_ns;
  if (!stays) cursor = place(call);
  return cursor.context;
}

RangeWork::Cursor RangeWork::place(const CallRow& call) {
  constexpr Ns kNever = std::numeric_limits<Ns>::min(), kForever = std::numeric_limits<Ns>::max();
  const std::lock_guard lock(mutex_);
  if (call.thread >= lanes_.size()) lanes_.resize(call.thread + 1);
  Lane& lane = lanes_[call.thread];
  const std::uint32_t begun = lane.begun(call.start_ns), ended = lane.ended(call.end_ns);
  const auto [found, added] = lane.by_place.try_emplace(std::uint64_t{begun} << 32 | ended, static_cast<std::uint32_t>(contexts_.size()));
  if (added) contexts_.push_back({call.thread, begun, ended});
  return {begun > 0 ? lane.starts[begun - 1] : kNever, begun < lane.starts.size() ? lane.starts[begun] : kForever,
          ended > 0 ? lane.ends[ended - 1] : kNever, ended < lane.ends.size() ? lane.ends[ended] : kForever, found->second};
}

void RangeWork::Kernels::add(StringId name, Ns duration_ns) {
  if (size_ % kBlock == 0) blocks_.emplace_back(new Kept[kBlock]);
  Kept& kept = blocks_.back()[size_ % kBlock];
  kept.name = name;
  kept.duration = static_cast<std::uint32_t>(std::min<Ns>(duration_ns, kLong));
  if (kept.duration == kLong) long_.emplace(size_, duration_ns);
  ++size_;
}

void RangeWork::add_kernels(std::size_t part, std::span<const LaunchedRow> kernels) {
  WorkPart& own = work_parts_[part];
  ContextFinder finder(found_);
  for (const LaunchedRow& kernel : kernels) {
    const std::uint32_t found = finder.launching(kernel.process, kernel.correlation);
    const std::uint32_t context = found == CallContexts::kUnknown ? kNoCall : found;
    if (own.runs.empty() || own.runs.back().context != context || own.runs.back().count == UINT32_MAX)
      own.runs.push_back({own.kernels.size(), part, 0, context});
    ++own.runs.back().count;
    own.kernels.add(kernel.name, kernel.end_ns - kernel.start_ns);
    if (context != kNoCall) project(own, context, kernel);
  }
}

void RangeWork::add_mem_ops(std::span<const LaunchedRow> ops) {
  ContextFinder finder(found_);
  for (const LaunchedRow& op : ops)
    if (const std::uint32_t context = finder.launching(op.process, op.correlation); context != CallContexts::kUnknown)
      project(work_parts_.front(), context, op);
}

void RangeWork::project(WorkPart& part, std::uint32_t context, const LaunchedRow& row) const {
  if (context >= part.projections.size()) part.projections.resize(contexts_.size());
  part.projections[context].widen({row.start_ns, row.end_ns, 0});
}

void RangeWork::finish() {
  for (std::uint32_t i = 1; i < contexts_.size(); ++i) lanes_[contexts_[i].thread].contexts.push_back(i);
  for (Lane& lane : lanes_) {
    lane.by_place = {};
    std::sort(lane.contexts.begin(), lane.contexts.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(contexts_[a].begun, contexts_[a].ended) < std::tuple(contexts_[b].begun, contexts_[b].ended);
    });
  }
  order_runs();
  sum_projections();
}

void RangeWork::order_runs() {
  for (WorkPart& part : work_parts_) {
    if (runs_.empty()) runs_.swap(part.runs);
    runs_.insert(runs_.end(), part.runs.begin(), part.runs.end());
    part.runs = {};
  }
  std::sort(runs_.begin(), runs_.end(),
            [](const Run& a, const Run& b) { return std::tuple(a.context, a.part, a.first) < std::tuple(b.context, b.part, b.first); });
  first_run_.assign(contexts_.size() + 1, 0);
  for (const Run& run : runs_) ++first_run_[run.context + 1];
  for (std::size_t i = 1; i < first_run_.size(); ++i) first_run_[i] += first_run_[i - 1];
}

void RangeWork::sum_projections() {
  projections_.resize(contexts_.size());
  for (const WorkPart& part : work_parts_)
    for (std::size_t i = 0; i < part.projections.size(); ++i) projections_[i].widen(part.projections[i]);
  for (CallPart& part : call_parts_) {
    part.contexts.each_launch([&](std::uint32_t context) { ++projections_[context].launches; });
    part.contexts = {};
  }
}

RangeWork::Projection RangeWork::projection(std::uint32_t range) const {
  Projection all;
  each_context(range, [&](std::uint32_t context) { all.widen(projections_[context]); });
  return all;
}

std::multimap<std::uint32_t, std::uint32_t> RangeWork::outside() const {
  std::multimap<std::uint32_t, std::uint32_t> found{{kNone, kNoCall}};
  for (std::uint32_t i = 1; i < contexts_.size(); ++i) {
    const Context& context = contexts_[i];
    const Lane& lane = lanes_[context.thread];
    const bool enclosed = context.begun > 0 && lane.ended(lane.latest_end[context.begun - 1]) >= context.ended;
    if (!enclosed) found.emplace(context.thread, i);
  }
  return found;
}

std::vector<ApiStat> RangeWork::kernels_by_name() const {
  DurationsByName all;
  const auto add = [&](StringId name, Ns duration_ns) { all.add(name, duration_ns); };
  for (const WorkPart& part : work_parts_)
    for (std::uint64_t i = 0; i < part.kernels.size(); ++i) part.kernels.visit(i, add);
  return all.take();
}

std::vector<ApiStat> DurationsByName::take() {
  std::vector<ApiStat> all;
  for (std::uint32_t id = 0; id < by_id_.size(); ++id)
    if (by_id_[id].count() > 0) all.push_back({StringId{id}, std::move(by_id_[id])});
  by_id_.clear();
  return all;
}

// A call's place in the trace stands for its correlation.
void add_trace(const Trace& trace, RangeWork& work) {
  std::vector<CallRow> calls;
  for (std::uint32_t i = 0; i < trace.api_calls.size(); ++i) {
    const ApiCall& call = trace.api_calls[i];
    calls.push_back({call.start_ns, call.end_ns(), static_cast<std::uint32_t>(call.thread), 0, i});
    if (calls.size() < kRowsAtOnce && i + 1 < trace.api_calls.size()) continue;
    work.add_calls(0, calls);
    calls.clear();
  }
  std::vector<LaunchedRow> rows;
  for (std::size_t i = 0; i < trace.kernels.size(); ++i) {
    const Kernel& kernel = trace.kernels[i];
    rows.push_back({kernel.start_ns, kernel.end_ns(), trace.shapes[kernel.shape].name, 0, kernel.api});
    if (rows.size() < kRowsAtOnce && i + 1 < trace.kernels.size()) continue;
    work.add_kernels(0, rows);
    rows.clear();
  }
  for (const MemOp& op : trace.mem_ops) rows.push_back({op.start_ns, op.end_ns, {}, 0, op.api});
  work.add_mem_ops(rows);
  work.finish();
}

}  // namespace nl::analysis

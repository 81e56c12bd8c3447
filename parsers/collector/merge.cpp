#include "parsers/collector/merge.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "model/cuda_calls.h"
#include "parsers/cuda_names.h"
#include "parsers/nsys/correlation.h"
#include "parsers/nsys/strings.h"

namespace nl::parsers::collector_trace {
namespace {

template <typename T>
void append(std::vector<T>& all, std::vector<T>&& more) {
  if (all.empty()) all = std::move(more);
  else all.insert(all.end(), more.begin(), more.end());
  more = {};
}

template <typename Row>
void sort_by_start(std::vector<Row>& rows) {
  auto earlier = [](const Row& a, const Row& b) { return a.start_ns < b.start_ns; };
  if (!std::is_sorted(rows.begin(), rows.end(), earlier)) std::stable_sort(rows.begin(), rows.end(), earlier);
}

// And the nodes that the rows ran from, where they are known, with them.
template <typename Row>
void sort_by_start(std::vector<Row>& rows, std::vector<std::uint32_t>& nodes) {
  if (nodes.empty()) return sort_by_start(rows);
  nodes.resize(rows.size(), kNone);
  std::vector<std::uint32_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0u);
  auto earlier = [&](std::uint32_t a, std::uint32_t b) { return rows[a].start_ns < rows[b].start_ns; };
  if (std::is_sorted(order.begin(), order.end(), earlier)) return;
  std::stable_sort(order.begin(), order.end(), earlier);
  std::vector<Row> sorted_rows;
  std::vector<std::uint32_t> sorted_nodes;
  sorted_rows.reserve(rows.size());
  sorted_nodes.reserve(rows.size());
  for (const std::uint32_t row : order) sorted_rows.push_back(rows[row]), sorted_nodes.push_back(nodes[row]);
  rows = std::move(sorted_rows);
  nodes = std::move(sorted_nodes);
}

template <typename Row>
Ns last_end(const std::vector<Row>& rows) {
  Ns last_ns = 0;
  for (const Row& row : rows) last_ns = std::max(last_ns, row.end_ns());
  return last_ns;
}

}  // namespace

StringId GpuMerge::name_of(const GpuData& gpu, std::uint32_t number) {
  auto found = gpu.names.find(number);
  return found != gpu.names.end() ? trace_.strings.intern(as_utf8(found->second)) : StringId();
}

std::uint32_t GpuMerge::shape_of(const GpuShape& raw, const GpuData& gpu) {
  StringId mangled = name_of(gpu, raw.name);
  auto [names, is_new] = demangled_.try_emplace(mangled);
  if (is_new) {
    std::string text = demangled_kernel(trace_.strings[mangled]);
    names->second = {trace_.strings.intern(text), trace_.strings.intern(kernel_base_name(text))};
  }
  KernelShape shape{names->second.first, names->second.second, mangled,           raw.grid,
                    raw.block,           raw.registers,        raw.static_shared, raw.dynamic_shared};
  auto [found, added] = shapes_.try_emplace(shape, static_cast<std::uint32_t>(trace_.shapes.size()));
  if (added) trace_.shapes.push_back(shape);
  return found->second;
}

std::vector<std::uint32_t> GpuMerge::queues_of(const Part& part) {
  std::vector<std::uint32_t> indices;
  for (const GpuQueue& raw : part.gpu.queues) {
    Queue queue{part.process, raw.device, raw.context, raw.stream};
    auto [found, added] = queues_.try_emplace(queue, static_cast<std::uint32_t>(trace_.queues.size()));
    if (added) trace_.queues.push_back(queue);
    indices.push_back(found->second);
  }
  return indices;
}

// On the trace's queues, in place of the file's.
void GpuMerge::place(Part& part) {
  std::vector<std::uint32_t> queues = queues_of(part);
  for (Kernel& kernel : part.gpu.kernels) kernel.queue = queues[kernel.queue];
  for (MemOp& op : part.gpu.mem_ops) op.queue = queues[op.queue];
  for (GraphRun& run : part.gpu.graph_runs) run.queue = queues[run.queue];
}

void GpuMerge::add_kernels(Part& part) {
  std::vector<std::uint32_t> shapes;
  for (const GpuShape& shape : part.gpu.shapes) shapes.push_back(shape_of(shape, part.gpu));
  for (Kernel& kernel : part.gpu.kernels) {
    kernel.start_ns -= part.origin_ns;
    kernel.shape = shapes[kernel.shape];
    trace_.duration_ns = std::max(trace_.duration_ns, kernel.end_ns());
  }
  append(trace_.kernels, std::move(part.gpu.kernels));
}

void GpuMerge::add_mem_ops(Part& part) {
  for (MemOp& op : part.gpu.mem_ops) {
    op.start_ns -= part.origin_ns;
    op.end_ns -= part.origin_ns;
    bool copy = op.kind != MemOpKind::kMemset;
    if (copy) op.kind = copy_kind(op.label);
    op.label = trace_.strings.intern(copy ? copy_label(op.label) : "[CUDA memset]").value;
    trace_.duration_ns = std::max(trace_.duration_ns, op.end_ns);
  }
  append(trace_.mem_ops, std::move(part.gpu.mem_ops));
  for (SyncWait& wait : part.gpu.syncs) {
    wait.start_ns -= part.origin_ns;
    wait.end_ns -= part.origin_ns;
    wait.where.process = part.process;
  }
  append(trace_.syncs, std::move(part.gpu.syncs));
}

void GpuMerge::add_graph_runs(Part& part) {
  for (GraphRun& run : part.gpu.graph_runs) {
    run.start_ns -= part.origin_ns;
    run.end_ns -= part.origin_ns;
    trace_.duration_ns = std::max(trace_.duration_ns, run.end_ns);
  }
  append(trace_.graph_runs, std::move(part.gpu.graph_runs));
}

void GpuMerge::add_graph_nodes(Part& part, std::size_t first_kernel, std::size_t first_mem_op) {
  for (NodeEvent& event : part.gpu.node_events) event.time_ns -= part.origin_ns;
  GraphNodes nodes;
  nodes.add_kernels(first_kernel, std::move(part.gpu.kernel_nodes));
  nodes.add_mem_ops(first_mem_op, std::move(part.gpu.mem_op_nodes));
  nodes.link(std::move(part.gpu.node_events), [](std::int64_t thread) { return static_cast<std::uint32_t>(thread); }, trace_);
}

void GpuMerge::add_devices(Part& part) {
  for (Device& device : part.gpu.devices) {
    auto known = std::find_if(trace_.devices.begin(), trace_.devices.end(), [&](const Device& d) { return d.id == device.id; });
    if (known == trace_.devices.end()) trace_.devices.push_back(std::move(device));
    else if (known->uuid != device.uuid)
      trace_.stats.notes.push_back({Code::kGpuNumbersDiffer, {std::to_string(device.id), known->uuid, device.uuid}});
  }
  std::sort(trace_.devices.begin(), trace_.devices.end(), [](const Device& a, const Device& b) { return a.id < b.id; });
}

void GpuMerge::add_facts(const Part& part) {
  ImportStats& stats = trace_.stats;
  if (part.gpu.dropped > 0) stats.rows_damaged[{Code::kDropped}] += part.gpu.dropped;
  if (part.gpu.unfinished > 0) stats.rows_damaged[{Code::kUnfinished}] += part.gpu.unfinished;
  for (const Remark& note : part.gpu.notes) add_once(stats.notes, note);
  if (!part.gpu.session && trace_.kernels.empty() && trace_.mem_ops.empty() && trace_.graph_runs.empty()) return;
  trace_.has_kernel_data = trace_.has_mem_data = true;
  trace_.has_api_data = trace_.has_api_data || part.gpu.calls_chosen != trace_format::CallChoice::kNone;
}

// Where a process was killed while it was traced, the span ends with what was written of it.
void GpuMerge::add_traced_spans(const Part& part, Ns last_ns) {
  if (part.gpu.tracing.empty()) return;
  if (!trace_.duty) trace_.duty.emplace();
  std::vector<TracingChange> changes = part.gpu.tracing;
  std::stable_sort(changes.begin(), changes.end(), [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
  if (changes.front().what != trace_format::kTracingOn) changes.insert(changes.begin(), {part.gpu.session_ns, trace_format::kTracingOn});
  changes.push_back({std::max(last_ns, changes.back().time_ns), trace_format::kTracingOff});
  std::vector<TracedSpan>& spans = trace_.duty->spans;
  std::size_t first_open = spans.size();
  bool begins = false;  // whether steps that begin now are traced
  for (const TracingChange& change : changes) {
    const Ns time_ns = change.time_ns - part.origin_ns;
    if (begins) spans.back().last_begin_ns = time_ns;
    begins = change.what == trace_format::kTracingOn;
    if (begins) spans.push_back({time_ns, time_ns, time_ns, part.process});
    if (change.what != trace_format::kTracingOff) continue;
    for (; first_open < spans.size(); ++first_open) spans[first_open].end_ns = time_ns;
  }
}

void GpuMerge::add_work(GpuData&& gpu, std::uint32_t process, Ns origin_ns, std::vector<std::uint32_t> threads) {
  add_waits_of_calls(gpu);
  const Ns last_ns = std::max({gpu.session_ns, last_end(gpu.kernels), last_end(gpu.calls)});
  Part part{std::move(gpu), process, origin_ns, std::move(threads)};
  place(part);
  const std::size_t first_kernel = trace_.kernels.size(), first_mem_op = trace_.mem_ops.size();
  add_kernels(part);
  add_mem_ops(part);
  add_graph_runs(part);
  add_graph_nodes(part, first_kernel, first_mem_op);
  add_devices(part);
  add_facts(part);
  add_traced_spans(part, last_ns);
  parts_.push_back(std::move(part));
}

// Which calls to keep, and the durations of all of them by name.
class CallSieve {
 public:
  CallSieve(const Launches& launches, bool all) : launches_(launches), all_(all) {}
  bool keeps(const ApiCall& call, std::uint32_t process, bool waits) const {
    const CorrelationMap* map = launches_.of_process(process);
    return all_ || waits || (map != nullptr && map->contains(call.correlation));
  }
  std::map<StringId, Durations> durations;

 private:
  const Launches& launches_;
  bool all_;
};

void GpuMerge::keep_calls(Part& part, CallSieve& sieve) {
  struct Function {
    StringId name;
    bool waits;
    Durations* durations;
  };
  std::vector<Function> functions;
  for (std::uint32_t number : part.gpu.functions) {
    const std::string& full = trace_.strings[name_of(part.gpu, number)];
    std::string name(call_name_in_nsys(full));
    StringId id = trace_.strings.intern(name);
    functions.push_back({id, !cuda_call(name).launches, &sieve.durations[id]});
  }
  std::vector<ApiCall>& calls = part.gpu.calls;
  std::size_t kept = 0;
  for (ApiCall call : calls) {
    const Function& function = functions[call.name.value];
    call.start_ns -= part.origin_ns;
    call.thread = part.threads[call.thread];
    call.name = function.name;
    function.durations->add(static_cast<Ns>(call.duration_ns));
    trace_.duration_ns = std::max(trace_.duration_ns, call.end_ns());
    if (sieve.keeps(call, part.process, function.waits)) calls[kept++] = call;
    else if (static_cast<Ns>(call.duration_ns) >= kLongCallNs) trace_.other_calls.push_back(call);
  }
  trace_.stats.rows_read["CUDA calls"] += calls.size();
  calls.resize(kept);
  append(trace_.api_calls, std::move(calls));
}

void GpuMerge::add_calls() {
  if (!trace_.has_kernel_data) return;
  sort_by_start(trace_.kernels, trace_.kernel_nodes);
  sort_by_start(trace_.mem_ops, trace_.mem_op_nodes);
  sort_by_start(trace_.graph_runs);
  sort_by_start(trace_.syncs);
  Launches launches(trace_, false);
  CallSieve sieve(launches, all_calls_);
  for (Part& part : parts_) keep_calls(part, sieve);
  auto order = [](const ApiCall& call) { return std::tuple(std::uint64_t{call.thread}, call.start_ns, call.correlation); };
  auto earlier = [&](const ApiCall& a, const ApiCall& b) { return order(a) < order(b); };
  for (std::vector<ApiCall>* calls : {&trace_.api_calls, &trace_.other_calls})
    if (!std::is_sorted(calls->begin(), calls->end(), earlier)) std::stable_sort(calls->begin(), calls->end(), earlier);
  launches.link(trace_);
  for (auto& [name, durations] : sieve.durations)
    if (durations.count() > 0) trace_.api_stats.push_back({name, std::move(durations)});
  trace_.stats.rows_read["kernels"] = trace_.kernels.size();
  trace_.stats.rows_read["copies and sets"] = trace_.mem_ops.size();
  if (!trace_.graph_runs.empty()) trace_.stats.rows_read["CUDA graphs as wholes"] = trace_.graph_runs.size();
  parts_.clear();
}

}  // namespace nl::parsers::collector_trace

#include "analysis/ranks/join.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace nl::analysis::ranks {
namespace {

constexpr std::uint32_t kPids = 1u << 22;  // no process of Linux has a higher number

class Joining {
 public:
  explicit Joining(Trace& out) : out_(out) {}

  void add(Part part) {
    part_ = &part;
    first_process_ = size_of(out_.processes);
    first_thread_ = size_of(out_.threads);
    first_queue_ = size_of(out_.queues);
    first_call_ = size_of(out_.api_calls);
    strings_.clear();
    for (std::size_t i = 0; i < part.trace.strings.size(); ++i)
      strings_.push_back(out_.strings.intern(part.trace.strings[StringId{static_cast<std::uint32_t>(i)}]));
    add_places();
    add_work();
    add_calls();
    add_ranges();
    add_host();
    add_rest();
  }

  void finish() {
    const auto by_time = [](const HostSample& a, const HostSample& b) { return a.time_ns < b.time_ns; };
    std::stable_sort(out_.host.samples.begin(), out_.host.samples.end(), by_time);
    const auto by_start = [](const GarbageCollection& a, const GarbageCollection& b) { return a.start_ns < b.start_ns; };
    std::stable_sort(out_.host.collections.begin(), out_.host.collections.end(), by_start);
    if (!out_.kernel_nodes.empty()) out_.kernel_nodes.resize(out_.kernels.size(), kNone);
    if (!out_.mem_op_nodes.empty()) out_.mem_op_nodes.resize(out_.mem_ops.size(), kNone);
    for (auto& [name, durations] : api_) out_.api_stats.push_back({name, std::move(durations)});
  }

 private:
  template <class Item>
  static std::uint32_t size_of(const std::vector<Item>& items) {
    return static_cast<std::uint32_t>(items.size());
  }
  Trace& from() { return part_->trace; }
  Ns time(Ns own_ns) const { return (*part_)(own_ns); }
  StringId string(StringId id) const { return strings_[id.value]; }
  std::uint32_t process(std::uint32_t own) const { return own == kNone ? kNone : first_process_ + own; }
  std::uint32_t thread(std::uint32_t own) const { return own == kNone ? kNone : first_thread_ + own; }
  std::uint32_t call(std::uint32_t own) const { return own == kNone ? kNone : first_call_ + own; }
  std::uint32_t pid(std::uint32_t own) const {
    const auto found = pids_.find(own);
    return found == pids_.end() ? own : found->second;
  }
  std::int32_t device(std::int32_t own) const {
    const auto found = devices_.find(own);
    return found == devices_.end() ? own : found->second;
  }

  void add_places() {
    pids_.clear();
    for (const Process& own : from().processes) {
      Process process = own;
      while (process.pid != 0 && !used_pids_.insert(process.pid).second) process.pid += kPids;
      pids_[own.pid] = process.pid;
      process.rank = part_->rank;
      out_.processes.push_back(std::move(process));
    }
    for (const Thread& own : from().threads) out_.threads.push_back({process(own.process), own.tid, own.name});
    add_devices();
    const std::uint32_t owner = process(owner_of_work());
    for (const Queue& own : from().queues)
      out_.queues.push_back({own.process == kNone ? owner : process(own.process), device(own.device), own.context, own.stream});
  }

  // Whose the work of streams is that no process is known of.
  std::uint32_t owner_of_work() {
    if (!from().api_calls.empty()) return from().threads[from().api_calls.front().thread].process;
    if (!from().processes.empty()) return 0;
    Process unknown;
    unknown.rank = part_->rank;
    out_.processes.push_back(std::move(unknown));
    return 0;
  }

  void add_devices() {
    devices_.clear();
    for (const Device& own : from().devices) place_device(own);
    for (const Queue& own : from().queues)
      if (!devices_.contains(own.device)) {
        Device device;
        device.id = own.device;
        place_device(device, false);
      }
  }

  // A GPU without a known identity is taken for one of its rank's own.
  void place_device(const Device& own, bool described = true) {
    const auto same = std::find_if(out_.devices.begin(), out_.devices.end(),
                                   [&](const Device& each) { return !own.uuid.empty() && each.uuid == own.uuid; });
    if (same != out_.devices.end()) {
      devices_[own.id] = same->id;
      return;
    }
    Device device = own;
    while (!used_devices_.insert(device.id).second) ++device.id;
    devices_[own.id] = device.id;
    if (described) out_.devices.push_back(std::move(device));
  }

  void add_work() {
    std::vector<std::uint32_t> shapes;
    for (const KernelShape& own : from().shapes) shapes.push_back(shape(own));
    const std::size_t first_kernel = out_.kernels.size(), first_mem_op = out_.mem_ops.size();
    for (const Kernel& own : from().kernels) {
      Kernel kernel = own;
      kernel.start_ns = time(own.start_ns);
      kernel.duration_ns = static_cast<std::uint64_t>(std::max<Ns>(0, time(own.end_ns()) - kernel.start_ns)) & kMaxPackedDurationNs;
      kernel.queue = (first_queue_ + own.queue) & 0x7FFFF;
      if (own.shape < shapes.size()) kernel.shape = shapes[own.shape];
      kernel.api = call(own.api);
      out_.kernels.push_back(kernel);
    }
    for (MessageSize message : from().messages) {
      message.kernel += static_cast<std::uint32_t>(first_kernel);
      out_.messages.push_back(message);
    }
    for (MemOp op : from().mem_ops) {
      place(op);
      op.label = strings_[op.label].value;
      out_.mem_ops.push_back(op);
    }
    for (GraphRun run : from().graph_runs) {
      place(run);
      out_.graph_runs.push_back(run);
    }
    const std::uint32_t first_node = size_of(out_.graph_nodes);
    for (const GraphNode& own : from().graph_nodes) out_.graph_nodes.push_back({thread(own.thread), time(own.made_ns)});
    add_nodes(from().kernel_nodes, first_kernel, first_node, out_.kernel_nodes);
    add_nodes(from().mem_op_nodes, first_mem_op, first_node, out_.mem_op_nodes);
  }

  static void add_nodes(const std::vector<std::uint32_t>& own, std::size_t first, std::uint32_t first_node,
                        std::vector<std::uint32_t>& all) {
    if (own.empty()) return;
    all.resize(first, kNone);
    for (const std::uint32_t node : own) all.push_back(node == kNone ? kNone : first_node + node);
  }

  template <class Work>
  void place(Work& work) {
    work.start_ns = time(work.start_ns);
    work.end_ns = time(work.end_ns);
    if (work.queue != kNone) work.queue += first_queue_;
    work.api = call(work.api);
  }

  std::uint32_t shape(KernelShape shape) {
    shape.name = string(shape.name);
    shape.short_name = string(shape.short_name);
    shape.mangled_name = string(shape.mangled_name);
    const auto [found, is_new] = shapes_.try_emplace(shape, size_of(out_.shapes));
    if (is_new) out_.shapes.push_back(shape);
    return found->second;
  }

  void add_calls(const std::vector<ApiCall>& own, std::vector<ApiCall>& all) {
    for (ApiCall call : own) {
      const Ns end_ns = time(call.end_ns());
      call.start_ns = time(call.start_ns);
      call.duration_ns = static_cast<std::uint64_t>(std::max<Ns>(0, end_ns - call.start_ns)) & kMaxPackedDurationNs;
      call.thread = (first_thread_ + call.thread) & 0xFFFFF;
      call.name = string(call.name);
      all.push_back(call);
    }
  }

  void add_calls() {
    add_calls(from().api_calls, out_.api_calls);
    add_calls(from().other_calls, out_.other_calls);
    add_calls(from().os_calls, out_.os_calls);
    for (ApiStat& own : from().api_stats) api_[string(own.name)].append(std::move(own.durations));
    for (SyncWait wait : from().syncs) {
      wait.start_ns = time(wait.start_ns);
      wait.end_ns = time(wait.end_ns);
      wait.where.process = process(wait.where.process);
      wait.where.device = device(wait.where.device);
      out_.syncs.push_back(wait);
    }
  }

  void add_ranges() {
    for (Range range : from().ranges) {
      place(range);
      out_.ranges.push_back(range);
    }
    for (Mark mark : from().marks) {
      mark.time_ns = time(mark.time_ns);
      mark.name = string(mark.name);
      mark.domain = string(mark.domain);
      mark.thread = thread(mark.thread);
      out_.marks.push_back(mark);
    }
    for (OperatorDtypes& own : from().dtypes) out_.dtypes.push_back(std::move(own));
    if (from().duty && !out_.duty) out_.duty.emplace();
    if (from().duty)
      for (const TracedSpan& own : from().duty->spans)
        out_.duty->spans.push_back({time(own.start_ns), time(own.end_ns), time(own.last_begin_ns), process(own.process)});
  }

  void place(Range& range) {
    range.start_ns = time(range.start_ns);
    range.end_ns = time(range.end_ns);
    range.name = string(range.name);
    range.domain = string(range.domain);
    range.thread = thread(range.thread);
    range.end_thread = thread(range.end_thread);
  }

  void add_host() {
    HostSamples& own = from().host;
    HostSamples& all = out_.host;
    if (own.sampler != HostSampler::kNone) all.sampler = own.sampler;
    all.period_ns = std::max(all.period_ns, own.period_ns);
    if (own.cost_share) all.cost_share = std::max(all.cost_share.value_or(0), *own.cost_share);
    all.lost += own.lost;
    std::vector<std::uint32_t> frames;
    for (HostFrame& frame : own.frames) {
      const auto [found, is_new] = frames_.try_emplace(frame, size_of(all.frames));
      if (is_new) all.frames.push_back(std::move(frame));
      frames.push_back(found->second);
    }
    const std::uint32_t first_stack = size_of(all.stacks);
    for (std::vector<std::uint32_t> stack : own.stacks) {
      for (std::uint32_t& frame : stack) frame = frames[frame];
      all.stacks.push_back(std::move(stack));
    }
    for (const HostSample& sample : own.samples)
      all.samples.push_back({time(sample.time_ns), pid(sample.pid), sample.tid, first_stack + sample.stack});
    for (const GarbageCollection& each : own.collections)
      all.collections.push_back({time(each.start_ns), time(each.end_ns), pid(each.pid), each.tid, each.generation});
  }

  void add_rest() {
    for (MetricSeries& series : from().metric_series) {
      series.device = device(series.device);
      for (Ns& start_ns : series.start_ns) start_ns = time(start_ns);
      out_.metric_series.push_back(std::move(series));
    }
    add_stalls();
    add_clock();
    add_ends();
    add_stats();
    out_.has_kernel_data |= from().has_kernel_data;
    out_.has_api_data |= from().has_api_data;
    out_.has_range_data |= from().has_range_data;
    out_.has_mem_data |= from().has_mem_data;
    if (!out_.session) out_.session = std::move(from().session);
  }

  // One per kernel and GPU: ranks may share a GPU.
  void add_stalls() {
    for (StallSample& own : from().stalls) {
      own.device = device(own.device);
      const auto same = std::find_if(out_.stalls.begin(), out_.stalls.end(),
                                     [&](const StallSample& each) { return each.device == own.device && each.kernel == own.kernel; });
      if (same == out_.stalls.end()) out_.stalls.push_back(std::move(own));
      else
        for (const auto& [reason, samples] : own.reasons) same->reasons[reason] += samples;
    }
  }

  void add_clock() {
    if (!from().clock) return;
    if (!out_.clock) {
      out_.clock = from().clock;
      return;
    }
    ClockBounds& all = *out_.clock;
    all.launch_slack_ns = std::min(all.launch_slack_ns, from().clock->launch_slack_ns);
    if (const auto wait_ns = from().clock->wait_slack_ns) all.wait_slack_ns = std::min(all.wait_slack_ns.value_or(*wait_ns), *wait_ns);
    all.contradictions += from().clock->contradictions;
  }

  void add_ends() {
    out_.duration_ns = std::max(out_.duration_ns, time(from().duration_ns));
    const auto latest = [&](std::optional<Ns>& all, std::optional<Ns> own_ns) {
      if (own_ns) all = std::max(all.value_or(0), time(*own_ns));
    };
    latest(out_.session_end_ns, from().session_end_ns);
    latest(out_.last_range_event_ns, from().last_range_event_ns);
  }

  void add_stats() {
    ImportStats& own = from().stats;
    ImportStats& all = out_.stats;
    if (all.source_format == SourceFormat::kNone) {
      all.source_format = own.source_format;
      all.schema_version = own.schema_version;
      all.tool_version = own.tool_version;
    }
    for (const auto& [table, rows] : own.rows_read) all.rows_read[table] += rows;
    add_damage(all.rows_damaged, own.rows_damaged);
    for (const std::string& table : own.tables_absent) add_once(all.tables_absent, table);
    for (const Remark& note : own.notes)
      if (note.code != Code::kClockFit) add_once(all.notes, note);  // ClockBounds has the worst of all
  }

  Trace& out_;
  Part* part_ = nullptr;
  std::uint32_t first_process_ = 0, first_thread_ = 0, first_queue_ = 0, first_call_ = 0;
  std::vector<StringId> strings_;
  std::map<KernelShape, std::uint32_t> shapes_;
  std::map<HostFrame, std::uint32_t> frames_;
  std::map<StringId, Durations> api_;
  std::set<std::uint32_t> used_pids_;
  std::map<std::uint32_t, std::uint32_t> pids_;  // of the part
  std::set<std::int32_t> used_devices_;
  std::map<std::int32_t, std::int32_t> devices_;  // of the part
};

// Once, for all parts: each part that grew them would copy all before.
template <class Row>
void reserve(const std::vector<Part>& parts, std::vector<Row> Trace::* rows, Trace& out) {
  std::size_t count = 0;
  for (const Part& part : parts) count += (part.trace.*rows).size();
  (out.*rows).reserve(count);
}

}  // namespace

Trace join(std::vector<Part> parts) {
  Trace out;
  reserve(parts, &Trace::kernels, out);
  reserve(parts, &Trace::mem_ops, out);
  for (const auto calls : {&Trace::api_calls, &Trace::other_calls, &Trace::os_calls}) reserve(parts, calls, out);
  reserve(parts, &Trace::ranges, out);
  Joining joining(out);
  for (Part& part : parts) joining.add(std::move(part));
  joining.finish();
  return out;
}

}  // namespace nl::analysis::ranks

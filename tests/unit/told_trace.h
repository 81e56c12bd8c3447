#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/trace.h"

// A trace in words, one line for each thing in it, so that two can be compared whatever numbers they gave to
// their strings, threads and queues.
namespace nl::test {

class TraceTeller {
 public:
  explicit TraceTeller(const Trace& trace) : trace_(trace) {}

  std::vector<std::string> tell() {
    for (const Device& d : trace_.devices)
      say("device {} {} {} {} {} {} {} {} {} {}.{}", d.id, d.name, d.uuid, d.bus, d.chip, d.sm_count, d.clock_hz, d.memory_bytes,
          d.bandwidth_bytes_per_s, d.compute_major, d.compute_minor);
    for (const Kernel& k : trace_.kernels) tell_kernel(k);
    for (const MemOp& op : trace_.mem_ops)
      say("memory {} {} {} {} {} {} {} {} on {} by {}", op.start_ns, op.end_ns, op.bytes, trace_.strings[StringId{op.label}],
          static_cast<int>(op.kind), op.src_kind, op.dst_kind, op.in_graph, queue(op.queue), call(op.api));
    for (const GraphRun& g : trace_.graph_runs) say("graph {} {} on {} by {}", g.start_ns, g.end_ns, queue(g.queue), call(g.api));
    tell_nodes();
    tell_calls();
    for (const Range& r : trace_.ranges)
      say("range {} {} [{}] [{}] {} {} {} {} {}", r.start_ns, r.end_ns, trace_.strings[r.domain], trace_.strings[r.name], thread(r.thread),
          thread(r.end_thread), static_cast<int>(r.style), r.open, r.payload.value_or(-12345));
    for (const Mark& m : trace_.marks)
      say("mark {} [{}] [{}] {}", m.time_ns, trace_.strings[m.domain], trace_.strings[m.name], thread(m.thread));
    say("capture {} {} {}{}{}{}", trace_.utc_start_ns.value_or(0), trace_.duration_ns, trace_.has_kernel_data, trace_.has_api_data,
        trace_.has_mem_data, trace_.has_range_data);
    // Kernels that start at once, and equal rows of other kinds, may come in any order.
    std::sort(lines_.begin(), lines_.end());
    return lines_;
  }

 private:
  template <typename... Values>
  void say(fmt::format_string<Values...> text, Values&&... values) {
    lines_.push_back(fmt::format(text, std::forward<Values>(values)...));
  }
  std::string thread(std::uint32_t index) const {
    if (index >= trace_.threads.size()) return "no thread";
    const Thread& t = trace_.threads[index];
    return fmt::format("{}/{}/{}", trace_.processes[t.process].pid, t.tid, t.name);
  }
  std::string queue(std::uint32_t index) const {
    const Queue& q = trace_.queues[index];
    return fmt::format("{}/{}/{}/{}", q.process == kNone ? 0 : trace_.processes[q.process].pid, q.device, q.context, q.stream);
  }
  std::string call(std::uint32_t index) const {
    if (index >= trace_.api_calls.size()) return "nobody";
    return call(trace_.api_calls[index]);
  }
  std::string call(const ApiCall& c) const {
    return fmt::format("{}@{}+{}#{} {}", trace_.strings[c.name], c.start_ns, static_cast<std::uint64_t>(c.duration_ns), c.correlation,
                       thread(static_cast<std::uint32_t>(c.thread)));
  }
  void tell_kernel(const Kernel& k) {
    const KernelShape& s = trace_.shapes[k.shape];
    say("kernel {} {} {} [{}] [{}] [{}] {}x{}x{} {}x{}x{} {} {} {} on {} by {}", k.start_ns, k.end_ns(), static_cast<int>(k.in_graph),
        trace_.strings[s.name], trace_.strings[s.short_name], trace_.strings[s.mangled_name], s.grid.x, s.grid.y, s.grid.z, s.block.x,
        s.block.y, s.block.z, s.registers_per_thread, s.static_shared_bytes, s.dynamic_shared_bytes,
        queue(static_cast<std::uint32_t>(k.queue)), call(k.api));
  }
  void tell_nodes() {
    const auto made = [&](const char* what, Ns start_ns, std::uint32_t number) {
      if (number == kNone) return;
      const GraphNode& node = trace_.graph_nodes.at(number);
      say("node of the {} at {}: made {} {}", what, start_ns, node.made_ns, thread(node.thread));
    };
    for (std::size_t i = 0; i < trace_.kernel_nodes.size(); ++i) made("kernel", trace_.kernels.at(i).start_ns, trace_.kernel_nodes[i]);
    for (std::size_t i = 0; i < trace_.mem_op_nodes.size(); ++i) made("memory", trace_.mem_ops.at(i).start_ns, trace_.mem_op_nodes[i]);
  }
  void tell_calls() {
    for (std::uint32_t i = 0; i < trace_.api_calls.size(); ++i) say("call {}", call(i));
    for (const ApiCall& each : trace_.other_calls) say("other call {}", call(each));
    for (const ApiStat& stat : trace_.api_stats) {
      std::vector<Ns> values = stat.durations.values();
      std::sort(values.begin(), values.end());
      say("calls of {}: {} {} [{}]", trace_.strings[stat.name], values.size(), stat.durations.total_ns(), fmt::join(values, " "));
    }
  }

  const Trace& trace_;
  std::vector<std::string> lines_;
};

// Empty where both say the same; else the first line that only one of them has.
inline std::string difference(const Trace& a, const Trace& b) {
  std::vector<std::string> left = TraceTeller(a).tell(), right = TraceTeller(b).tell();
  for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    std::string l = i < left.size() ? left[i] : "nothing", r = i < right.size() ? right[i] : "nothing";
    if (l != r) return l.substr(0, 400) + "\n≠ " + r.substr(0, 400);
  }
  return {};
}

}  // namespace nl::test

#include <fmt/format.h>

#include <map>
#include <optional>

#include "exporters/perfetto/lanes.h"
#include "exporters/perfetto/parts.h"
#include "model/rank_titles.h"

namespace nl::exporters::perfetto {
namespace {

std::string dims(const Dim3& d) { return fmt::format("{} x {} x {}", d.x, d.y, d.z); }

constexpr const char* kCopyNames[] = {"copy host to device",   "copy device to host", "copy device to device",
                                      "copy peer to peer",     "copy host to host",   "set",
                                      "other memory operation"};

const char* memory_kind(std::uint8_t kind) {
  switch (kind) {  // as CUPTI numbers them
    case 1: return "pageable";
    case 2: return "pinned";
    case 3: return "device";
    case 4: return "array";
    case 5: return "managed";
    default: return "unknown";
  }
}

class Queues {
 public:
  explicit Queues(Writing& to) : to_(to), trace_(to.trace), shape_args_(to.trace.shapes.size()), counters_(to.window) {}

  void write() {
    const auto start_order = [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; };
    const auto rows_of = [&](const auto& rows, auto end) {
      return grouped(
          rows, trace_.queues.size(), [&](const auto& r) { return to_.window.holds(r.start_ns, end(r)); },
          [](const auto& r) { return std::size_t{r.queue}; }, start_order);
    };
    const Grouped kernels = rows_of(trace_.kernels, [](const Kernel& k) { return k.end_ns(); });
    const Grouped copies = rows_of(trace_.mem_ops, [](const MemOp& m) { return m.end_ns; });
    const Grouped graphs = rows_of(trace_.graph_runs, [](const GraphRun& g) { return g.end_ns; });
    for (std::uint32_t queue = 0; queue < trace_.queues.size(); ++queue) write_queue(queue, kernels, copies, graphs);
    for (const auto& [device, track] : gpus_) counters_.write(to_.packets, device, track);
    to_.samples_joined = sample_step(to_);
    for (const MetricSeries& series : trace_.metric_series) write_series(to_, series, gpu(series.device));
  }

 private:
  struct Cursor {
    std::size_t at, end;
    const std::vector<std::uint32_t>& order;
    Cursor(const Grouped& rows, std::uint32_t queue) : at(rows.first[queue]), end(rows.first[queue + 1]), order(rows.order) {}
    bool done() const { return at == end; }
    template <class Row>
    const Row& row(const std::vector<Row>& rows) const {
      return rows[order[at]];
    }
    template <class Row>
    Ns start(const std::vector<Row>& rows) const {
      return done() ? std::numeric_limits<Ns>::max() : row(rows).start_ns;
    }
  };

  // Kernels, copies and graphs of a queue in the order in which they ran.
  void write_queue(std::uint32_t queue, const Grouped& kernels, const Grouped& copies, const Grouped& graphs) {
    Cursor kernel(kernels, queue), copy(copies, queue), graph(graphs, queue);
    Lanes lanes(to_.packets, [&](std::size_t lane) { return make_track(queue, lane); });
    while (!kernel.done() || !copy.done() || !graph.done()) {
      const Ns k = kernel.start(trace_.kernels), c = copy.start(trace_.mem_ops), g = graph.start(trace_.graph_runs);
      bool shown = true;
      if (k <= c && k <= g) shown = put(lanes, kernel.row(trace_.kernels)), ++kernel.at;
      else if (c <= g) shown = put(lanes, copy.row(trace_.mem_ops)), ++copy.at;
      else shown = put(lanes, graph.row(trace_.graph_runs)), ++graph.at;
      if (!shown) ++to_.crowded;
    }
    lanes.finish();
  }

  template <class L>
  bool put(L& lanes, const Kernel& kernel) {
    counters_.busy(trace_.queues[kernel.queue].device, kernel.start_ns, kernel.end_ns());
    Packets::Event event{0, kernel.start_ns, Category::kKernel, 0, 0, arrow(kernel.api, kernel.start_ns), {}};
    args_.clear();
    if (kernel.shape < trace_.shapes.size()) {
      const KernelShape& shape = trace_.shapes[kernel.shape];
      event.name = to_.packets.name(shape.short_name.value != 0 ? shape.short_name : shape.name);
      args_ = shape_args(kernel.shape);
    } else {
      event.name = to_.packets.name("kernel");
    }
    add_correlation(kernel.api);
    event.args = args_;
    return lanes.add(event, kernel.end_ns());
  }

  template <class L>
  bool put(L& lanes, const MemOp& op) {
    const std::int32_t device = trace_.queues[op.queue].device;
    counters_.busy(device, op.start_ns, op.end_ns);
    counters_.copied(device, op.kind, op.end_ns, op.bytes);
    args_.clear();
    add_arg(args_, Arg::kBytes, op.bytes);
    if (op.kind != MemOpKind::kMemset)
      add_text_arg(args_, Arg::kMemory, to_.packets.text(fmt::format("{} to {}", memory_kind(op.src_kind), memory_kind(op.dst_kind))));
    add_correlation(op.api);
    const std::uint64_t name = to_.packets.name(kCopyNames[std::min<std::size_t>(static_cast<std::size_t>(op.kind), 6)]);
    return lanes.add({0, op.start_ns, Category::kCopy, name, 0, arrow(op.api, op.start_ns), args_}, op.end_ns);
  }

  template <class L>
  bool put(L& lanes, const GraphRun& run) {
    counters_.busy(trace_.queues[run.queue].device, run.start_ns, run.end_ns);
    args_.clear();
    add_correlation(run.api);
    return lanes.add({0, run.start_ns, Category::kGraph, to_.packets.name("CUDA graph"), 0, arrow(run.api, run.start_ns), args_},
                     run.end_ns);
  }

  // One arrow a call, to the first of what it launched: a graph's launch would otherwise have hundreds.
  std::uint64_t arrow(std::uint32_t api, Ns start_ns) {
    if (api >= to_.launches.size() || !to_.launches[api] || trace_.api_calls[api].start_ns > start_ns) return 0;
    to_.launches[api] = false;
    return std::uint64_t{api} + 1;
  }

  void add_correlation(std::uint32_t api) {
    if (api < trace_.api_calls.size()) add_arg(args_, Arg::kCorrelation, trace_.api_calls[api].correlation);
  }

  const std::string& shape_args(std::uint32_t index) {
    std::string& args = shape_args_[index];
    if (!args.empty()) return args;
    const KernelShape& shape = trace_.shapes[index];
    add_text_arg(args, Arg::kKernel, to_.packets.text(shape.name));
    add_text_arg(args, Arg::kGrid, to_.packets.text(dims(shape.grid)));
    add_text_arg(args, Arg::kBlock, to_.packets.text(dims(shape.block)));
    add_arg(args, Arg::kRegisters, shape.registers_per_thread);
    const std::uint64_t shared = std::uint64_t{shape.static_shared_bytes} + shape.dynamic_shared_bytes;
    if (shared > 0) add_arg(args, Arg::kSharedBytes, shared);
    return args;
  }

  Track make_track(std::uint32_t index, std::size_t lane) {
    const Queue& queue = trace_.queues[index];
    std::string process;
    if (const std::string rank = rank_title(trace_, queue.process); !rank.empty()) process = fmt::format(" ({})", rank);
    else if (queue.process < trace_.processes.size())
      process = fmt::format(" ({} {})", trace_.processes[queue.process].name.empty() ? "process" : trace_.processes[queue.process].name,
                            trace_.processes[queue.process].pid);
    const std::string more = lane == 0 ? "" : fmt::format(" {}", lane + 1);
    return to_.packets.track(fmt::format("GPU {} · stream {}{}{}{}", queue.device, queue.stream, context_word(queue), process, more),
                             gpu(queue.device));
  }

  // Said only where it tells two queues apart.
  std::string context_word(const Queue& queue) const {
    for (const Queue& other : trace_.queues)
      if (other.context != queue.context && other.process == queue.process && other.device == queue.device && other.stream == queue.stream)
        return fmt::format(" of context {}", queue.context);
    return {};
  }

  Track gpu(std::int32_t device) {
    Track& track = gpus_[device];
    if (track != 0) return track;
    std::string name = fmt::format("GPU {}", device);
    for (const Device& known : trace_.devices)
      if (known.id == device && !known.name.empty()) name += " · " + known.name;
    track = to_.packets.process(kMadeUpPid + static_cast<std::uint32_t>(gpus_.size()), name);
    return track;
  }

  Writing& to_;
  const Trace& trace_;
  std::vector<std::string> shape_args_;
  std::string args_;
  Counters counters_;
  std::map<std::int32_t, Track> gpus_;
};

}  // namespace

void write_queues(Writing& to) { Queues(to).write(); }

}  // namespace nl::exporters::perfetto

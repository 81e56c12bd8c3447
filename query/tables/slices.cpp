#include "query/tables/slices.h"

#include <algorithm>

#include "analysis/trace/kernel_class.h"
#include "analysis/trace/work_origin.h"
#include "model/cuda_calls.h"
#include "model/words.h"

namespace nl::query {
namespace {

constexpr std::array<std::string_view, 7> kDirections = {"h2d", "d2h", "d2d", "peer", "h2h", "set", "other"};  // by MemOpKind
// As CUPTI numbers them.
constexpr std::array<std::string_view, 8> kMemories = {"",      "pageable", "pinned",        "device",
                                                       "array", "managed",  "device static", "managed static"};

std::string_view memory_text(std::uint8_t kind) { return kind < kMemories.size() ? kMemories[kind] : std::string_view(); }

template <class Row>
Ns end_of(const Row& row) {
  if constexpr (requires { row.end_ns(); }) return row.end_ns();
  else return row.end_ns;
}

}  // namespace

Slices::Slices(const Sources& sources) : sources_(sources), classes_(sources.trace->shapes.size()), kinds_(*sources.trace) {
  const Trace& all = trace();
  const std::array<std::size_t, kParts> sizes = {all.kernels.size(),     all.mem_ops.size(),  all.graph_runs.size(), all.api_calls.size(),
                                                 all.other_calls.size(), all.os_calls.size(), all.ranges.size(),     all.marks.size()};
  for (std::size_t i = 0; i < kParts; ++i) first_[i + 1] = first_[i] + sizes[i];
}

Rows::Span Slices::rows_of_kind(std::string_view kind) const {
  const auto parts = [&](Part first, Part last) {
    return Span{first_[static_cast<std::size_t>(first)], first_[static_cast<std::size_t>(last) + 1]};
  };
  if (kind == "kernel") return parts(Part::kKernel, Part::kKernel);
  if (kind == "copy" || kind == "set") return parts(Part::kMemOp, Part::kMemOp);
  if (kind == "graph") return parts(Part::kGraph, Part::kGraph);
  if (kind == "call") return parts(Part::kApiCall, Part::kOtherCall);
  if (kind == "os_call") return parts(Part::kOsCall, Part::kOsCall);
  if (kind == "range") return parts(Part::kRange, Part::kRange);
  if (kind == "mark") return parts(Part::kMark, Part::kMark);
  return {};
}

const ApiCall* Slices::call_at(std::size_t row) const {
  const Place at = place_of(row);
  if (at.part == Part::kApiCall) return &trace().api_calls[at.index];
  return at.part == Part::kOtherCall ? &trace().other_calls[at.index] : nullptr;
}

const Range* Slices::range_at(std::size_t row) const {
  const Place at = place_of(row);
  return at.part == Part::kRange ? &trace().ranges[at.index] : nullptr;
}

std::uint32_t Slices::launch_of(std::size_t row) const {
  const Place at = place_of(row);
  std::uint32_t api = kNone;
  if (at.part == Part::kKernel) api = trace().kernels[at.index].api;
  if (at.part == Part::kMemOp) api = trace().mem_ops[at.index].api;
  if (at.part == Part::kGraph) api = trace().graph_runs[at.index].api;
  return api < trace().api_calls.size() ? api : kNone;
}

const Queue* Slices::queue_of(std::size_t row) const {
  const Place at = place_of(row);
  std::uint64_t queue = kNone;
  if (at.part == Part::kKernel) queue = trace().kernels[at.index].queue;
  if (at.part == Part::kMemOp) queue = trace().mem_ops[at.index].queue;
  if (at.part == Part::kGraph) queue = trace().graph_runs[at.index].queue;
  return queue < trace().queues.size() ? &trace().queues[static_cast<std::size_t>(queue)] : nullptr;
}

std::uint32_t Slices::thread_of(std::size_t row) const {
  const Place at = place_of(row);
  std::uint64_t thread = kNone;
  if (const ApiCall* call = call_at(row)) thread = call->thread;
  if (at.part == Part::kOsCall) thread = trace().os_calls[at.index].thread;
  if (at.part == Part::kRange) thread = trace().ranges[at.index].thread;
  if (at.part == Part::kMark) thread = trace().marks[at.index].thread;
  return thread < trace().threads.size() ? static_cast<std::uint32_t>(thread) : kNone;
}

std::uint32_t Slices::process_of(std::size_t row) const {
  std::uint32_t process = kNone;
  if (const Queue* queue = queue_of(row)) process = queue->process;
  else if (const std::uint32_t thread = thread_of(row); thread != kNone) process = trace().threads[thread].process;
  return process < trace().processes.size() ? process : kNone;
}

std::uint32_t Slices::window_of(std::size_t row) const {
  const Place at = place_of(row);
  if (at.part <= Part::kGraph) {
    const analysis::WorkOrigin origin = analysis::launch_of(trace(), launch_of(row));
    return sources_.windows->around(trace(), origin.thread, origin.start_ns, origin.end_ns);
  }
  return sources_.windows->around(trace(), thread_of(row), start_ns(row), end_ns(row));
}

Ns Slices::start_ns(std::size_t row) const {
  const Place at = place_of(row);
  switch (at.part) {
    case Part::kKernel: return trace().kernels[at.index].start_ns;
    case Part::kMemOp: return trace().mem_ops[at.index].start_ns;
    case Part::kGraph: return trace().graph_runs[at.index].start_ns;
    case Part::kApiCall: return trace().api_calls[at.index].start_ns;
    case Part::kOtherCall: return trace().other_calls[at.index].start_ns;
    case Part::kOsCall: return trace().os_calls[at.index].start_ns;
    case Part::kRange: return trace().ranges[at.index].start_ns;
    case Part::kMark: return trace().marks[at.index].time_ns;
  }
  return 0;
}

Ns Slices::end_ns(std::size_t row) const {
  const Place at = place_of(row);
  switch (at.part) {
    case Part::kKernel: return trace().kernels[at.index].end_ns();
    case Part::kMemOp: return trace().mem_ops[at.index].end_ns;
    case Part::kGraph: return trace().graph_runs[at.index].end_ns;
    case Part::kApiCall: return trace().api_calls[at.index].end_ns();
    case Part::kOtherCall: return trace().other_calls[at.index].end_ns();
    case Part::kOsCall: return trace().os_calls[at.index].end_ns();
    case Part::kRange: return trace().ranges[at.index].end_ns;
    case Part::kMark: return trace().marks[at.index].time_ns;
  }
  return 0;
}

std::string_view Slices::kind(std::size_t row) const {
  switch (place_of(row).part) {
    case Part::kKernel: return "kernel";
    case Part::kMemOp: return mem_op_at(row)->kind == MemOpKind::kMemset ? "set" : "copy";
    case Part::kGraph: return "graph";
    case Part::kApiCall:
    case Part::kOtherCall: return "call";
    case Part::kOsCall: return "os_call";
    case Part::kRange: return "range";
    case Part::kMark: return "mark";
  }
  return "";
}

std::string_view Slices::name(std::size_t row) const {
  const Place at = place_of(row);
  const auto text = [&](StringId id) -> std::string_view { return trace().strings[id]; };
  switch (at.part) {
    case Part::kKernel: {
      const std::uint32_t shape = trace().kernels[at.index].shape;
      return shape < trace().shapes.size() ? text(trace().shapes[shape].name) : std::string_view();
    }
    case Part::kMemOp: return text(StringId{trace().mem_ops[at.index].label});
    case Part::kGraph: return "[CUDA graph]";
    case Part::kApiCall: return text(trace().api_calls[at.index].name);
    case Part::kOtherCall: return text(trace().other_calls[at.index].name);
    case Part::kOsCall: return text(trace().os_calls[at.index].name);
    case Part::kRange: return text(trace().ranges[at.index].name);
    case Part::kMark: return text(trace().marks[at.index].name);
  }
  return {};
}

std::string_view Slices::short_name(std::size_t row) const {
  if (const Kernel* kernel = kernel_at(row); kernel != nullptr && kernel->shape < trace().shapes.size()) {
    const std::string& text = trace().strings[trace().shapes[kernel->shape].short_name];
    if (!text.empty()) return text;
  }
  return call_at(row) != nullptr ? without_api_version(name(row)) : name(row);
}

KernelClass Slices::class_of(const Kernel& kernel) const {
  if (kernel.shape >= classes_.size()) return KernelClass::kOther;
  std::optional<KernelClass>& known = classes_[kernel.shape];
  if (!known) known = analysis::classify_kernel(trace().strings[trace().shapes[kernel.shape].name]);
  return *known;
}

namespace {

Needs needs_of_kind(std::string_view kind) {
  if (kind == "kernel" || kind == "graph") return kKernels;
  if (kind == "copy" || kind == "set") return kCopies;
  // Which calls launched work decides nothing here, and which process a row is of is known from the calls.
  if (kind == "call") return kCalls;
  if (kind == "os_call") return kOsCalls;
  return kTrace;
}

const KernelShape* shape_at(const Slices& slices, std::size_t row) {
  const Kernel* kernel = slices.kernel_at(row);
  return kernel != nullptr && kernel->shape < slices.trace().shapes.size() ? &slices.trace().shapes[kernel->shape] : nullptr;
}

template <class Number>
Value of_shape(const Slices& slices, std::size_t row, Number number) {
  const KernelShape* shape = shape_at(slices, row);
  return shape != nullptr ? Value::of(static_cast<std::int64_t>(number(*shape))) : Value::null();
}

Value of_window(const Slices& slices, std::size_t row, Value (*read)(const WindowList&, std::uint32_t)) {
  const std::uint32_t window = slices.window_of(row);
  return window != kNone ? read(*slices.sources().windows, window) : Value::null();
}

Value of_launch(const Slices& slices, std::size_t row, Value (*read)(const Slices&, std::size_t, const ApiCall&)) {
  const std::uint32_t api = slices.launch_of(row);
  return api != kNone ? read(slices, row, slices.trace().api_calls[api]) : Value::null();
}

using enum ColumnType;

// What it is and when.
std::vector<Column> columns_of_time() {
  return {
      column<Slices>(
          "id", kInteger, "", "number of the row, the same in every query of one capture",
          [](const Slices&, std::size_t row) { return Value::count(row); }, kTrace),
      column<Slices>("kind", kText, "",
                     "kernel, copy, set, graph (captured at graph level), call (CUDA), os_call (of at least 5 µs), range (NVTX) or mark",
                     [](const Slices& slices, std::size_t row) { return Value::of(slices.kind(row)); }),
      column<Slices>("name", kText, "", "as the capturing tool writes it; of a kernel demangled, with its arguments",
                     [](const Slices& slices, std::size_t row) { return Value::known(slices.name(row)); }),
      column<Slices>("short_name", kText, "", "of a kernel the function alone, of a call without its version",
                     [](const Slices& slices, std::size_t row) { return Value::known(slices.short_name(row)); }),
      column<Slices>("start_ns", kInteger, "ns", "when it began, since the start of the capture",
                     [](const Slices& slices, std::size_t row) { return Value::of(slices.start_ns(row)); }),
      column<Slices>("end_ns", kInteger, "ns", "when it ended, since the start of the capture",
                     [](const Slices& slices, std::size_t row) { return Value::of(slices.end_ns(row)); }),
      column<Slices>("duration_ns", kInteger, "ns", "how long it took",
                     [](const Slices& slices, std::size_t row) {
                       const Kernel* kernel = slices.kernel_at(row);
                       return Value::of(kernel != nullptr ? static_cast<Ns>(kernel->duration_ns)
                                                          : slices.end_ns(row) - slices.start_ns(row));
                     }),
  };
}

// Where it ran.
std::vector<Column> columns_of_place() {
  return {
      column<Slices>(
          "pid", kInteger, "", "number of its process",
          [](const Slices& slices, std::size_t row) {
            const std::uint32_t process = slices.process_of(row);
            return process != kNone ? Value::count(slices.trace().processes[process].pid) : Value::null();
          },
          kCalls),
      column<Slices>(
          "process", kText, "", "its executable",
          [](const Slices& slices, std::size_t row) {
            const std::uint32_t process = slices.process_of(row);
            return process != kNone ? Value::known(slices.trace().processes[process].name) : Value::null();
          },
          kCalls),
      column<Slices>(
          "tid", kInteger, "", "number of its thread; of GPU work of the thread that launched it",
          [](const Slices& slices, std::size_t row) {
            std::uint64_t thread = slices.thread_of(row);
            if (const std::uint32_t api = slices.launch_of(row); api != kNone) thread = slices.trace().api_calls[api].thread;
            return thread < slices.trace().threads.size() ? Value::count(slices.trace().threads[thread].tid) : Value::null();
          },
          kCalls),
      column<Slices>(
          "thread", kText, "", "name of that thread",
          [](const Slices& slices, std::size_t row) {
            std::uint64_t thread = slices.thread_of(row);
            if (const std::uint32_t api = slices.launch_of(row); api != kNone) thread = slices.trace().api_calls[api].thread;
            return thread < slices.trace().threads.size() ? Value::known(slices.trace().threads[thread].name) : Value::null();
          },
          kCalls),
      column<Slices>("gpu", kInteger, "", "number of the GPU; NULL of what the host did",
                     [](const Slices& slices, std::size_t row) {
                       const Queue* queue = slices.queue_of(row);
                       return queue != nullptr ? Value::of(std::int64_t{queue->device}) : Value::null();
                     }),
      column<Slices>("context", kInteger, "", "number of the CUDA context",
                     [](const Slices& slices, std::size_t row) {
                       const Queue* queue = slices.queue_of(row);
                       return queue != nullptr ? Value::count(queue->context) : Value::null();
                     }),
      column<Slices>("stream", kInteger, "", "number of the CUDA stream",
                     [](const Slices& slices, std::size_t row) {
                       const Queue* queue = slices.queue_of(row);
                       return queue != nullptr ? Value::count(queue->stream) : Value::null();
                     }),
  };
}

// What it belongs to.
std::vector<Column> columns_of_ties() {
  return {
      column<Slices>(
          "stage", kText, "", "the innermost stage around it; of GPU work around the call that launched it; NULL: in none",
          [](const Slices& slices, std::size_t row) {
            return of_window(slices, row,
                             [](const WindowList& list, std::uint32_t at) { return Value::of(std::string_view(list.stage_of(at))); });
          },
          kTrace),
      column<Slices>(
          "window", kInteger, "", "windows.id of that execution of the stage",
          [](const Slices& slices, std::size_t row) {
            return of_window(slices, row, [](const WindowList&, std::uint32_t at) { return Value::count(at); });
          },
          kTrace),
      column<Slices>(
          "warmup", kInteger, "", "1: in a warm-up iteration, which the figures of a run leave out; NULL: in no stage",
          [](const Slices& slices, std::size_t row) {
            return of_window(slices, row, [](const WindowList& list, std::uint32_t at) { return Value::count(list.windows[at].warmup); });
          },
          kTrace),
      column<Slices>(
          "correlation", kInteger, "", "the number that ties a call and its GPU work, within a process",
          [](const Slices& slices, std::size_t row) {
            if (const ApiCall* call = slices.call_at(row)) return Value::count(call->correlation);
            return of_launch(slices, row, [](const Slices&, std::size_t, const ApiCall& call) { return Value::count(call.correlation); });
          },
          kCalls),
      column<Slices>(
          "launch_id", kInteger, "", "slices.id of the call that launched the GPU work; NULL: that call is not in the capture",
          [](const Slices& slices, std::size_t row) {
            const std::uint32_t api = slices.launch_of(row);
            return api != kNone ? Value::count(slices.row_of(Slices::Part::kApiCall, api)) : Value::null();
          },
          kTrace),
      column<Slices>(
          "launch_delay_ns", kInteger, "ns", "from the start of that call to the start of the GPU work",
          [](const Slices& slices, std::size_t row) {
            return of_launch(slices, row, [](const Slices& all, std::size_t at, const ApiCall& call) {
              return Value::of(all.start_ns(at) - call.start_ns);
            });
          },
          kCalls),
      column<Slices>("in_graph", kInteger, "", "1: a node of a CUDA graph; NULL of what is no kernel, copy or set",
                     [](const Slices& slices, std::size_t row) {
                       if (const Kernel* kernel = slices.kernel_at(row)) return Value::count(kernel->in_graph);
                       const MemOp* op = slices.mem_op_at(row);
                       return op != nullptr ? Value::count(op->in_graph) : Value::null();
                     }),
      column<Slices>(
          "graph_node", kInteger, "", "which node of its CUDA graph, counted by nl-stage; NULL: none, or not known where it was made",
          [](const Slices& slices, std::size_t row) {
            const Slices::Place at = slices.place_of(row);
            std::uint32_t node = kNone;
            if (at.part == Slices::Part::kKernel) node = analysis::node_of_kernel(slices.trace(), at.index);
            if (at.part == Slices::Part::kMemOp) node = analysis::node_of_mem_op(slices.trace(), at.index);
            return node != kNone ? Value::count(node) : Value::null();
          },
          kTrace),
  };
}

// What is known of kernels, copies, calls and ranges.
std::vector<Column> columns_of_kinds() {
  return {
      column<Slices>(
          "kernel_kind", kText, "",
          "what a kernel does, by its name: gemm, attention, elementwise, copy, cache_copy, reduce, norm, communication or other",
          [](const Slices& slices, std::size_t row) {
            const Kernel* kernel = slices.kernel_at(row);
            return kernel != nullptr ? Value::of(key_of(slices.class_of(*kernel))) : Value::null();
          }),
      column<Slices>("grid_x", kInteger, "", "blocks of a kernel's grid",
                     [](const Slices& slices, std::size_t row) {
                       return of_shape(slices, row, [](const KernelShape& shape) { return shape.grid.x; });
                     }),
      column<Slices>("grid_y", kInteger, "", "the same, second dimension",
                     [](const Slices& slices, std::size_t row) {
                       return of_shape(slices, row, [](const KernelShape& shape) { return shape.grid.y; });
                     }),
      column<Slices>("grid_z", kInteger, "", "the same, third dimension",
                     [](const Slices& slices, std::size_t row) {
                       return of_shape(slices, row, [](const KernelShape& shape) { return shape.grid.z; });
                     }),
      column<Slices>("block_x", kInteger, "", "threads of a kernel's block",
                     [](const Slices& slices, std::size_t row) {
                       return of_shape(slices, row, [](const KernelShape& shape) { return shape.block.x; });
                     }),
      column<Slices>("block_y", kInteger, "", "the same, second dimension",
                     [](const Slices& slices, std::size_t row) {
                       return of_shape(slices, row, [](const KernelShape& shape) { return shape.block.y; });
                     }),
      column<Slices>("block_z", kInteger, "", "the same, third dimension",
                     [](const Slices& slices, std::size_t row) {
                       return of_shape(slices, row, [](const KernelShape& shape) { return shape.block.z; });
                     }),
      column<Slices>("registers", kInteger, "", "of each thread of a kernel",
                     [](const Slices& slices, std::size_t row) {
                       return of_shape(slices, row, [](const KernelShape& shape) { return shape.registers_per_thread; });
                     }),
      column<Slices>("shared_bytes", kInteger, "bytes", "shared memory of a block, static and dynamic",
                     [](const Slices& slices, std::size_t row) {
                       return of_shape(slices, row,
                                       [](const KernelShape& shape) { return shape.static_shared_bytes + shape.dynamic_shared_bytes; });
                     }),
      column<Slices>("bytes", kInteger, "bytes", "of a copy or set",
                     [](const Slices& slices, std::size_t row) {
                       const MemOp* op = slices.mem_op_at(row);
                       return op != nullptr ? Value::count(op->bytes) : Value::null();
                     }),
      column<Slices>("direction", kText, "", "of a copy: h2d, d2h, d2d, peer (another GPU), h2h or other; of a set: set",
                     [](const Slices& slices, std::size_t row) {
                       const MemOp* op = slices.mem_op_at(row);
                       return op != nullptr ? Value::of(kDirections[static_cast<std::size_t>(op->kind)]) : Value::null();
                     }),
      column<Slices>("from_memory", kText, "", "of a copy, its source: pageable, pinned, device, array or managed",
                     [](const Slices& slices, std::size_t row) {
                       const MemOp* op = slices.mem_op_at(row);
                       return op != nullptr ? Value::known(memory_text(op->src_kind)) : Value::null();
                     }),
      column<Slices>("to_memory", kText, "", "the same, of its target; of a set the memory that it fills",
                     [](const Slices& slices, std::size_t row) {
                       const MemOp* op = slices.mem_op_at(row);
                       return op != nullptr ? Value::known(memory_text(op->dst_kind)) : Value::null();
                     }),
      column<Slices>("call_kind", kText, "", "of a call: kernel_launch, graph_launch, copy, wait (for the GPU) or other",
                     [](const Slices& slices, std::size_t row) {
                       const ApiCall* call = slices.call_at(row);
                       return call != nullptr ? Value::of(key_of(slices.kind_of(*call))) : Value::null();
                     }),
      column<Slices>("domain", kText, "", "of a range or mark: its NVTX domain; nl-stage: a stage that no range marks",
                     [](const Slices& slices, std::size_t row) {
                       const Slices::Place at = slices.place_of(row);
                       if (const Range* range = slices.range_at(row)) return Value::known(slices.trace().strings[range->domain]);
                       if (at.part != Slices::Part::kMark) return Value::null();
                       return Value::known(slices.trace().strings[slices.trace().marks[at.index].domain]);
                     }),
      column<Slices>("payload", kInteger, "", "of a range: the number that the program gave it",
                     [](const Slices& slices, std::size_t row) {
                       const Range* range = slices.range_at(row);
                       return range != nullptr ? Value::known(range->payload) : Value::null();
                     }),
  };
}

}  // namespace

Table slices_table() {
  Table table{"slices", "everything of the capture that has a time, one row each: kernels, copies and sets, calls, ranges, marks", {}, 0,
              1e6,      [](const Sources& sources) -> std::unique_ptr<Rows> { return std::make_unique<Slices>(sources); }};
  for (auto part : {columns_of_time, columns_of_place, columns_of_ties, columns_of_kinds})
    for (Column& each : part()) table.columns.push_back(each);
  table.kind_column = table.find("kind");
  table.needs_of_kind = [](std::string_view kind) { return kind.empty() ? Needs{kTrace} : needs_of_kind(kind); };
  return table;
}

}  // namespace nl::query

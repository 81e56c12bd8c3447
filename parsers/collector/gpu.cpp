#include "parsers/collector/gpu.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace nl::parsers::collector_trace {
namespace {

namespace format = trace_format;
using format::Kind;
using format::Tag;

constexpr std::size_t kMaxQueues = 1 << 19;   // what Kernel::queue can tell apart
constexpr std::size_t kMaxThreads = 1 << 20;  // what ApiCall::thread can tell apart

// Numbers from a stretch of bytes. After the end all are 0 and good() is false.
class Bytes {
 public:
  Bytes(const char* at, const char* end) : at_(at), end_(end) {}
  bool good() const { return good_; }
  bool empty() const { return at_ == end_; }
  std::uint8_t byte() { return at_ < end_ ? static_cast<std::uint8_t>(*at_++) : fail(); }
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      std::uint8_t next = byte();
      value |= std::uint64_t{next & 0x7Fu} << shift;
      if ((next & 0x80) == 0) return value;
    }
    return fail();
  }
  std::uint32_t number32() {
    std::uint64_t value = number();
    return value <= 0xFFFFFFFF ? static_cast<std::uint32_t>(value) : fail();
  }
  std::int64_t difference() {
    std::uint64_t value = number();
    return static_cast<std::int64_t>(value >> 1 ^ (~(value & 1) + 1));
  }
  std::string text(std::uint64_t length) {
    if (length > static_cast<std::uint64_t>(end_ - at_)) return fail(), std::string();
    at_ += length;
    return {at_ - length, at_};
  }

 private:
  std::uint8_t fail() {
    good_ = false;
    at_ = end_;
    return 0;
  }
  const char* at_;
  const char* end_;
  bool good_ = true;
};

// 64-bit arithmetic that a damaged file may let wrap.
std::int64_t plus(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

struct When {
  Ns start_ns = 0;
  std::uint64_t duration_ns = 0;
  std::uint32_t correlation = 0;
  bool usable() const { return start_ns >= 0 && duration_ns <= std::uint64_t{kMaxPackedDurationNs} && start_ns < INT64_MAX / 2; }
};

class Block {
 public:
  Block(const char* begin, const char* end, Ns base_ns, GpuData& gpu, Damage& damage)
      : bytes_(begin, end), work_{base_ns, 0, 0}, call_{base_ns, 0, 0}, gpu_(gpu), damage_(damage) {}

  void read() {
    while (!bytes_.empty()) {
      std::uint8_t tag = bytes_.byte();
      if ((tag & format::kTagMask) == 0) return;
      record(static_cast<Tag>(tag & format::kTagMask), tag);
      if (bytes_.good()) continue;
      ++damage_[{Code::kRestLost, {"GPU record", "block"}}];
      return;
    }
  }

 private:
  void record(Tag tag, std::uint8_t flags) {
    switch (tag) {
      case Tag::kKernel: return kernel(flags);
      case Tag::kCopy:
      case Tag::kSet: return mem_op(tag, flags);
      case Tag::kGraph: return graph(flags);
      case Tag::kCall: return call(flags);
      case Tag::kSync: return sync();
      case Tag::kShape: return shape();
      case Tag::kQueue: return queue();
      case Tag::kThread: return thread();
      case Tag::kFunction: return function();
      default: bytes_.text(~std::uint64_t{0});  // of a later version: its length is not known
    }
  }

  // `last`: the last record of the same kind in this block.
  When when(When& last) {
    last.start_ns = plus(last.start_ns, bytes_.difference());
    last.duration_ns = bytes_.number();
    last.correlation += static_cast<std::uint32_t>(bytes_.difference());
    return last;
  }
  std::uint32_t place(std::uint8_t flags, std::uint64_t& last) {
    if ((flags & format::kTagSamePlace) == 0) last = bytes_.number();
    return gpu_.queue_numbers[last];
  }
  // The node that work ran from, after all else of it; 0: none.
  std::int64_t node(std::uint8_t flags) {
    if ((flags & format::kTagGraphNode) == 0) return 0;
    node_ = plus(node_, bytes_.difference());
    bytes_.number();  // the graph
    return node_;
  }
  bool usable(const When& time, const char* what) {
    if (!bytes_.good()) return false;
    if (!time.usable()) ++damage_[{Code::kImpossibleTime, {what}}];
    return time.usable();
  }

  // When work ran; false, and counted, where that or its queue is not known.
  template <typename Row>
  bool locate(Row& row, const When& time, const char* what) {
    if (!usable(time, what)) return false;
    if (row.queue == kNone) {
      ++damage_[{Code::kPartLost, {what, "stream"}}];
      return false;
    }
    row.start_ns = time.start_ns;
    row.end_ns = time.start_ns + static_cast<Ns>(time.duration_ns);
    row.api = time.correlation;
    return true;
  }

  // 11 00 d0 0f 8c 17 02: a kernel on the queue of the last, shape 0 …
  void kernel(std::uint8_t flags) {
    std::uint32_t queue = place(flags, queue_);
    std::uint32_t shape = gpu_.shape_numbers[bytes_.number()];
    When time = when(work_);
    const std::int64_t ran_from = node(flags);
    if (!usable(time, "kernel")) return;
    if (shape == kNone || queue == kNone) {
      ++damage_[{Code::kPartLost, {"kernel", "name or stream"}}];
      return;
    }
    Kernel kernel;
    kernel.start_ns = time.start_ns;
    kernel.duration_ns = time.duration_ns;
    kernel.queue = queue;
    kernel.in_graph = (flags & format::kTagGraphNode) != 0;
    kernel.shape = shape;
    kernel.api = time.correlation;
    if (kernel.in_graph) gpu_.kernel_nodes.add(gpu_.kernels.size(), {0, ran_from});
    gpu_.kernels.push_back(kernel);
  }

  void mem_op(Tag tag, std::uint8_t flags) {
    MemOp op;
    op.queue = place(flags, queue_);
    std::uint64_t kind = tag == Tag::kCopy ? bytes_.number() : 0;
    op.src_kind = tag == Tag::kCopy ? static_cast<std::uint8_t>(bytes_.number()) : 0;
    op.dst_kind = static_cast<std::uint8_t>(bytes_.number());
    if (tag == Tag::kSet) bytes_.number();  // the value
    When time = when(work_);
    op.bytes = bytes_.number();
    const std::int64_t ran_from = node(flags);
    if (!locate(op, time, "copy or set")) return;
    op.in_graph = (flags & format::kTagGraphNode) != 0;
    op.kind = tag == Tag::kSet ? MemOpKind::kMemset : MemOpKind::kOther;
    op.label = static_cast<std::uint32_t>(kind);
    if (op.in_graph) gpu_.mem_op_nodes.add(gpu_.mem_ops.size(), {0, ran_from});
    gpu_.mem_ops.push_back(op);
  }

  void graph(std::uint8_t flags) {
    GraphRun run;
    run.queue = place(flags, queue_);
    bytes_.number();  // which graph
    When time = when(work_);
    if (!locate(run, time, "CUDA graph")) return;
    gpu_.graph_runs.push_back(run);
  }

  void call(std::uint8_t flags) {
    if ((flags & format::kTagSamePlace) == 0) thread_ = bytes_.number();
    std::uint32_t thread = gpu_.thread_numbers[thread_];
    std::uint32_t function = gpu_.function_numbers[bytes_.number()];
    When time = when(call_);
    bool failed = (flags & format::kTagResult) != 0 && bytes_.number() != 0;
    if (!usable(time, "CUDA call")) return;
    if (thread == kNone || function == kNone) {
      ++damage_[{Code::kPartLost, {"CUDA call", "name or thread"}}];
      return;
    }
    ApiCall call;
    call.start_ns = time.start_ns;
    call.duration_ns = time.duration_ns;
    call.thread = thread;
    call.name = StringId{function};
    call.correlation = time.correlation;
    if (failed) gpu_.failed_calls.push_back(gpu_.calls.size());
    gpu_.calls.push_back(call);
  }

  void sync() {
    std::uint64_t type = bytes_.number();
    std::uint32_t context = bytes_.number32(), stream = bytes_.number32();
    SyncWait wait;
    wait.event = bytes_.number32();
    When time = when(call_);
    if (!usable(time, "synchronisation")) return;
    wait.start_ns = time.start_ns;
    wait.end_ns = time.start_ns + static_cast<Ns>(time.duration_ns);
    wait.correlation = time.correlation;
    wait.kind = type <= 4 ? static_cast<SyncKind>(type) : SyncKind::kUnknown;
    auto device = gpu_.context_devices.find(context);
    wait.where.device = static_cast<std::int32_t>(device != gpu_.context_devices.end() ? device->second : 0);
    wait.where.context = context;
    wait.where.stream = stream;
    gpu_.syncs.push_back(wait);
  }

  void shape() {
    std::uint64_t number = bytes_.number();
    GpuShape shape;
    shape.name = bytes_.number32();
    for (Dim3* dim : {&shape.grid, &shape.block}) *dim = {bytes_.number32(), bytes_.number32(), bytes_.number32()};
    shape.registers = bytes_.number32();
    shape.static_shared = bytes_.number32();
    shape.dynamic_shared = bytes_.number32();
    define(gpu_.shape_numbers, number, gpu_.shapes, shape, kNone);
  }

  void queue() {
    std::uint64_t number = bytes_.number();
    GpuQueue queue;
    queue.device = static_cast<std::int32_t>(bytes_.number32());
    queue.context = bytes_.number32();
    queue.stream = bytes_.number32();
    define(gpu_.queue_numbers, number, gpu_.queues, queue, kMaxQueues);
  }

  void thread() {
    std::uint64_t number = bytes_.number();
    GpuThread thread;
    thread.tid = bytes_.number32();
    thread.name = bytes_.text(bytes_.number());
    define(gpu_.thread_numbers, number, gpu_.threads, thread, kMaxThreads);
  }

  void function() {
    std::uint64_t number = bytes_.number();
    bytes_.number();  // the domain, which the name tells as well
    define(gpu_.function_numbers, number, gpu_.functions, bytes_.number32(), kNone);
  }

  template <typename T>
  void define(Numbering& numbers, std::uint64_t number, std::vector<T>& all, const T& value, std::size_t most) {
    if (!bytes_.good()) return;
    if (all.size() >= most || !numbers.define(number, static_cast<std::uint32_t>(all.size()))) {
      ++damage_[{Code::kImpossibleNumber}];
      return;
    }
    all.push_back(value);
  }

  Bytes bytes_;
  When work_, call_;
  std::uint64_t queue_ = 0, thread_ = 0;
  std::int64_t node_ = 0;
  GpuData& gpu_;
  Damage& damage_;
};

void read_device(const char* at, const format::Head& head, GpuData& gpu, Damage& damage) {
  auto record = load<format::Device>(at);
  if (record.name_length > head.bytes - sizeof record) {
    ++damage[{Code::kStringTooLong}];
    return;
  }
  Device device;
  device.id = static_cast<std::int32_t>(head.id);
  device.name = {at + sizeof record, record.name_length};
  for (std::size_t i = 0; i < sizeof record.uuid; ++i)
    device.uuid += fmt::format("{}{:02x}", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", record.uuid[i]);
  device.sm_count = record.sm_count;
  device.clock_hz = record.clock_hz;
  device.memory_bytes = record.memory_bytes;
  device.bandwidth_bytes_per_s = record.bandwidth_bytes_per_s;
  device.l2_bytes = record.l2_bytes;
  device.compute_major = record.compute_major;
  device.compute_minor = record.compute_minor;
  gpu.devices.push_back(std::move(device));
}

void read_loss(const char* at, const format::Head& head, GpuData& gpu) {
  std::uint64_t records = load<format::Loss>(at).records;
  (head.id == static_cast<std::uint32_t>(format::LossReason::kDropped) ? gpu.dropped : gpu.unfinished) += records;
}

void read_session(const char* at, const format::Head& head, GpuData& gpu) {
  gpu.session = true;
  gpu.session_ns = load<format::GpuSession>(at).time_ns;
  gpu.cupti_version = head.id;
  const auto session = load<format::GpuSession>(at);
  gpu.calls_chosen = static_cast<format::CallChoice>(session.calls);
  gpu.waits_by_calls = session.waits_by_calls != 0;
}

}  // namespace

bool read_gpu_record(const char* at, const format::Head& head, GpuData& gpu, Damage& damage) {
  switch (head.kind) {
    case Kind::kGpuSession: read_session(at, head, gpu); return true;
    case Kind::kGpuName: gpu.names.insert_or_assign(head.id, read_text(at, head, damage).value_or("")); return true;
    case Kind::kNote: gpu.notes.push_back(remark_of_note(head.id, read_text(at, head, damage).value_or(""))); return true;
    case Kind::kDevice: read_device(at, head, gpu, damage); return true;
    case Kind::kContext: gpu.context_devices[head.id] = load<format::Context>(at).device; return true;
    case Kind::kLoss: read_loss(at, head, gpu); return true;
    case Kind::kTracing: gpu.tracing.push_back({load<format::Tracing>(at).time_ns, head.id}); return true;
    case Kind::kClockCheck: return true;  // for people who look into a file; the trace itself has more
    case Kind::kGpuBlock:
      Block(at + sizeof(format::GpuBlock), at + head.bytes, load<format::GpuBlock>(at).base_ns, gpu, damage).read();
      return true;
    default: return read_metric_record(at, head, gpu.metrics, damage);
  }
}

}  // namespace nl::parsers::collector_trace

#include "collector/gpu/packer.h"

#include <cstring>
#include <initializer_list>
#include <iterator>

namespace nl::collector {
namespace {

using namespace trace_format;

// The most that one of CUPTI's records becomes: a kernel (51 bytes) with the definitions of its shape (56) and
// its queue (21).
constexpr std::size_t kRoom = 160;

std::uint64_t mixed(std::uint64_t seed, std::uint64_t value) {
  seed = (seed ^ value) * 0x9E3779B97F4A7C15ULL;
  return seed ^ seed >> 32;
}

// A String-like record: fixed part, text, zeros up to a multiple of eight.
template <typename Record>
bool append_with_text(GpuPacker::Append append, Record record, Kind kind, std::uint32_t id, const char* text, std::size_t length) {
  alignas(8) std::byte buffer[sizeof(Record) + kMaxGpuNameBytes + 8];
  std::size_t bytes = (sizeof record + length + 7) & ~std::size_t{7};
  record.head = {kind, static_cast<std::uint16_t>(bytes), id};
  std::memset(buffer + bytes - 8, 0, 8);
  std::memcpy(buffer, &record, sizeof record);
  std::memcpy(buffer + sizeof record, text, length);
  return append(buffer, bytes);
}

}  // namespace

void GpuPacker::start(Append append, FunctionName function_name, ThreadName thread_name) {
  append_ = append;
  function_name_ = function_name;
  thread_name_ = thread_name;
}

void GpuPacker::add(const cupti::Activity* record, std::int64_t clock_ahead_ns) {
  ahead_ns_ = clock_ahead_ns;
  switch (record->kind) {
    case cupti::kKernel:
    case cupti::kConcurrentKernel: return add_kernel(*reinterpret_cast<const cupti::KernelRecord*>(record));
    case cupti::kMemcpy: {
      const auto& copy = *reinterpret_cast<const cupti::CopyRecord*>(record);
      return add_copy(copy, copy.correlation, copy.graph_node, copy.graph);
    }
    case cupti::kMemcpyPeer: {
      const auto& peer = *reinterpret_cast<const cupti::PeerCopyRecord*>(record);
      return add_copy(*reinterpret_cast<const cupti::CopyRecord*>(record), peer.correlation, peer.graph_node, peer.graph);
    }
    case cupti::kMemset: return add_set(*reinterpret_cast<const cupti::SetRecord*>(record));
    case cupti::kGraphTrace: return add_graph(*reinterpret_cast<const cupti::GraphRecord*>(record));
    case cupti::kDriver: return add_call(*reinterpret_cast<const cupti::CallRecord*>(record), kDomainDriver);
    case cupti::kRuntime: return add_call(*reinterpret_cast<const cupti::CallRecord*>(record), kDomainRuntime);
    case cupti::kSynchronization: return add_sync(*reinterpret_cast<const cupti::SyncRecord*>(record));
    case cupti::kDevice: return add_device(*reinterpret_cast<const cupti::DeviceRecord*>(record));
    case cupti::kContext: {
      const auto& context = *reinterpret_cast<const cupti::ContextRecord*>(record);
      Context out{{Kind::kContext, sizeof(Context), context.context}, context.device, context.null_stream};
      append_(&out, sizeof out);
      return;
    }
  }
}

void GpuPacker::restart() {
  used_ = 0;
  std::memset(shapes_, 0, sizeof shapes_);
  std::memset(queues_, 0, sizeof queues_);
  std::memset(threads_, 0, sizeof threads_);
  std::memset(functions_, 0, sizeof functions_);
  shape_count_ = queue_count_ = thread_count_ = function_count_ = 0;
  unfinished_ = 0;
  for (std::uint32_t i = 0; i < names_.size(); ++i) define_name(names_[i]);
}

void GpuPacker::finish() {
  if (used_ == 0) return;
  std::size_t bytes = (used_ + 7) & ~std::size_t{7};
  std::memset(block_ + used_, 0, bytes - used_);
  Head head{Kind::kGpuBlock, static_cast<std::uint16_t>(bytes), 0};
  std::memcpy(block_, &head, sizeof head);
  append_(block_, bytes);
  used_ = 0;
}

std::uint32_t GpuPacker::number_of_name(const char* name) {
  const Text* text = intern(name);
  return text != nullptr ? text->id : 0;
}

std::uint64_t GpuPacker::take_unfinished() {
  std::uint64_t count = unfinished_;
  unfinished_ = 0;
  return count;
}

// Makes room for one record and the definitions that may go before it. False where its times are not there:
// it had not ended when it was delivered.
bool GpuPacker::begin(std::uint64_t start, std::uint64_t end) {
  if (start == 0 || end < start) {
    ++unfinished_;
    return false;
  }
  if (used_ + kRoom > sizeof block_) finish();
  if (used_ != 0) return true;
  GpuBlock header{};
  work_ns_ = call_ns_ = start - static_cast<std::uint64_t>(ahead_ns_);
  header.base_ns = static_cast<std::int64_t>(work_ns_);
  std::memcpy(block_, &header, sizeof header);
  used_ = sizeof header;
  node_ = 0;
  work_correlation_ = call_correlation_ = queue_ = thread_ = 0;
  return true;
}

void GpuPacker::put_tag(Tag tag, unsigned flags) { block_[used_++] = static_cast<std::byte>(static_cast<unsigned>(tag) | flags); }

void GpuPacker::put(std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) block_[used_++] = static_cast<std::byte>(number | 0x80);
  block_[used_++] = static_cast<std::byte>(number);
}

void GpuPacker::put_signed(std::int64_t number) { put(static_cast<std::uint64_t>(number) << 1 ^ static_cast<std::uint64_t>(number >> 63)); }

void GpuPacker::put_work(std::uint64_t start, std::uint64_t end, std::uint32_t correlation) {
  std::uint64_t start_ns = start - static_cast<std::uint64_t>(ahead_ns_);
  put_signed(static_cast<std::int64_t>(start_ns - work_ns_));
  put(end - start);
  put_signed(static_cast<std::int32_t>(correlation - work_correlation_));
  work_ns_ = start_ns;
  work_correlation_ = correlation;
}

void GpuPacker::put_node(std::uint64_t node, std::uint32_t graph) {
  if (node == 0) return;
  put_signed(static_cast<std::int64_t>(node - node_));
  put(graph);
  node_ = node;
}

void GpuPacker::put_call_times(std::uint64_t start, std::uint64_t end, std::uint32_t correlation) {
  std::uint64_t start_ns = start - static_cast<std::uint64_t>(ahead_ns_);
  put_signed(static_cast<std::int64_t>(start_ns - call_ns_));
  put(end - start);
  put_signed(static_cast<std::int32_t>(correlation - call_correlation_));
  call_ns_ = start_ns;
  call_correlation_ = correlation;
}

// A pointer is not proof: a module that is unloaded gives its names' memory to the next.
const Text* GpuPacker::name_of(const char* name) {
  if (name == nullptr) return intern("");
  auto address = reinterpret_cast<std::uintptr_t>(name);
  KnownName& known = known_names_[mixed(0, address) % std::size(known_names_)];
  bool same = known.pointer == name && known.text != nullptr && std::strncmp(name, known.text->data, known.text->length) == 0 &&
              (name[known.text->length] == '\0' || known.text->length == kMaxGpuNameBytes);
  if (same) return known.text;
  known = {name, intern(name)};
  return known.text;
}

const Text* GpuPacker::intern(const char* name) {
  std::size_t length = strnlen(name, kMaxGpuNameBytes);
  std::uint64_t hash = hash_text(name, length);
  if (const Text* found = names_.find(hash, name, length)) return found;
  const Text* added = names_.add(hash, name, length);
  if (added == nullptr) return nullptr;
  define_name(*added);
  return added;
}

bool GpuPacker::define_name(const Text& name) {
  return append_with_text(append_, String{{}, name.length, 0}, Kind::kGpuName, name.id, name.data, name.length);
}

std::uint32_t GpuPacker::shape_of(const cupti::KernelRecord& kernel) {
  const Text* name = name_of(kernel.name);
  Shape wanted{name, {}, 0};
  for (int i = 0; i < 3; ++i) {
    wanted.numbers[i] = static_cast<std::uint32_t>(kernel.grid[i]);
    wanted.numbers[3 + i] = static_cast<std::uint32_t>(kernel.block[i]);
  }
  wanted.numbers[6] = kernel.registers_per_thread;
  wanted.numbers[7] = static_cast<std::uint32_t>(kernel.static_shared);
  wanted.numbers[8] = static_cast<std::uint32_t>(kernel.dynamic_shared);
  std::uint64_t hash = name != nullptr ? name->hash : 0;
  for (std::uint32_t number : wanted.numbers) hash = mixed(hash, number);
  Shape& shape = shapes_[hash % std::size(shapes_)];
  bool same = shape.number != 0 && shape.name == name && std::memcmp(shape.numbers, wanted.numbers, sizeof wanted.numbers) == 0;
  if (same) return shape.number;
  shape = wanted;
  shape.number = ++shape_count_;
  put_tag(Tag::kShape, 0);
  put(shape.number);
  put(name != nullptr ? name->id : 0);
  for (std::uint32_t number : shape.numbers) put(number);
  return shape.number;
}

std::uint32_t GpuPacker::queue_of(std::uint32_t device, std::uint32_t context, std::uint32_t stream) {
  Queue& queue = queues_[mixed(mixed(device, context), stream) % std::size(queues_)];
  if (queue.number != 0 && queue.device == device && queue.context == context && queue.stream == stream) return queue.number;
  queue = {device, context, stream, ++queue_count_};
  put_tag(Tag::kQueue, 0);
  for (std::uint32_t number : {queue.number, device, context, stream}) put(number);
  return queue.number;
}

std::uint32_t GpuPacker::thread_of(std::uint32_t tid) {
  Thread& thread = threads_[mixed(0, tid) % std::size(threads_)];
  if (thread.number != 0 && thread.tid == tid) return thread.number;
  thread = {tid, ++thread_count_};
  char name[16] = {};
  if (thread_name_ != nullptr) thread_name_(tid, name);
  std::size_t length = strnlen(name, sizeof name);
  put_tag(Tag::kThread, 0);
  for (std::uint64_t number : {std::uint64_t{thread.number}, std::uint64_t{tid}, std::uint64_t{length}}) put(number);
  std::memcpy(block_ + used_, name, length);
  used_ += length;
  return thread.number;
}

std::uint32_t GpuPacker::function_of(std::uint32_t domain, std::uint32_t function) {
  std::uint32_t key = function << 2 | domain;
  Function& known = functions_[mixed(0, key) % std::size(functions_)];
  if (known.number != 0 && known.key == key) return known.number;
  const char* text = function_name_ != nullptr ? function_name_(domain, function) : nullptr;
  const Text* name = text != nullptr ? intern(text) : nullptr;
  known = {key, ++function_count_};
  put_tag(Tag::kFunction, 0);
  for (std::uint32_t number : {known.number, domain, name != nullptr ? name->id : 0}) put(number);
  return known.number;
}

// The tag of a piece of work, and its queue where that is another than the last one's.
template <typename Record>
void GpuPacker::put_place(Tag tag, const Record& work, std::uint64_t node) {
  std::uint32_t queue = queue_of(work.device, work.context, work.stream);
  bool same = queue == queue_;
  put_tag(tag, (same ? kTagSamePlace : 0u) | (node != 0 ? kTagGraphNode : 0u));
  if (!same) put(queue_ = queue);
}

void GpuPacker::add_kernel(const cupti::KernelRecord& kernel) {
  if (!begin(kernel.start, kernel.end)) return;
  std::uint32_t shape = shape_of(kernel);
  put_place(Tag::kKernel, kernel, kernel.graph_node);
  put(shape);
  put_work(kernel.start, kernel.end, kernel.correlation);
  put_node(kernel.graph_node, kernel.graph);
}

void GpuPacker::add_copy(const cupti::CopyRecord& copy, std::uint32_t correlation, std::uint64_t node, std::uint32_t graph) {
  if (!begin(copy.start, copy.end)) return;
  put_place(Tag::kCopy, copy, node);
  for (std::uint8_t kind : {copy.copy_kind, copy.src_kind, copy.dst_kind}) put(kind);
  put_work(copy.start, copy.end, correlation);
  put(copy.bytes);
  put_node(node, graph);
}

void GpuPacker::add_set(const cupti::SetRecord& set) {
  if (!begin(set.start, set.end)) return;
  put_place(Tag::kSet, set, set.graph_node);
  put(set.memory_kind);
  put(set.value);
  put_work(set.start, set.end, set.correlation);
  put(set.bytes);
  put_node(set.graph_node, set.graph);
}

void GpuPacker::add_graph(const cupti::GraphRecord& graph) {
  if (!begin(graph.start, graph.end)) return;
  put_place(Tag::kGraph, graph, 0);
  put(graph.graph);
  put_work(graph.start, graph.end, graph.correlation);
}

void GpuPacker::add_call(const cupti::CallRecord& call, std::uint32_t domain) {
  if (!begin(call.start, call.end)) return;
  std::uint32_t function = function_of(domain, call.function);
  std::uint32_t thread = thread_of(call.tid);
  bool same = thread == thread_;
  put_tag(Tag::kCall, (same ? kTagSamePlace : 0u) | (call.return_value != 0 ? kTagResult : 0u));
  if (!same) put(thread_ = thread);
  put(function);
  put_call_times(call.start, call.end, call.correlation);
  if (call.return_value != 0) put(call.return_value);
}

void GpuPacker::add_sync(const cupti::SyncRecord& sync) {
  if (!begin(sync.start, sync.end)) return;
  put_tag(Tag::kSync, 0);
  for (std::uint32_t number : {sync.type, sync.context, sync.stream, sync.event}) put(number);
  put_call_times(sync.start, sync.end, sync.correlation);
}

void GpuPacker::add_device(const cupti::DeviceRecord& device) {
  const char* name = device.name != nullptr ? device.name : "";
  std::size_t length = strnlen(name, 256);
  Device out{};
  out.memory_bytes = device.memory_bytes;
  out.bandwidth_bytes_per_s = device.memory_bandwidth * 1000;
  out.clock_hz = std::uint64_t{device.core_clock} * 1000;
  out.l2_bytes = device.l2_bytes;
  out.sm_count = device.sm_count;
  out.compute_major = device.compute_major;
  out.compute_minor = device.compute_minor;
  std::memcpy(out.uuid, device.uuid, sizeof out.uuid);
  out.name_length = static_cast<std::uint32_t>(length);
  append_with_text(append_, out, Kind::kDevice, device.id, name, length);
}

}  // namespace nl::collector

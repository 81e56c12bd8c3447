#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/gpu/cupti_api.h"
#include "collector/string_table.h"
#include "collector/trace_format.h"

namespace nl::collector {

// Turns CUPTI's records into those of the trace file: about 8 bytes for a kernel and 8 for a call, in place of
// 208 and 40. Names, launch configurations, queues and threads are defined once and numbered. It allocates
// nothing but the texts of distinct names: what is remembered for finding numbers again has a fixed size, and
// what falls out of it is defined again.
class GpuPacker {
 public:
  using Append = bool (*)(const void* record, std::size_t bytes);  // a whole record of the trace file
  using FunctionName = const char* (*)(std::uint32_t domain, std::uint32_t function);
  using ThreadName = void (*)(std::uint32_t tid, char (&name)[16]);

  void start(Append append, FunctionName function_name, ThreadName thread_name);
  void add(const cupti::Activity* record, std::int64_t clock_ahead_ns);
  void restart();                                  // what follows lies in another file: all is defined anew
  void finish();                                   // writes the block in hand
  std::uint64_t take_unfinished();                 // records without times since the last call: in flight at the end
  std::uint32_t number_of_name(const char* name);  // 0: no memory

 private:
  struct Shape {
    const Text* name;
    std::uint32_t numbers[9];  // grid, block, registers, static and dynamic shared memory
    std::uint32_t number;      // 0: free
  };
  struct Queue {
    std::uint32_t device, context, stream, number;
  };
  struct Thread {
    std::uint32_t tid, number;
  };
  struct Function {
    std::uint32_t key, number;
  };
  struct KnownName {
    const char* pointer;
    const Text* text;
  };

  void add_kernel(const cupti::KernelRecord& kernel);
  void add_copy(const cupti::CopyRecord& copy, std::uint32_t correlation, std::uint64_t node, std::uint32_t graph);
  void add_set(const cupti::SetRecord& set);
  void add_graph(const cupti::GraphRecord& graph);
  void add_call(const cupti::CallRecord& call, std::uint32_t domain);
  void add_sync(const cupti::SyncRecord& sync);
  void add_device(const cupti::DeviceRecord& device);

  const Text* name_of(const char* name);
  const Text* intern(const char* name);
  bool define_name(const Text& name);
  std::uint32_t shape_of(const cupti::KernelRecord& kernel);
  std::uint32_t queue_of(std::uint32_t device, std::uint32_t context, std::uint32_t stream);
  std::uint32_t thread_of(std::uint32_t tid);
  std::uint32_t function_of(std::uint32_t domain, std::uint32_t function);

  bool begin(std::uint64_t start, std::uint64_t end);
  void put_tag(trace_format::Tag tag, unsigned flags);
  void put(std::uint64_t number);
  void put_signed(std::int64_t number);
  template <typename Record>
  void put_place(trace_format::Tag tag, const Record& work, std::uint64_t node);
  void put_work(std::uint64_t start, std::uint64_t end, std::uint32_t correlation);
  void put_node(std::uint64_t node, std::uint32_t graph);
  void put_call_times(std::uint64_t start, std::uint64_t end, std::uint32_t correlation);

  Append append_ = nullptr;
  FunctionName function_name_ = nullptr;
  ThreadName thread_name_ = nullptr;
  StringTable names_;
  KnownName known_names_[1024] = {};
  Shape shapes_[4096] = {};
  Queue queues_[256] = {};
  Thread threads_[256] = {};
  Function functions_[2048] = {};
  std::uint32_t shape_count_ = 0, queue_count_ = 0, thread_count_ = 0, function_count_ = 0;
  std::uint64_t unfinished_ = 0;
  std::int64_t ahead_ns_ = 0;

  // The block in hand; what "the last such record" was.
  std::size_t used_ = 0;
  std::uint64_t work_ns_ = 0, call_ns_ = 0, node_ = 0;
  std::uint32_t work_correlation_ = 0, call_correlation_ = 0, queue_ = 0, thread_ = 0;
  alignas(8) std::byte block_[trace_format::kMaxGpuBlockBytes] = {};
};

}  // namespace nl::collector

#pragma once

#include <map>
#include <vector>

#include "parsers/collector/gpu.h"

namespace nl::parsers::collector_trace {

// Puts the GPU halves of the files of a run into one trace: first the work of all, then the calls, of which only
// those are kept that launched some of it or waited (or all).
class GpuMerge {
 public:
  GpuMerge(Trace& trace, bool all_calls) : trace_(trace), all_calls_(all_calls) {}
  // `threads`: the trace's, by the index of gpu.threads; those of gpu.node_events are the trace's already.
  void add_work(GpuData&& gpu, std::uint32_t process, Ns origin_ns, std::vector<std::uint32_t> threads);
  void add_calls();

 private:
  struct Part {  // of one process, kept until the work of all is known
    GpuData gpu;
    std::uint32_t process;
    Ns origin_ns;
    std::vector<std::uint32_t> threads;
  };
  void place(Part& part);
  void add_kernels(Part& part);
  void add_mem_ops(Part& part);
  void add_graph_runs(Part& part);
  void add_graph_nodes(Part& part, std::size_t first_kernel, std::size_t first_mem_op);
  void add_devices(Part& part);
  void add_facts(const Part& part);
  void add_traced_spans(const Part& part, Ns last_ns);
  void keep_calls(Part& part, class CallSieve& sieve);
  std::vector<std::uint32_t> queues_of(const Part& part);
  std::uint32_t shape_of(const GpuShape& shape, const GpuData& gpu);
  StringId name_of(const GpuData& gpu, std::uint32_t number);

  Trace& trace_;
  bool all_calls_;
  std::vector<Part> parts_;
  std::map<Queue, std::uint32_t> queues_;
  std::map<KernelShape, std::uint32_t> shapes_;
  std::map<StringId, std::pair<StringId, StringId>> demangled_;  // mangled → name, short name
};

// Where the collector was not asked for CUPTI's records of waits (they slow every launch): the calls that wait
// show when, and of what kind. The collector notes the stream beside them; without that note it is known only where there is one stream.
void add_waits_of_calls(GpuData& gpu);

// Puts the samples and stalls of the files of a run into the trace. Series of the same GPU, metrics and interval
// become one, in the order of time; stalls of one kernel on one GPU are added up.
void add_series(GpuMetrics& metrics, Ns origin_ns, Trace& trace);
void add_stalls(const GpuData& gpu, Trace& trace);
void finish_series(Trace& trace);

}  // namespace nl::parsers::collector_trace

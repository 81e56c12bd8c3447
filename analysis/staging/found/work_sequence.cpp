#include "analysis/staging/found/work_sequence.h"

#include <string>
#include <unordered_map>
#include <utility>

#include "analysis/trace/api_kind.h"

namespace nl::analysis {
namespace {

std::uint64_t mixed_bits(std::uint64_t value) {  // splitmix64
  value += 0x9E3779B97F4A7C15;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
  return value ^ (value >> 31);
}

enum WorkKind : std::uint64_t { kKernelWork = 1, kCopyWork = 2, kGraphWork = 3 };
std::uint64_t signature(WorkKind kind, std::uint64_t what) { return mixed_bits((std::uint64_t{kind} << 56) ^ what); }

// The names of PyTorch, Triton as Inductor names its kernels, vLLM, ggml and of workloads/.
bool looks_up(const std::string& name) {
  const auto has = [&](const char* word) { return name.find(word) != std::string::npos; };
  if (has("TopK") || has("rotary") || has("Rotary")) return false;
  return has("indexSelect") || has("vectorized_gather") || has("embed") || has("Embed") || has("get_rows");
}

// What each call put on the GPU. The sum does not depend on the order in which a graph's kernels began.
class WorkOfCalls {
 public:
  explicit WorkOfCalls(const Trace& trace) : sums_(trace.api_calls.size(), 0), lookups_(trace.api_calls.size(), 0) {
    std::vector<std::pair<std::uint64_t, char>> of_shape;
    of_shape.reserve(trace.shapes.size());
    for (const KernelShape& shape : trace.shapes)
      of_shape.emplace_back(signature(kKernelWork, shape.name.value), looks_up(trace.strings[shape.name]));
    for (const Kernel& kernel : trace.kernels)
      if (kernel.shape < of_shape.size()) add(kernel.api, of_shape[kernel.shape].first, of_shape[kernel.shape].second);
    for (const MemOp& op : trace.mem_ops) add(op.api, signature(kCopyWork, static_cast<std::uint64_t>(op.kind)), 0);
    for (const GraphRun& run : trace.graph_runs) add(run.api, signature(kGraphWork, 0), 0);
  }
  std::uint64_t sum(std::uint32_t call) const { return sums_[call]; }  // 0: nothing
  std::uint32_t bits(std::uint32_t call) const { return lookups_[call] != 0 ? WorkSequence::kLookup : 0; }

 private:
  void add(std::uint32_t call, std::uint64_t value, char lookup) {
    if (call >= sums_.size()) return;
    sums_[call] += value;
    lookups_[call] |= lookup;
  }
  std::vector<std::uint64_t> sums_;
  std::vector<char> lookups_;
};

class SymbolTable {
 public:
  SymbolTable() { ids_.emplace(signature(kCopyWork, static_cast<std::uint64_t>(MemOpKind::kDeviceToHost)), WorkSequence::kToHost); }
  std::uint32_t of(std::uint64_t work) { return ids_.try_emplace(work, static_cast<std::uint32_t>(ids_.size() + 1)).first->second; }

 private:
  std::unordered_map<std::uint64_t, std::uint32_t> ids_;
};

}  // namespace

std::vector<WorkSequence> work_sequences(const Trace& trace) {
  const WorkOfCalls work(trace);
  std::vector<WorkSequence> sequences;
  SymbolTable symbols;
  ApiKinds kinds(trace);
  for (std::uint32_t i = 0; i < trace.api_calls.size(); ++i) {
    const ApiCall& call = trace.api_calls[i];
    if (sequences.empty() || sequences.back().thread != call.thread) {
      if (!sequences.empty() && sequences.back().symbols.empty()) sequences.pop_back();
      sequences.emplace_back().thread = static_cast<std::uint32_t>(call.thread);
    }
    WorkSequence& sequence = sequences.back();
    const auto add = [&](std::uint32_t symbol) {
      sequence.symbols.push_back(symbol);
      sequence.calls.push_back(i);
    };
    if (work.sum(i) != 0) add(symbols.of(work.sum(i)) | work.bits(i));
    if (!kinds.of(call).waits) continue;
    // Waits in a row are one; it ends with the last of them.
    if (!sequence.symbols.empty() && sequence.symbols.back() == WorkSequence::kWait) sequence.calls.back() = i;
    else add(WorkSequence::kWait);
  }
  return sequences;
}

}  // namespace nl::analysis

#include "analysis/staging/found/work.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <string>
#include <unordered_map>
#include <utility>

#include "analysis/trace/api_kind.h"
#include "analysis/trace/kernel_class.h"

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

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// The names of PyTorch, Triton as Inductor names its kernels, vLLM, ggml and of workloads/.
bool looks_up(const std::string& name) {
  const auto has = [&](const char* word) { return name.find(word) != std::string::npos; };
  if (has("TopK") || has("rotary") || has("Rotary")) return false;
  return has("indexSelect") || has("vectorized_gather") || has("embed") || has("Embed") || has("get_rows");
}

// Sampling, beam search and the largest logit, as PyTorch, FlashInfer, vLLM, TensorRT-LLM and ggml name their kernels.
bool chooses(const std::string& name) {
  const std::string text = lower_case(name);
  for (const char* word : {"argmax", "arg_max", "multinomial", "sampl", "topk", "top_k", "beam"})
    if (text.find(word) != std::string::npos) return text.find("upsampl") == std::string::npos;
  return false;
}

// XLA tries kernels out before it chooses one, and checks that none of them wrote beyond its buffers.
bool tries_out(const std::string& name) {
  return name.find("redzone") != std::string::npos || name.find("Redzone") != std::string::npos ||
         name.find("buffer_comparator") != std::string::npos || name.find("xla_fp_comparison") != std::string::npos;
}

// Where the host chooses, it reads the logits of a step: more than the flags and tokens that other copies bring.
constexpr std::uint64_t kLogitsBytes = 32 * 1024;

// What each call put on the GPU. The sum does not depend on the order in which a graph's kernels began.
class WorkOfCalls {
 public:
  explicit WorkOfCalls(const Trace& trace) : sums_(trace.api_calls.size(), 0), bits_(trace.api_calls.size(), 0) {
    struct Shape {
      std::uint64_t signature = 0;
      std::uint8_t bits = 0;
    };
    std::vector<Shape> of_shape;
    of_shape.reserve(trace.shapes.size());
    for (const KernelShape& shape : trace.shapes) {
      const std::string& name = trace.strings[shape.name];
      const std::uint8_t bits = (looks_up(name) ? kLookupBit : 0) | (chooses(name) ? kChoiceBit : 0);
      of_shape.push_back({tries_out(name) ? 0 : signature(kKernelWork, shape.name.value), bits});
    }
    for (const Kernel& kernel : trace.kernels)
      if (kernel.shape < of_shape.size()) add(kernel.api, of_shape[kernel.shape].signature, of_shape[kernel.shape].bits);
    for (const MemOp& op : trace.mem_ops) {
      const bool logits = op.kind == MemOpKind::kDeviceToHost && op.bytes >= kLogitsBytes;
      add(op.api, signature(kCopyWork, static_cast<std::uint64_t>(op.kind)), logits ? kChoiceBit : 0);
    }
    for (const GraphRun& run : trace.graph_runs) add(run.api, signature(kGraphWork, 0), 0);
  }
  std::uint64_t sum(std::uint32_t call) const { return sums_[call]; }  // 0: nothing
  std::uint32_t bits(std::uint32_t call) const {
    return ((bits_[call] & kLookupBit) != 0 ? WorkSequence::kLookup : 0) | ((bits_[call] & kChoiceBit) != 0 ? WorkSequence::kChoice : 0);
  }

 private:
  static constexpr std::uint8_t kLookupBit = 1, kChoiceBit = 2;
  void add(std::uint32_t call, std::uint64_t value, std::uint8_t bits) {
    if (call >= sums_.size()) return;
    sums_[call] += value;
    bits_[call] |= bits;
  }
  std::vector<std::uint64_t> sums_;
  std::vector<std::uint8_t> bits_;
};

struct ShapeTraits {
  bool product = false, training = false;
  std::uint32_t blocks = 0;  // logarithm in sixteenths
};

std::uint32_t sixteenths(std::uint64_t value) {
  return static_cast<std::uint32_t>(std::lround(16 * std::log2(static_cast<double>(std::max<std::uint64_t>(value, 1)))));
}

bool trains(const std::string& name) {
  const std::string text = lower_case(name);
  for (const char* word :
       {"backward", "_bwd", "bwd_", "adam", "wgrad", "dgrad", "optimizer", "gradinput", "grad_input", "sgd", "amp_update_scale"})
    if (text.find(word) != std::string::npos) return true;
  return false;
}

std::vector<ShapeTraits> traits_of(const Trace& trace) {
  std::vector<ShapeTraits> traits;
  traits.reserve(trace.shapes.size());
  for (const KernelShape& shape : trace.shapes) {
    const std::string& name = trace.strings[shape.name];
    const KernelClass kind = classify_kernel(name);
    const std::uint64_t blocks = std::uint64_t{shape.grid.x} * shape.grid.y * shape.grid.z;
    traits.push_back({kind == KernelClass::kGemm || kind == KernelClass::kAttention, trains(name), sixteenths(blocks)});
  }
  return traits;
}

double mean_log2(std::uint32_t sum, std::uint32_t count) { return count == 0 ? 0 : static_cast<double>(sum) / 16 / count; }

}  // namespace

std::vector<WorkSequence> work_sequences(const Trace& trace) {
  const WorkOfCalls work(trace);
  std::vector<WorkSequence> sequences;
  std::unordered_map<std::uint64_t, std::uint32_t> symbols = {
      {signature(kCopyWork, static_cast<std::uint64_t>(MemOpKind::kDeviceToHost)), WorkSequence::kToHost}};
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
    if (work.sum(i) != 0) {
      const std::uint32_t next = static_cast<std::uint32_t>(symbols.size() + 1);
      add(symbols.try_emplace(work.sum(i), next).first->second | work.bits(i));
    }
    if (!kinds.of(call).waits) continue;
    // Waits in a row are one; it ends with the last of them.
    if (!sequence.symbols.empty() && sequence.symbols.back() == WorkSequence::kWait) sequence.calls.back() = i;
    else add(WorkSequence::kWait);
  }
  return sequences;
}

WorkAmounts::WorkAmounts(const Trace& trace, const WorkSequence& sequence) : sums_(sequence.size() + 1) {
  if (sequence.size() == 0) return;
  const std::uint32_t first = sequence.calls.front(), last = sequence.calls.back();
  // A call that launches and waits stands in the sequence twice: its work is at the first of the two.
  std::vector<std::uint32_t> place(last - first + 1, kNone);
  for (std::uint32_t i = static_cast<std::uint32_t>(sequence.size()); i-- > 0;) place[sequence.calls[i] - first] = i;
  const auto sum_of = [&](std::uint32_t api) -> Sum* {
    if (api < first || api > last || place[api - first] == kNone) return nullptr;
    return &sums_[place[api - first] + 1];
  };
  const std::vector<ShapeTraits> traits = traits_of(trace);
  for (const Kernel& kernel : trace.kernels) {
    Sum* sum = sum_of(kernel.api);
    if (sum == nullptr || kernel.shape >= traits.size()) continue;
    const ShapeTraits& shape = traits[kernel.shape];
    ++sum->kernels;
    sum->products += shape.product;
    sum->training += shape.training;
    sum->blocks += shape.blocks;
    sum->times += static_cast<std::uint32_t>(std::bit_width(static_cast<std::uint64_t>(kernel.duration_ns))) * 16;
    sum->gpu_ns += kernel.duration_ns;
  }
  for (const GraphRun& run : trace.graph_runs) {
    Sum* sum = sum_of(run.api);
    if (sum == nullptr) continue;
    ++sum->graphs;
    ++sum->products;
    sum->gpu_ns += static_cast<std::uint64_t>(std::max<Ns>(0, run.end_ns - run.start_ns));
  }
  for (std::size_t i = 1; i < sums_.size(); ++i) {
    const Sum& before = sums_[i - 1];
    Sum& sum = sums_[i];
    sum = {sum.kernels + before.kernels, sum.graphs + before.graphs, sum.products + before.products, sum.training + before.training,
           sum.blocks + before.blocks,   sum.times + before.times,   sum.gpu_ns + before.gpu_ns};
  }
}

WorkAmount WorkAmounts::between(std::uint32_t first, std::uint32_t last) const {
  const Sum &from = sums_[first], &to = sums_[last];
  WorkAmount amount;
  amount.kernels = to.kernels - from.kernels;
  amount.graphs = to.graphs - from.graphs;
  amount.products = to.products - from.products;
  amount.training = to.training - from.training;
  amount.gpu_ns = to.gpu_ns - from.gpu_ns;
  amount.blocks_log2 = mean_log2(to.blocks - from.blocks, amount.kernels);
  amount.ns_log2 = mean_log2(to.times - from.times, amount.kernels);
  return amount;
}

bool has_more_rows(const WorkAmount& amount, const WorkAmount& step) {
  constexpr double kMore = 0.4, kLess = -0.3;  // of a logarithm: a third more, a fifth less
  if (step.graphs > 0 || step.kernels == 0 || amount.kernels == 0) return amount.gpu_ns * 10 > step.gpu_ns * 13;
  const double blocks = amount.blocks_log2 - step.blocks_log2, times = amount.ns_log2 - step.ns_log2;
  return (blocks > kMore && times > kLess) || (times > kMore && blocks > kLess);
}

}  // namespace nl::analysis

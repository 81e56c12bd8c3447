#include "analysis/trace/kernel_class.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <string>
#include <utility>

namespace nl::analysis {
namespace {

bool has(std::string_view text, std::string_view word) { return text.find(word) != std::string_view::npos; }

bool has_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return has(text, word); });
}

bool is_norm(std::string_view text) {
  for (std::size_t at = text.find("norm"); at != std::string_view::npos; at = text.find("norm", at + 1))
    if (text.substr(at, 6) != "normal") return true;
  // Inductor's RMSNorm: triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_0
  return has(text, "triton_") && has(text, "rsqrt") && has_any(text, {"mean", "var"});
}

// Lower case, without what separates words: "one_shot_all_reduce_kernel" and "oneShotAllReduceKernel" are one.
std::string without_separators(std::string_view name) {
  std::string out;
  for (const char c : name)
    if (c != '_') out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// Whether a kernel talks to other GPUs, as far as its name tells: NCCL and RCCL, NVSHMEM and DeepEP, and the own
// all-reduce kernels of vLLM, TensorRT-LLM, FlashInfer and PyTorch's symmetric memory. In lower case; `function` is
// the part of the name that kernel_function() finds.
bool is_communication(std::string_view name, std::string_view function) {
  if (function.starts_with("triton_")) return false;  // Inductor's names list the operators around them
  if (function.starts_with("nccl") || function.starts_with("nvshmem") || function.starts_with("rccl")) return true;
  // A functor among the arguments may be named after anything.
  const auto until_arguments = static_cast<std::size_t>(function.data() + function.size() - name.data());
  if (has_any(name.substr(0, until_arguments), {"deep_ep::", "nvshmem"})) return true;
  if (has_any(function, {"gemm", "matmul"})) return false;  // computes, and sends what it has on the way
  const std::string words = without_separators(function);
  return has_any(words, {"crossdevicereduce", "allreduce", "allgather", "reducescatter", "alltoall"});
}

// One functor over all elements: what the functor does decides.
KernelClass classify_map(std::string_view text) {
  if (has_any(text, {"index_put", "index_copy", "_cat_"})) return KernelClass::kCacheCopy;
  if (has_any(text, {"copy_kernel", "fillfunctor", "fill_kernel", "gather", "index_kernel"})) return KernelClass::kCopy;
  return KernelClass::kElementwise;
}

KernelClass classify_lower(std::string_view text) {
  const std::string_view function = kernel_function(text);
  if (is_communication(text, function)) return KernelClass::kCommunication;
  if (has_any(function, {"reshape_and_cache", "concat_and_cache", "catarraybatchedcopy", "index_put", "index_copy", "copy_blocks",
                         "store_values", "store_kv", "append_paged_kv"}))
    return KernelClass::kCacheCopy;
  if (has_any(function, {"elementwise_kernel", "triton_poi_"})) return classify_map(text);
  // cutlass::Kernel2<cutlass_80_simt_sgemm_…> and device_kernel<flash::…> say it in the arguments.
  const bool wrapped = has_any(function, {"kernel2", "device_kernel"});
  const std::string_view what = wrapped ? text : function;
  if (has_any(what, {"sdpa", "fmha", "flash", "attention", "attn", "pagedkvcache", "mla_decode"})) return KernelClass::kAttention;
  if (is_norm(function)) return KernelClass::kNorm;
  if (has_any(what, {"gemm", "gemv", "nvjet", "cutlass", "xmma", "matmul", "mul_mat", "splitk", "fused_moe", "marlin", "triton_mm",
                     "triton_tem_fused_mm", "triton_tem_fused_addmm", "triton_tem_fused_bmm", "dot_kernel"}))
    return KernelClass::kGemm;
  if (has_any(function, {"reduce", "softmax", "soft_max", "argmax", "topk", "sort", "scan", "cumsum", "multinomial", "triton_red_",
                         "triton_per_", "sum_rows", "sampling"}))
    return KernelClass::kReduce;
  if (has_any(function, {"copy", "cpy_", "fill", "memset", "transpose", "gather", "scatter", "indexselect", "index_select", "embed",
                         "get_rows", "repeat"}) &&
      !has_any(function, {"rotary_embed"}))
    return KernelClass::kCopy;
  if (has_any(function, {"silu", "gelu", "relu", "swiglu", "act_and_mul", "rope", "rotary", "bin_bcast", "unary_op", "quantize",
                         "scale_f32", "elementwise", "pointwise", "advance"}))
    return KernelClass::kElementwise;
  return KernelClass::kOther;
}

}  // namespace

std::string_view kernel_function(std::string_view name) {
  std::size_t begin = 0, depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '<') {
      const bool anonymous = i == begin;  // "<unnamed>::" stands where a name would
      if (depth == 0 && !anonymous) return name.substr(begin, i - begin);
      ++depth;
    } else if (c == '>' && depth > 0) {
      --depth;
    } else if (depth > 0) {
      continue;
    } else if (c == ' ' || c == ':') {
      begin = i + 1;
    } else if (c == '(' && i > begin) {
      return name.substr(begin, i - begin);
    }
  }
  return name.substr(begin);
}

KernelClass classify_kernel(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return classify_lower(lower);
}

bool is_expert_product(std::string_view name) {
  // GroupProblemShape: of CUTLASS 3's GemmUniversal. GemmType 1 and 2 of DeepGEMM: grouped, contiguous and masked. dynBatch: the batched products that
  // TensorRT-LLM has for experts.
  return has_any(without_separators(name),
                 {"fusedmoe", "moegemm", "moefcgemm", "marlinmoe", "moewna16", "groupedgemm", "gemmgrouped", "groupgemm", "groupedmm",
                  "groupedmatmul", "groupproblemshape", "mgrouped", "gemmtype)1", "gemmtype)2", "matmulogs", "dynbatch"});
}

bool negates(std::string_view name) { return has_any(name, {"neg_kernel", "NegFunctor"}); }
bool concatenates(std::string_view name) { return has(name, "CatArrayBatchedCopy"); }
bool is_softmax(std::string_view name) { return has_any(name, {"softmax", "SoftMax", "Softmax", "soft_max"}); }

Collective collective_of(std::string_view name) {
  // Longer words first, so that a reduce-scatter is not taken for a reduce.
  static constexpr std::pair<std::string_view, Collective> kWords[] = {
      {"crossdevicereduce", Collective::kAllReduce},
      {"allreduce", Collective::kAllReduce},
      {"reducescatter", Collective::kReduceScatter},
      {"allgather", Collective::kAllGather},
      {"alltoall", Collective::kAllToAll},
      {"dispatch", Collective::kAllToAll},
      {"combine", Collective::kAllToAll},
      {"broadcast", Collective::kBroadcast},
      {"sendrecv", Collective::kSendRecv},
      {"reduce", Collective::kReduce},
  };
  const std::string words = without_separators(kernel_function(name));
  for (const auto& [word, kind] : kWords)
    if (words.find(word) != std::string::npos) return kind;
  return Collective::kOther;
}

std::optional<Collective> collective_of_call(std::string_view range) {
  if (!range.starts_with("nccl")) return std::nullopt;
  if (range == "ncclSend" || range == "ncclRecv") return Collective::kSendRecv;
  const Collective kind = collective_of(range);
  return kind != Collective::kOther ? std::optional(kind) : std::nullopt;
}

}  // namespace nl::analysis

#include "analysis/trace/collectives.h"

#include <cctype>
#include <string>
#include <utility>

#include "analysis/trace/kernel_class.h"

namespace nl::analysis {
namespace {

// Lower case, without what separates words: "one_shot_all_reduce_kernel" and "oneShotAllReduceKernel" are one.
std::string without_separators(std::string_view name) {
  std::string out;
  for (const char c : name)
    if (c != '_') out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace

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

Collective collective_of(std::string_view name) {
  // Longer words first: a reduce-scatter is no reduce.
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

}  // namespace nl::analysis

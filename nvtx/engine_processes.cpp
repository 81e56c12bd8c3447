#include "nvtx/engine_processes.h"

#include <algorithm>

namespace nl::nvtx {
namespace {

struct KnownName {
  std::string_view engine, name;  // of a process: so it begins, "_DP0", "_TP1" or a number follow
  ProcessRole role;
};

// As their public sources of August 2026 give them; nl-serve is our own engine (workloads/serve).
constexpr KnownName kNames[] = {
    {"vLLM", "VLLM::EngineCore", ProcessRole::kScheduler},
    {"vLLM", "VLLM::Worker", ProcessRole::kWorker},
    {"vLLM", "VLLM::APIServer", ProcessRole::kApi},
    {"vLLM", "VLLM::DPCoordinator", ProcessRole::kCoordinator},
    {"vLLM", "VLLM::DPSupervisor", ProcessRole::kCoordinator},
    {"SGLang", "sglang::scheduler", ProcessRole::kScheduler},
    {"SGLang", "sglang::detokenizer", ProcessRole::kDetokenizer},
    {"SGLang", "sglang::tokenizer_worker", ProcessRole::kTokenizer},
    {"SGLang", "sglang::data_parallel_controller", ProcessRole::kCoordinator},
    {"nl-serve", "nl-serve API", ProcessRole::kApi},
    {"nl-serve", "nl-serve scheduler", ProcessRole::kScheduler},
    {"nl-serve", "nl-serve worker", ProcessRole::kWorker},
};

constexpr std::size_t kKept = 15;  // characters of a name that prctl() sets

bool is_named(std::string_view name, std::string_view known) {
  if (name.starts_with(known)) {
    const std::string_view rest = name.substr(known.size());
    return rest.empty() || rest.front() == '_' || rest.front() == ':' || rest.front() == ' ';
  }
  return name.size() == std::min(kKept, known.size()) && known.starts_with(name);
}

}  // namespace

std::optional<EngineProcess> engine_process(std::string_view name) {
  for (const KnownName& each : kNames)
    if (is_named(name, each.name)) return EngineProcess{each.engine, each.role};
  return std::nullopt;
}

std::string_view key_of(ProcessRole role) {
  switch (role) {
    case ProcessRole::kApi: return "API";
    case ProcessRole::kTokenizer: return "tokenizer";
    case ProcessRole::kDetokenizer: return "detokenizer";
    case ProcessRole::kScheduler: return "scheduler";
    case ProcessRole::kWorker: return "worker";
    case ProcessRole::kCoordinator: return "coordinator";
  }
  return "";
}

}  // namespace nl::nvtx

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

// What the processes of inference engines are for, by the names that they give themselves. docs/engines.md lists them.
namespace nl::nvtx {

enum class ProcessRole : std::uint8_t {
  kApi,          // talks to clients, and makes tokens of their text
  kTokenizer,    // helps the API with that
  kDetokenizer,  // makes text of tokens
  kScheduler,    // decides what each step computes; computes it, too, where no worker does
  kWorker,       // computes steps
  kCoordinator,  // hands requests to several schedulers, or watches over them
};

struct EngineProcess {
  std::string_view engine;  // "vLLM"
  ProcessRole role;
};

// Nothing where the name is none of an engine's. The kernel keeps 15 characters of a name: "VLLM::EngineCor" is enough.
std::optional<EngineProcess> engine_process(std::string_view name);

std::string_view key_of(ProcessRole role);  // "scheduler"

}  // namespace nl::nvtx

#include "nvtx/engine_processes.h"

#include <string>

#include "tests/catch.h"

using nl::nvtx::engine_process;
using nl::nvtx::ProcessRole;

namespace {

// "vLLM scheduler"; empty: of no engine
std::string told(std::string_view name) {
  const auto process = engine_process(name);
  return process ? std::string(process->engine) + " " + std::string(key_of(process->role)) : std::string();
}

}  // namespace

TEST_CASE("processes of engines have a role, with their ranks and as the kernel keeps their names") {
  CHECK(told("VLLM::EngineCore") == "vLLM scheduler");
  CHECK(told("VLLM::EngineCore_DP1") == "vLLM scheduler");
  CHECK(told("VLLM::EngineCor") == "vLLM scheduler");
  CHECK(told("VLLM::Worker_TP0") == "vLLM worker");
  CHECK(told("VLLM::Worker_DP0_TP3_EP3") == "vLLM worker");
  CHECK(told("VLLM::APIServer") == "vLLM API");
  CHECK(told("VLLM::APIServer_0") == "vLLM API");
  CHECK(told("VLLM::DPCoordin") == "vLLM coordinator");
  CHECK(told("sglang::scheduler") == "SGLang scheduler");
  CHECK(told("sglang::scheduler_DP0_TP1") == "SGLang scheduler");
  CHECK(told("sglang::schedul") == "SGLang scheduler");
  CHECK(told("sglang::detokenizer") == "SGLang detokenizer");
  CHECK(told("sglang::tokenizer_worker:4711") == "SGLang tokenizer");
  CHECK(told("sglang::data_parallel_controller") == "SGLang coordinator");
  CHECK(told("nl-serve API") == "nl-serve API");
  CHECK(told("nl-serve schedu") == "nl-serve scheduler");
}

TEST_CASE("other names are of no engine") {
  for (const char* name :
       {"", "python3", "VLLM", "VLLM::", "VLLM::Engine", "VLLM::Workers", "sglang::", "sglang::other", "nl-serve", "xVLLM::Worker"})
    CHECK(told(name) == "");
}

#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/run.h"
#include "model/trace.h"

// What nvtx/python/auto notes about the processes of a run, facts-<pid>.json:
//
//   versions, backend    the same names
//   jax.xla_flags        versions["xla_flags"], in one line
//   models[].config      a Hugging Face configuration → the attributes of the model section, with the dtype as loaded
//   models[].precision   the same; where it is left out, from dtype and quantization
//   models[].parameters  count → parameters, as loaded; quantised weights are packed, and their count says nothing
//   models[].attention   attention_implementation
//   errors               what went wrong inside the marks
//
// ranks.json is of nl-stage run, which looks at the environment of the processes while nsys traces them:
//
//   processes[]          {"pid": 4711, "rank": 3, "world_size": 8}
namespace nl::parsers {

struct ProcessFacts {
  std::map<std::string, std::string> versions;  // python, torch, cuda_runtime, transformers …
  std::string backend;                          // "transformers", "vllm", "sglang", "torch"; empty: none of them
  std::optional<ModelInfo> model;               // from the configuration of the model that ran
  std::map<std::uint32_t, RankFacts> ranks;     // that launchers told the processes, by process
  std::vector<Remark> notes;                    // what was missing, or went wrong
  bool uses_torch() const { return versions.contains("torch"); }
};

// The facts and types of all processes of the run; of several models it takes the one that generated the most.
ProcessFacts read_facts(const std::filesystem::path& folder);

inline constexpr const char* kRanksFile = "ranks.json";
std::string process_ranks_json(const std::map<std::uint32_t, RankFacts>& ranks);
// Where the capture itself does not tell them.
void join_process_ranks(const std::map<std::uint32_t, RankFacts>& ranks, Trace& trace);

// The data types of the operators' arguments, which PyTorch's ranges do not carry; nvtx/python/auto writes dtypes-<pid>.json:
//
//   {"operators": [{"name": "aten::mm", "shapes": "[[1, 2048], [2048, 2048]]", "dtypes": "[bfloat16, bfloat16]"}]}
struct RecordedDtypes {
  std::vector<OperatorDtypes> operators;  // each combination once, by name, shapes and types
  std::vector<std::string> notes;         // what could not be read
};

RecordedDtypes read_dtypes(const std::filesystem::path& folder);

}  // namespace nl::parsers

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/run.h"
#include "model/words.h"

// What makes two runs the same workload, made once and used by all that look at several runs: compare, gate, trends, the ledger.
namespace nl {

enum class IdentityPart : std::uint8_t {
  kProgram,       // the program or its script
  kArguments,     // those that matter
  kModel,         // its name
  kDigest,        // of a model file
  kArchitecture,  // "llama"
  kShape,         // layers, widths: "hidden_size=4096 layers=32"
  kInputs,        // names, types and shapes of a model file's inputs
  kPrecision,     // of the weights
  kCompute,       // what they are multiplied in
  kBatch,
  kPromptTokens,
  kOutputTokens,
  kLoad,  // of a server: how requests come, and how long they are
};
template <>
inline constexpr auto kKeys<IdentityPart> =
    std::to_array<std::string_view>({"program", "arguments", "model", "digest", "architecture", "shape", "inputs", "precision",
                                     "compute_precision", "batch", "prompt_tokens", "output_tokens", "load"});

inline constexpr std::size_t kIdentityParts = kKeys<IdentityPart>.size();

struct WorkloadIdentity {
  std::array<std::string, kIdentityParts> values;  // empty: not known

  std::string& operator[](IdentityPart part) { return values[static_cast<std::size_t>(part)]; }
  const std::string& operator[](IdentityPart part) const { return values[static_cast<std::size_t>(part)]; }
  friend bool operator==(const WorkloadIdentity&, const WorkloadIdentity&) = default;
};

WorkloadIdentity identity_of(const Run& run);

// Whether two known values are of one workload; what is not known neither differs nor agrees. Lengths of prompts that vary have a mean that
// varies by a few tokens, and a precision has several spellings.
bool same_part(IdentityPart part, const std::string& a, const std::string& b);

// 16 hexadecimal digits, the same for the same known parts; empty: nothing is known. A workload of which less is known has another one.
std::string identity_key(const WorkloadIdentity& identity);

// "generate.py, llama, bf16, batch 8": for people; empty: nothing is known.
std::string identity_text(const WorkloadIdentity& identity);

// The parts that both know and in which they differ. A model file of one digest is one model, whatever it is called.
std::vector<IdentityPart> differing_parts(const WorkloadIdentity& a, const WorkloadIdentity& b);

// How much of the GPU time of two runs is of kernels with the same names, 0..1; empty: one of them has no kernels.
std::optional<double> common_kernels(const Run& a, const Run& b);

}  // namespace nl

#pragma once

#include <filesystem>
#include <string>

#include "model/gate.h"
#include "orchestrator/config/conf_files.h"
#include "runs/orchestrator_names.h"

// A file of expectations, docs/gate.md:
//   version: 1
//   tolerance: 5%
//   hardware:
//     NVIDIA H200:
//       tpot_median_ms:
//         expected: 4.26
//         tolerance: 0.2 ms
//         provenance: {run: "20250101-120000-llama", commit: "1a2b3c", nl_stage: "1.0.0", captured_by: "nsys", model: "llama"}
namespace nl::runs {

inline constexpr int kExpectationsVersion = 1;

// Throws Error(kConfig) with file:line:column: also where the traced expectations of one hardware are of several capture modes.
Expectations read_expectations(const ConfFile& file);
std::string expectations_text(const Expectations& expectations);

struct EditedText {
  std::string text;
  bool kept = true;  // false: written anew, without the comments and the order of the old one
};
// The text of `file` with these expectations. Values are replaced where they stand and new ones added at the end of their
// hardware, so that comments, order and quotes stay; where that does not give what is wanted, the whole is written anew.
EditedText edited_text(const ConfFile& file, const Expectations& wanted);

}  // namespace nl::runs

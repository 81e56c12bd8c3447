#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runs/orchestrator_names.h"

// Do two commands still say the same? A faster one that computes something else is no improvement.
namespace nl::runs {

enum class OutputVerdict { kNotCompared, kSame, kWithinTolerance, kDifferent };

struct OutputAgreement {
  OutputVerdict verdict = OutputVerdict::kNotCompared;
  std::size_t lines = 0;    // that each side prints alike in all of its rounds, and that were compared
  std::size_t varying = 0;  // that differ between the rounds of one side: times, addresses
  std::size_t files = 0;
  std::string first_difference;  // where, and both sides; empty: none
};

// What one process left.
struct RoundOutput {
  std::string text;                               // its standard output
  std::vector<std::filesystem::path> files = {};  // kept copies of what it wrote, in the order asked for; empty path: not written
};

// Lines that the rounds of one side print differently say nothing of the other side and are left out. `tolerance`: relative, of numbers in
// .npy and .npz files; other files are compared byte by byte.
OutputAgreement compare_outputs(const std::vector<RoundOutput>& a, const std::vector<RoundOutput>& b, double tolerance);

}  // namespace nl::runs

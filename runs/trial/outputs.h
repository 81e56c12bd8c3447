#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "runs/orchestrator_names.h"

// Do two commands still print the same? A faster one that computes something else is not an improvement.
namespace nl::runs {

enum class OutputVerdict { kNotCompared, kSame, kWithinTolerance, kDifferent };

struct OutputAgreement {
  OutputVerdict verdict = OutputVerdict::kNotCompared;
  std::size_t lines = 0;    // that each side prints alike in all of its rounds, and that were compared
  std::size_t varying = 0;  // that differ between the rounds of one side: times, addresses
  std::size_t files = 0;
  std::string first_difference;  // where, and both sides; empty: none
};

// Two numbers are the same where they differ by no more than `absolute`, and what they differ by beyond it is no more than `relative` of
// the larger one.
struct OutputTolerance {
  double relative = 0, absolute = 0;
  friend bool operator==(const OutputTolerance&, const OutputTolerance&) = default;
};

// What one process left.
struct RoundOutput {
  std::string text;                               // its standard output
  std::vector<std::filesystem::path> files = {};  // kept copies of what it wrote, in the order asked for; empty path: not written
};

// Lines that the rounds of one side print differently say nothing of the other side and are left out. The tolerance is of numbers in .npy and
// .npz files, and of those in lines; other files are compared byte by byte.
OutputAgreement compare_outputs(const std::vector<RoundOutput>& a, const std::vector<RoundOutput>& b, const OutputTolerance& tolerance);

// Copies into the bundle the files that a run has written, which the next one will write again. What is older than the run is of another.
void keep_outputs(const std::filesystem::path& bundle, const std::filesystem::path& folder, const std::vector<std::string>& files,
                  std::filesystem::file_time_type began);

// What keep_outputs() kept, and what the run printed where it was not profiled.
RoundOutput kept_output(const std::filesystem::path& bundle, const std::vector<std::string>& files);

}  // namespace nl::runs

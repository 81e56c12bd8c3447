#pragma once

#include <span>
#include <vector>

#include "model/comparison.h"
#include "model/run.h"

// Captures without stages: what the GPU computed in the whole of them is all that can be compared.
namespace nl::analysis {

bool any_has_stages(std::span<const Run> runs);  // besides a steady part

// A side has no stage at all, both have kernels, and not both a steady part (StageKind::kCapture), which says more.
bool only_whole_captures(std::span<const Run> a, std::span<const Run> b);

// Each run with one stage, kWholeCapture: a window as long as all of its kernels together.
std::vector<Run> as_whole_captures(std::span<const Run> runs);

// Its line is one of GPU work, not of a window's length; and there is no budget but the kernels'.
void tell_as_gpu_work(Comparison& comparison);

}  // namespace nl::analysis

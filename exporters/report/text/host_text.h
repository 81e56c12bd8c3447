#pragma once

#include <string>

#include "model/run.h"

// The host's code in words.
namespace nl::exporters::report {

bool enough_samples(const StageEntry& stage);

std::string function_text(const HostFrame& frame);  // cut where it is very long
// "Qwen3Attention.forward (modeling_qwen3.py:245)".
std::string frame_text(const HostFrame& frame);

// "about half of the wait is Python code of the model's modules, mostly Qwen3Attention.forward (modeling_qwen3.py:245)": what the
// host does most, for people who never saw a profiler. Empty where the samples are too few.
std::string host_clause(const StageEntry& stage);

std::string work_colour(HostWork kind);  // "w-model"

}  // namespace nl::exporters::report

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/run.h"
#include "runs/orchestrator_names.h"

// The words of the full-text search. They are cut here and not by the databases, so that both find the same.
namespace nl::runs {

// "Llama-3.1 8B" → llama, 3, 1, 8b. Letters outside ASCII stay as they are.
std::vector<std::string> search_words(std::string_view text);

// What can be found of a run: its names, model, GPUs, command, stages, top kernels and findings. Each word once, in order.
std::vector<std::string> words_of_run(const Run& run);

}  // namespace nl::runs

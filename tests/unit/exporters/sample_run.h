#pragma once

#include "model/run.h"

namespace nl::test {

// A run with something in every field, the numbers small enough to check by hand.
Run full_run();

// A run as a 4-layer Llama on an H200 gives it, launch-bound in decode: what the reports are looked at with.
Run rich_run();

// The same with sampled stacks of its host: 410 samples in the waits of its decode steps, 6 in those of prefill.
Run host_run();

// A CPU-only run of the collector: stages and nothing of a GPU.
Run sparse_run();

// A run as large as run.json lets it become.
Run large_run(std::size_t kernels, std::size_t operators, std::size_t slices, std::size_t findings);

// What changes would bring to a stage: a graph −57 %, the user's function 10 % or nothing, a bound, and one that is refused.
WhatIf sample_what_if(const std::string& stage);
Prediction graph_prediction(const std::string& stage);  // 57 % of 3.6 ms, 47 to 64 %

}  // namespace nl::test

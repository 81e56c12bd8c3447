#pragma once

#include <string>
#include <vector>

#include "analysis/figures/efficiency/llm_shape.h"
#include "model/efficiency.h"

// The least that a stage must compute and move, from the model's shape; for one GPU of a tensor-parallel
// group. Activations, norms, softmax, rotary embeddings and sampling are left out: of a layer's FLOPs they
// are under a hundredth, and their bytes can stay on the chip.
namespace nl::analysis {

struct StageWork {
  std::vector<WorkTerm> terms;
  std::vector<std::string> assumptions;
};

// A prompt of `prompt` tokens in each of `batch` sequences, from an empty cache.
StageWork prefill_work(const LlmShape& shape, double batch, double prompt);

// `steps` decode steps after that prompt, each of one new token per sequence.
StageWork decode_work(const LlmShape& shape, double batch, double prompt, double steps);

// The mean of those steps.
StageWork decode_step_work(const LlmShape& shape, double batch, double prompt, double steps);

// A pass over whole sequences that keeps nothing of them: a batch of an encoder, the forward pass of training. Without a causal mask each
// token attends to the whole sequence.
StageWork forward_work(const LlmShape& shape, const std::vector<ModelInputs>& inputs, bool causal, bool head);

// `times` its FLOPs and `passes` its bytes: a backward pass has two products for each of the forward pass.
StageWork repeated(StageWork work, double times, double passes, const std::string& why);

// The terms are empty where the shape does not describe the vision part.
StageWork vision_work(const LlmShape& shape, double batch);
StageWork projector_work(const LlmShape& shape, double batch);

// Σ min(start + i, window) for i = 1 … count: the context lengths of new tokens that follow `start` others.
double context_sum(double start, double count, double window);

}  // namespace nl::analysis

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/ceilings.h"

// What a card reaches at best: products, copies and attention, measured once and kept. docs/whatif.md
namespace nl::orchestrator {

struct CeilingRequest {
  int gpu = 0;                     // as CUDA numbers them
  std::string python = "python3";  // whose PyTorch runs the attention; without one there is none
  std::filesystem::path driver = "libcuda.so.1";
  std::filesystem::path cublas = {};  // libcublasLt; empty: where the loader, CUDA's folders or Python's packages have it
};

struct MeasuredCeilings {
  DeviceCeilings card;
  std::vector<std::string> notes;  // what was not measured, and why
};

// Takes some seconds on the GPU. Throws Error(kTool) where there is no driver or no GPU.
MeasuredCeilings measure_ceilings(const CeilingRequest& request);

}  // namespace nl::orchestrator

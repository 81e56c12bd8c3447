#pragma once

#include <c10/core/InferenceMode.h>
#include <torch/cuda.h>

#include <exception>
#include <memory>
#include <optional>

#include "adapters/libtorch/recorder.h"
#include "adapters/libtorch/tensors.h"

namespace nl::adapters {

// One iteration of a model: in inference mode, recorded where there is a recorder, until the device has finished.
template <class Work>
void run_iteration(const SessionOptions& options, c10::Device device, std::optional<Recorder>& recorder, Work work) {
  try {
    const c10::InferenceMode inference;
    {
      std::optional<Recorder::Iteration> recording;
      if (recorder) recording.emplace(*recorder);
      work();
    }
    if (device.is_cuda()) torch::cuda::synchronize();
  } catch (const std::exception& exception) {
    throw run_failure(exception, options);
  }
}

// A model that AOTInductor compiled (.pt2). LibTorch loads those since 2.6; package_none.cpp stands in for older ones and throws Error(kTool).
std::unique_ptr<Session> open_package(const SessionOptions& options);

}  // namespace nl::adapters

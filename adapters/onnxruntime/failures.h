#pragma once

#include <filesystem>

#include "adapters/onnxruntime/api.h"
#include "model/error.h"

namespace nl::adapters {

// What ONNX Runtime threw while it loaded a model, and while it ran one.
Error load_failure(const Ort::Exception& failure, const std::filesystem::path& model);
Error run_failure(const Ort::Exception& failure, const std::filesystem::path& model);

}  // namespace nl::adapters

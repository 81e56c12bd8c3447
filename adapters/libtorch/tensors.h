#pragma once

#include <ATen/Tensor.h>

#include <exception>
#include <optional>
#include <string>

#include "adapters/adapter.h"
#include "model/error.h"

namespace nl::adapters {

// "float32" for kFloat; a type that nl-stage has no name for is called as PyTorch calls it ("ComplexFloat").
std::string name_of_type(c10::ScalarType type);

// cpu or cuda. Throws Error(kUsage) for a provider that is not there.
c10::Device device_of(const SessionOptions& options);
// What --precision turns floating values into; nothing: they stay as they are. Throws Error(kUsage) for int8.
std::optional<c10::ScalarType> precision_of(const SessionOptions& options);

// A copy on the device, floating values in the precision that was asked for.
at::Tensor to_torch(const Tensor& tensor, c10::Device device, std::optional<c10::ScalarType> precision);
Tensor from_torch(const at::Tensor& tensor, std::string name);

// The words of LibTorch, without its stack of C++ frames; of an error inside a model the line that says what failed.
std::string words_of(const std::exception& exception);

// A model that failed while it ran, as our Error.
Error run_failure(const std::exception& exception, const SessionOptions& options);
// A file that LibTorch does not read.
Error load_failure(const std::exception& exception, const SessionOptions& options, std::string fix);

}  // namespace nl::adapters

#pragma once

#include <string_view>

#include "model/host_code.h"

namespace nl::analysis {

// Who wrote the code of a frame.
enum class CodeOrigin : std::uint8_t {
  kUser,  // neither of the two below: the script, its folder, its repository; of native code the executable and the libraries beside it
  kFramework,  // drives the GPU: PyTorch, JAX, transformers, an engine, CUDA
  kLibrary,    // the standard library, an installed package, the system
};

// By the path of the file, and by the name of the module where the path does not say it: a framework may run from its own repository.
CodeOrigin origin_of(const HostFrame& frame);

// Whether a native function is CUDA's by its name, wherever it lies.
bool is_linked_cuda(std::string_view function);

// A native function: its file is its library.
inline bool is_native(const HostFrame& frame) { return frame.module.empty() && frame.line == 0; }

// Python's own modules: whose work it is, the caller says.
bool is_standard_library(const HostFrame& frame);

// forward() of a module: a part of the model, also where the user wrote it.
bool is_module_forward(const HostFrame& frame);

}  // namespace nl::analysis

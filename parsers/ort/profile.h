#pragma once

#include <filesystem>

#include "model/trace.h"

namespace nl::parsers {

// The profile that an ONNX Runtime session writes (enable_profiling). What becomes of what:
//   Node …_kernel_time      ranges of the domain onnxruntime: "MatMul, sizes = [[1, 16, 64]]", and Trace::session, where each
//                           keeps its name, number, provider, shapes and types; an iteration is a model_run
//   Session                 ranges of the domain onnxruntime.session (model_run and what is around it)
//   Kernel                  kernels and copies of the CUDA provider, launched by the node that they follow
// Fences and everything else are counted. Times are whole microseconds there. A profile without its end, of a
// process that died, is kept as far as it goes, and a note says so.
// Throws Error(kInput) where the file is not such a profile.
Trace read_ort_profile(const std::filesystem::path& file);

}  // namespace nl::parsers

#pragma once

#include <filesystem>

#include "model/trace.h"

namespace nl::parsers {

// The Chrome trace that torch.profiler (Kineto) exports, plain or packed with gzip. What becomes of what:
//   kernel, gpu_memcpy, gpu_memset   the GPU's work, joined to its call by correlation
//   cuda_runtime, cuda_driver        API calls
//   user_annotation                  ranges of the default domain ("LLM@prefill" is a stage)
//   cpu_op                           ranges of the domain torch.ops, named as nsys names them:
//                                    "aten::mm, sizes = [[1, 1024], [1024, 1024]]"
// Everything else is counted by its category. Times are exact to the nanosecond.
// Throws Error(kInput) where the file is not such a trace or ends before its events do.
Trace read_kineto_json(const std::filesystem::path& file);

}  // namespace nl::parsers

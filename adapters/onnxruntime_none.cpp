#include "adapters/backends.h"

namespace nl::adapters {

std::unique_ptr<Adapter> onnxruntime_adapter() { return not_built("onnxruntime", "ONNX Runtime", "run tools/setup, which gets its headers, and build again"); }

}  // namespace nl::adapters

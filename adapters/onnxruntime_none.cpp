#include "adapters/adapter.h"

namespace nl::adapters {

std::unique_ptr<Adapter> onnxruntime_adapter() {
  return not_built("onnxruntime", "ONNX Runtime", "give -Donnxruntime_include=DIR with onnxruntime_cxx_api.h, and build again");
}

}  // namespace nl::adapters

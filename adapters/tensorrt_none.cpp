#include "adapters/adapter.h"

namespace nl::adapters {

std::unique_ptr<Adapter> tensorrt_adapter() {
  return not_built("tensorrt", "TensorRT", "give -Dtensorrt_include=DIR with NvInfer.h, and build again");
}

}  // namespace nl::adapters

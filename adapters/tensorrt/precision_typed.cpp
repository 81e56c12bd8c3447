#include <fmt/format.h>

#include "adapters/tensorrt/network.h"
#include "model/error.h"

// TensorRT 11: every network has the types of its model, and a precision cannot be asked for.
namespace nl::adapters::tensorrt {

void check_precision(const nvinfer1::IBuilder&, const std::string& precision) {
  if (precision.empty()) return;
  throw Error(ErrorKind::kUsage,
              fmt::format("TensorRT {} cannot choose {}: it takes the types that the model has", NV_TENSORRT_MAJOR, precision),
              "--precision", "leave --precision out, or export the model in this precision");
}

nvinfer1::NetworkDefinitionCreationFlags network_flags(const std::string&) { return 0; }

void set_precision(nvinfer1::IBuilderConfig&, const std::string&) {}

}  // namespace nl::adapters::tensorrt

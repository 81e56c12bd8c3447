#include <fmt/format.h>

#include "adapters/tensorrt/network.h"
#include "model/error.h"

// TensorRT 10: a precision is a permission, and the builder takes what is fastest. Later releases of it call these functions deprecated
// and have nothing in their place.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace nl::adapters::tensorrt {

void check_precision(const nvinfer1::IBuilder& builder, const std::string& precision) {
  // There is no question for bfloat16; it came with the same GPUs as TF32.
  const bool there = precision == "fp16"   ? builder.platformHasFastFp16()
                     : precision == "int8" ? builder.platformHasFastInt8()
                     : precision == "bf16" ? builder.platformHasTf32()
                                           : precision.empty() || precision == "fp32";
  if (!there)
    throw Error(ErrorKind::kUsage, fmt::format("this GPU has no fast {}", precision), "--precision", "leave --precision out, or give fp32");
}

nvinfer1::NetworkDefinitionCreationFlags network_flags(const std::string& precision) {
  const auto strongly_typed = static_cast<std::uint32_t>(nvinfer1::NetworkDefinitionCreationFlag::kSTRONGLY_TYPED);
  return precision.empty() ? 1u << strongly_typed : 0u;
}

void set_precision(nvinfer1::IBuilderConfig& config, const std::string& precision) {
  using nvinfer1::BuilderFlag;
  if (precision == "fp16") config.setFlag(BuilderFlag::kFP16);
  if (precision == "bf16") config.setFlag(BuilderFlag::kBF16);
  if (precision == "int8") config.setFlag(BuilderFlag::kINT8);
  if (precision == "fp32") config.clearFlag(BuilderFlag::kTF32);  // on by default: it keeps 10 bits of the mantissa
}

}  // namespace nl::adapters::tensorrt

#pragma GCC diagnostic pop

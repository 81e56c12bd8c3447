#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "model/words.h"

namespace nl {

struct ModelInfo;

// What weights are stored in, or what is computed in.
enum class DataType : std::uint8_t {
  kNone,  // not known
  kF64,
  kF32,
  kTf32,
  kBf16,
  kF16,
  kFp8,
  kInt8,
  kFp4,  // MXFP4 and NVFP4, too
  kNf4,
  kInt4,
  kOther,
};
template <>
inline constexpr auto kKeys<DataType> =
    std::to_array<std::string_view>({"none", "f64", "f32", "tf32", "bf16", "f16", "fp8", "int8", "fp4", "nf4", "int4", "other"});

// Of any spelling that is in use: "torch.bfloat16", "fp16", "float8_e4m3fn", "int4 (gptq)". The one place that makes a code of such a text.
DataType data_type_of(std::string_view text);

int bits_of(DataType type);            // 0: not known
bool is_low_precision(DataType type);  // eight bits or fewer

// Sets both precisions of the model from the text and the attributes that it has. What is computed in is known where it is told, and where
// the weights have 16 bits: with 32, mixed precision is usual.
void find_precisions(ModelInfo& model);

}  // namespace nl

#include "model/precision.h"

#include "model/run.h"
#include "tests/catch.h"

using namespace nl;

TEST_CASE("precision: one code for every spelling of a type") {
  using enum DataType;
  for (const auto& [text, type] : {std::pair{"bf16", kBf16},
                                   {"torch.bfloat16", kBf16},
                                   {"BFloat16", kBf16},
                                   {"float16", kF16},
                                   {"half", kF16},
                                   {"fp32", kF32},
                                   {"float8_e4m3fn", kFp8},
                                   {"fp8_e5m2", kFp8},
                                   {"int8", kInt8},
                                   {"uint8", kInt8},
                                   {"mxfp4", kFp4},
                                   {"nf4 (bitsandbytes)", kNf4},
                                   {"int4 (gptq)", kInt4},
                                   {"gptq-int4", kInt4},
                                   {"int4 weights (gptq), bf16 compute", kInt4},
                                   {"banana", kOther},
                                   {"int64", kOther},
                                   {"", kNone}}) {
    CAPTURE(text);
    CHECK(data_type_of(text) == type);
  }
}

TEST_CASE("precision: weights and products apart") {
  using enum DataType;
  const auto found = [](const char* text, std::map<std::string, std::string> attributes) {
    ModelInfo model{"m", std::move(attributes), text};
    find_precisions(model);
    return std::pair(model.weights_precision, model.compute_precision);
  };
  CHECK(found("bf16", {}) == std::pair(kBf16, kBf16));
  CHECK(found("", {{"dtype", "f16"}}) == std::pair(kF16, kF16));
  CHECK(found("f32", {}) == std::pair(kF32, kNone));  // mixed precision is usual
  CHECK(found("f32", {{"compute_dtype", "bf16"}}) == std::pair(kF32, kBf16));
  CHECK(found("int4 weights (gptq), bf16 compute", {}) == std::pair(kInt4, kBf16));
  CHECK(found("int4 (awq)", {{"dtype", "bf16"}}) == std::pair(kInt4, kNone));
  CHECK(found("banana", {{"dtype", "bf16"}}) == std::pair(kBf16, kBf16));
  CHECK(found("banana", {}) == std::pair(kOther, kNone));
  CHECK(found("", {}) == std::pair(kNone, kNone));
}

TEST_CASE("precision: eight bits or fewer") {
  using enum DataType;
  for (const DataType type : {kFp8, kInt8, kFp4, kNf4, kInt4}) CHECK(is_low_precision(type));
  for (const DataType type : {kNone, kF64, kF32, kTf32, kBf16, kF16, kOther}) CHECK_FALSE(is_low_precision(type));
}

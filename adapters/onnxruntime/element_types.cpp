#include "adapters/onnxruntime/element_types.h"

#include <algorithm>
#include <array>

namespace nl::adapters {
namespace {

struct ElementType {
  int number;
  std::string_view dtype;
  std::string_view precision;
};

constexpr std::array<ElementType, 13> kTypes = {{{1, "float32", "fp32"},
                                                 {2, "uint8", "int8"},
                                                 {3, "int8", "int8"},
                                                 {4, "uint16", ""},
                                                 {5, "int16", ""},
                                                 {6, "int32", ""},
                                                 {7, "int64", ""},
                                                 {9, "bool", ""},
                                                 {10, "float16", "fp16"},
                                                 {11, "float64", "fp64"},
                                                 {12, "uint32", ""},
                                                 {13, "uint64", ""},
                                                 {16, "bfloat16", "bf16"}}};

const ElementType* type_of(int element) {
  const auto found = std::find_if(kTypes.begin(), kTypes.end(), [&](const ElementType& type) { return type.number == element; });
  return found == kTypes.end() ? nullptr : &*found;
}

}  // namespace

std::string dtype_of_element(int element) {
  const ElementType* type = type_of(element);
  return type ? std::string(type->dtype) : element == 8 ? "string" : "onnx type " + std::to_string(element);
}

std::optional<int> element_of_dtype(std::string_view dtype) {
  const auto found = std::find_if(kTypes.begin(), kTypes.end(), [&](const ElementType& type) { return type.dtype == dtype; });
  return found == kTypes.end() ? std::nullopt : std::optional(found->number);
}

std::string precision_of_element(int element) {
  const ElementType* type = type_of(element);
  return type ? std::string(type->precision) : "";
}

}  // namespace nl::adapters

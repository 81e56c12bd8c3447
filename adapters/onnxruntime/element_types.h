#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace nl::adapters {

// ONNX numbers the types of values; ONNX Runtime's enum has the same numbers.
std::string dtype_of_element(int element);  // 1: "float32"; "onnx type 17" where no input can have it
std::optional<int> element_of_dtype(std::string_view dtype);

// The --precision that values of a type have: "fp32" for 1; empty for a type that is no number of a network.
std::string precision_of_element(int element);

}  // namespace nl::adapters

#include "model/precision.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <string>
#include <utility>

#include "model/run.h"

namespace nl {
namespace {

DataType type_of_word(std::string_view word) {
  using enum DataType;
  static constexpr std::pair<std::string_view, DataType> kSpellings[] = {
      {"f64", kF64},     {"fp64", kF64},   {"float64", kF64}, {"double", kF64}, {"f32", kF32},       {"fp32", kF32},   {"float32", kF32},
      {"float", kF32},   {"single", kF32}, {"tf32", kTf32},   {"bf16", kBf16},  {"bfloat16", kBf16}, {"f16", kF16},    {"fp16", kF16},
      {"float16", kF16}, {"half", kF16},   {"fp8", kFp8},     {"mxfp8", kFp8},  {"int8", kInt8},     {"uint8", kInt8}, {"qint8", kInt8},
      {"quint8", kInt8}, {"fp4", kFp4},    {"mxfp4", kFp4},   {"nvfp4", kFp4},  {"nf4", kNf4},       {"int4", kInt4},  {"uint4", kInt4},
  };
  const auto found = std::find_if(std::begin(kSpellings), std::end(kSpellings), [&](const auto& each) { return each.first == word; });
  if (found != std::end(kSpellings)) return found->second;
  if (word.starts_with("float8") || word.starts_with("fp8")) return kFp8;  // float8_e4m3fn, fp8_e5m2
  return word.starts_with("float4") || word.starts_with("fp4") ? kFp4 : kNone;
}

std::string attribute_of(const ModelInfo& model, const char* key) {
  const auto found = model.attributes.find(key);
  return found != model.attributes.end() ? found->second : std::string();
}

DataType first_known_type(std::initializer_list<std::string_view> texts) {
  using enum DataType;
  DataType first = kNone;
  for (const std::string_view text : texts) {
    const DataType type = data_type_of(text);
    if (type != kNone && type != kOther) return type;
    if (first == kNone) first = type;
  }
  return first;
}

}  // namespace

DataType data_type_of(std::string_view text) {
  using enum DataType;
  std::string word;
  const auto is_part = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && is_part(static_cast<unsigned char>(text[i]))) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(text[i])));
      continue;
    }
    if (const DataType type = type_of_word(word); type != kNone) return type;
    word.clear();
  }
  return text.empty() ? kNone : kOther;
}

int bits_of(DataType type) {
  switch (type) {
    case DataType::kF64: return 64;
    case DataType::kF32:
    case DataType::kTf32: return 32;
    case DataType::kBf16:
    case DataType::kF16: return 16;
    case DataType::kFp8:
    case DataType::kInt8: return 8;
    case DataType::kFp4:
    case DataType::kNf4:
    case DataType::kInt4: return 4;
    case DataType::kNone:
    case DataType::kOther: break;
  }
  return 0;
}

bool is_low_precision(DataType type) { return type >= DataType::kFp8 && type <= DataType::kInt4; }

// "int4 weights (gptq), bf16 compute"
void find_precisions(ModelInfo& model) {
  using enum DataType;
  const std::string_view text = model.precision;
  const std::size_t comma = std::min(text.find(", "), text.size());
  const std::string_view computed = text.ends_with(" compute") ? text.substr(comma) : std::string_view();
  model.weights_precision = first_known_type({text.substr(0, comma), attribute_of(model, "dtype")});
  model.compute_precision = first_known_type({computed, attribute_of(model, "compute_dtype")});
  const bool half = model.weights_precision == kBf16 || model.weights_precision == kF16;
  if (model.compute_precision == kNone && half) model.compute_precision = model.weights_precision;
}

}  // namespace nl

#include "adapters/tensor_types.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <map>
#include <numeric>

namespace nl::adapters {

std::optional<std::size_t> bytes_of(std::string_view dtype) {
  static const std::map<std::string_view, std::size_t> kSizes = {
      {"bool", 1},  {"int8", 1},   {"uint8", 1},   {"int16", 2}, {"uint16", 2}, {"float16", 2}, {"bfloat16", 2},
      {"int32", 4}, {"uint32", 4}, {"float32", 4}, {"int64", 8}, {"uint64", 8}, {"float64", 8}};
  const auto found = kSizes.find(dtype);
  return found == kSizes.end() ? std::nullopt : std::optional(found->second);
}

std::size_t values_in(const std::vector<std::int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1},
                         [](std::size_t product, std::int64_t size) { return product * static_cast<std::size_t>(size); });
}

std::string declared_text(const TensorSpec& spec) {
  if (!spec.shape_known) return "?";
  std::vector<std::string> sizes;
  for (const Dimension& dimension : spec.shape)
    sizes.push_back(dimension.size >= 0 ? std::to_string(dimension.size) : dimension.symbol.empty() ? "?" : dimension.symbol);
  return fmt::format("[{}]", fmt::join(sizes, ", "));
}

std::string shape_text(const std::vector<std::int64_t>& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

}  // namespace nl::adapters

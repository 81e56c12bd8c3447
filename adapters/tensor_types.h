#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/adapter.h"

namespace nl::adapters {

// Bytes of one value of a type; nothing for a type that no input can have.
std::optional<std::size_t> bytes_of(std::string_view dtype);

std::size_t values_in(const std::vector<std::int64_t>& shape);

// "[batch, 16]", an open dimension without a name as "?".
std::string declared_text(const TensorSpec& spec);
std::string shape_text(const std::vector<std::int64_t>& shape);

}  // namespace nl::adapters

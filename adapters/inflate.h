#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace nl::adapters {

// Raw deflate, as zip archives have it. Throws Error(kInput) for damaged data.
std::vector<std::byte> inflated(std::span<const std::byte> packed, std::size_t size);

}  // namespace nl::adapters

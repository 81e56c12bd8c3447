#pragma once

#include <cstddef>
#include <optional>

namespace nl::exporters {

// What a field of run.json may hold besides what its type says. Only the schema looks at it.
struct Limits {
  std::optional<int> minimum = 0;  // of numbers; of a list or a map, of the numbers in it
  std::optional<int> maximum = {};
  const char* pattern = nullptr;  // of texts; null: any
  std::size_t most_items = 0;     // of a list; 0: any number
};

inline constexpr Limits kFromZero{};
inline constexpr Limits kFromOne{.minimum = 1};
inline constexpr Limits kAnySign{.minimum = std::nullopt};
inline constexpr Limits kFraction{.maximum = 1};

constexpr Limits matching(const char* pattern) { return {.pattern = pattern}; }

}  // namespace nl::exporters

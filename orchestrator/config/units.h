#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

// Numbers with their units, as people write them; nothing where the text is not such a number.
namespace nl::orchestrator {

// "90", "90s", "100ms", "3m", "1.5h" → seconds
std::optional<double> seconds_in(std::string_view text);

// "2GB", "1.5 GB" (powers of 1000), "512MiB" (of 1024), "4096" (bytes)
std::optional<std::uint64_t> bytes_in(std::string_view text);

// "1/10" → 10: one in so many, at most 10,000
std::optional<int> one_in(std::string_view text);

// "5%", "5 %", "0.05" → 0.05
std::optional<double> share_in(std::string_view text);

}  // namespace nl::orchestrator

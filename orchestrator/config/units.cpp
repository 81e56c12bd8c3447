#include "orchestrator/config/units.h"

#include <charconv>
#include <cmath>
#include <span>
#include <utility>

namespace nl::orchestrator {
namespace {

using Unit = std::pair<std::string_view, double>;

constexpr Unit kTimes[] = {{"", 1}, {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}};
constexpr Unit kShares[] = {{"", 1}, {"%", 0.01}};
constexpr Unit kSizes[] = {{"", 1},
                           {"B", 1},
                           {"kB", 1e3},
                           {"KB", 1e3},
                           {"MB", 1e6},
                           {"GB", 1e9},
                           {"TB", 1e12},
                           {"KiB", 1024.},
                           {"MiB", 1024. * 1024},
                           {"GiB", 1024. * 1024 * 1024},
                           {"TiB", 1024. * 1024 * 1024 * 1024}};

std::optional<double> in_units(std::string_view text, std::span<const Unit> units) {
  double number = 0;
  const auto [stopped, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc{} || !std::isfinite(number) || number < 0) return std::nullopt;
  std::string_view unit = text.substr(static_cast<std::size_t>(stopped - text.data()));
  if (unit.starts_with(' ')) unit.remove_prefix(1);
  for (const auto& [name, factor] : units)
    if (name == unit) return number * factor;
  return std::nullopt;
}

}  // namespace

std::optional<double> seconds_in(std::string_view text) { return in_units(text, kTimes); }

std::optional<double> share_in(std::string_view text) { return in_units(text, kShares); }

std::optional<std::uint64_t> bytes_in(std::string_view text) {
  const auto bytes = in_units(text, kSizes);
  if (!bytes || *bytes > 1e18) return std::nullopt;
  return static_cast<std::uint64_t>(*bytes);
}

std::optional<int> one_in(std::string_view text) {
  int every = 0;
  if (!text.starts_with("1/")) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), every);
  if (error != std::errc() || end != text.data() + text.size() || every < 1 || every > 10'000) return std::nullopt;
  return every;
}

}  // namespace nl::orchestrator

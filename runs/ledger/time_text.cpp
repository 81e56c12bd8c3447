#include "runs/ledger/time_text.h"

#include <cmath>
#include <regex>

#include "model/error.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/config/units.h"

namespace nl::runs {
namespace {

// "7d"; what seconds_in() takes, too
std::optional<double> seconds_before(const std::string& text) {
  if (!text.ends_with('d')) return seconds_in(text);
  const auto days = seconds_in(text.substr(0, text.size() - 1));
  return days ? std::optional(*days * 86400) : std::nullopt;
}

}  // namespace

std::string moment_text(const std::string& text, const std::string& flag, std::chrono::system_clock::time_point now) {
  static const std::regex moment("[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])(T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z)?");
  if (text.empty() || std::regex_match(text, moment)) return text;
  constexpr double kMostSeconds = 100 * 366 * 86400.0;
  const auto seconds = seconds_before(text);
  if (!seconds || !(*seconds >= 0 && *seconds <= kMostSeconds))
    throw Error(ErrorKind::kUsage, "'" + text + "' is no time", flag, "write 2026-11-16, 2026-11-16T12:00:00Z (UTC), 24h or 7d");
  return utc_text(std::chrono::floor<std::chrono::seconds>(now - std::chrono::seconds(std::llround(*seconds))));
}

}  // namespace nl::runs

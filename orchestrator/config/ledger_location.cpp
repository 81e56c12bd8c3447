#include "orchestrator/config/ledger_location.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <regex>

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

constexpr std::string_view kNoLedger = "off";
constexpr std::string_view kUrlBeginnings[] = {"postgresql://", "postgres://"};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

bool ledger_is_off(const std::string& asked) { return (asked.empty() ? variable(kLedgerVariable) : asked) == kNoLedger; }

std::string ledger_location(const std::string& asked) {
  const std::string named = asked.empty() ? variable(kLedgerVariable) : asked;
  if (named == kNoLedger) return {};
  if (!named.empty()) return is_postgresql_url(named) ? named : fs::absolute(named).lexically_normal().string();
  const fs::path data = variable("XDG_DATA_HOME"), home = variable("HOME");
  if (data.is_absolute()) return (data / "nl-stage" / "ledger.sqlite").string();  // a relative one is to be ignored, says its specification
  return home.is_absolute() ? (home / ".local" / "share" / "nl-stage" / "ledger.sqlite").string() : std::string();
}

bool is_postgresql_url(std::string_view location) {
  return std::any_of(std::begin(kUrlBeginnings), std::end(kUrlBeginnings),
                     [&](std::string_view beginning) { return location.starts_with(beginning); });
}

std::string without_password(const std::string& location) {
  if (!is_postgresql_url(location)) return location;
  static const std::regex user_password("^([a-z]+://[^:@/?]*):[^@/?]*@"), parameter("([?&])password=[^&]*&?");
  std::string shown = std::regex_replace(std::regex_replace(location, user_password, "$1@"), parameter, "$1");
  while (shown.ends_with('?') || shown.ends_with('&')) shown.pop_back();
  return shown;
}

}  // namespace nl::orchestrator

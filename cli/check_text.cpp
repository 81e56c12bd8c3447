#include "cli/check_text.h"

#include <algorithm>

#include "cli/output.h"
#include "model/visible_text.h"

namespace nl::cli {
namespace {

constexpr std::size_t kLevelWidth = 9;       // "blocked" and two blanks
constexpr std::size_t kLeastTextWidth = 24;  // beside the subjects; where there is less, the text goes on below them

Colour colour_of(orchestrator::CheckLevel level) {
  switch (level) {
    case orchestrator::CheckLevel::kOk: return Colour::kGreen;
    case orchestrator::CheckLevel::kWarning: return Colour::kYellow;
    case orchestrator::CheckLevel::kBlocked: return Colour::kRed;
  }
  return Colour::kNone;
}

}  // namespace

void print_checks(const std::vector<orchestrator::Check>& checks) {
  std::size_t subjects = 0;
  for (const auto& check : checks) subjects = std::max(subjects, check.subject.size());
  const std::size_t width = line_width(), begin = kLevelWidth + subjects + 2;
  const std::size_t indent = width == 0 || width >= begin + kLeastTextWidth ? begin : kLevelWidth;
  for (const auto& check : checks) {
    write_text(fmt::format("{:<{}}", level_name(check.level), kLevelWidth - 2), stdout, colour_of(check.level));
    write_out("  {:<{}}  {}\n", check.subject, subjects, wrapped(check.finding, width, begin, indent));
    if (!check.fix.empty()) write_out("{:{}}fix: {}\n", "", indent, wrapped(check.fix, width, indent + 5, indent + 5));
  }
}

}  // namespace nl::cli

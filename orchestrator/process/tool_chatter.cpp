#include "orchestrator/process/tool_chatter.h"

#include <algorithm>
#include <array>
#include <utility>

namespace nl::orchestrator {
namespace {

constexpr std::string_view kGenerated = "Generated:";

// How lines of nsys 2022 to 2026 and of ncu begin. A line that is not known is shown.
constexpr std::array<std::string_view, 13> kBeginnings = {"Collecting data...",
                                                          "Processing events...",
                                                          "Generating '/",
                                                          kGenerated,
                                                          "Saving temporary \"",
                                                          "Creating final output files...",
                                                          "Saved report file to \"",
                                                          "Report file moved to \"",
                                                          "Capturing symbol files...",
                                                          "Processing [",
                                                          "Exporting [",
                                                          "==PROF== ",
                                                          "==WARNING== "};

// "[3/8] [=====   62%] run.sqlite": what nsys makes of the capture
bool is_bar(std::string_view line) {
  const std::size_t close = line.find("] [");
  return line.starts_with('[') && close != std::string_view::npos &&
         line.substr(1, close - 1).find_first_not_of("0123456789/") == std::string_view::npos;
}

bool may_become_bar(std::string_view line) {
  return line.starts_with('[') && line.substr(1).find_first_not_of("0123456789/] [") == std::string_view::npos;
}

bool is_chatter(std::string_view line) {
  return is_bar(line) ||
         std::any_of(kBeginnings.begin(), kBeginnings.end(), [&](std::string_view known) { return line.starts_with(known); });
}

bool may_become_chatter(std::string_view line) {
  return line.empty() || may_become_bar(line) ||
         std::any_of(kBeginnings.begin(), kBeginnings.end(), [&](std::string_view known) { return known.starts_with(line); });
}

bool is_indented(std::string_view line) { return line.starts_with('\t') || line.starts_with("    "); }

}  // namespace

std::string ToolChatter::without(std::string_view data) {
  std::string shown;
  for (const char c : data) {
    if (line_ == Line::kShown) shown += c;
    else if (line_ == Line::kUndecided) held_ += c;
    if (c == '\n' || c == '\r') {
      end_line(shown);
    } else if (line_ == Line::kUndecided) {
      decide();
      if (line_ == Line::kShown) shown += std::exchange(held_, {});
    }
  }
  return shown;
}

void ToolChatter::decide() {
  if (lists_files_ && is_indented(held_)) line_ = Line::kHidden;
  else if (lists_files_ && std::string_view("    ").starts_with(held_)) return;
  else if (is_chatter(held_)) line_ = Line::kHidden;
  else if (!may_become_chatter(held_)) line_ = Line::kShown;
  if (line_ == Line::kShown) lists_files_ = false;
  if (line_ == Line::kHidden && held_.starts_with(kGenerated)) lists_files_ = true;
}

void ToolChatter::end_line(std::string& shown) {
  if (line_ == Line::kUndecided) shown += held_;  // a whole line that only begins as chatter does
  held_.clear();
  line_ = Line::kUndecided;
}

std::string ToolChatter::rest() { return std::exchange(held_, {}); }

}  // namespace nl::orchestrator

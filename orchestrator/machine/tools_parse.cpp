#include <algorithm>
#include <cctype>
#include <charconv>

#include "orchestrator/machine/tools.h"

#include <fmt/format.h>

namespace nl::orchestrator {
namespace {

bool is_option_char(char c) {
  return std::islower(static_cast<unsigned char>(c)) || std::isdigit(static_cast<unsigned char>(c)) || c == '-';
}

template <class Each>
void each_line(std::string_view text, Each each) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    each(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// "--nvtx-domain-[include|exclude]=" stands for two options.
void add_alternatives(const std::string& stem, std::string_view alternatives, std::vector<std::string>& options) {
  while (!alternatives.empty()) {
    const auto end = std::min(alternatives.find('|'), alternatives.size());
    options.push_back(stem + std::string(alternatives.substr(0, end)));
    alternatives.remove_prefix(std::min(end + 1, alternatives.size()));
  }
}

void add_options(std::string_view line, std::vector<std::string>& options) {
  for (auto start = line.find("--"); start != std::string_view::npos; start = line.find("--", start)) {
    auto end = start + 2;
    while (end < line.size() && is_option_char(line[end])) ++end;
    const std::string name(line.substr(start, end - start));
    if (end < line.size() && line[end] == '[' && name.ends_with("-"))
      add_alternatives(name, line.substr(end + 1, line.find(']', end) - end - 1), options);
    else if (name.size() > 2) options.push_back(name);
    start = end;
  }
}

bool has(const std::vector<std::string>& options, const std::string& option) {
  return options.empty() || std::find(options.begin(), options.end(), option) != options.end();
}

}  // namespace

std::string ToolVersion::text() const { return year == 0 ? "" : fmt::format("{}.{}.{}", year, release, patch); }

bool Tool::has_option(const std::string& option) const { return has(help_options, option); }
bool Tool::has_export_option(const std::string& option) const { return has(export_options, option); }

ToolVersion parse_tool_version(std::string_view text) {
  // The first thing that reads 20yy.n.n; a copyright line has years but no dots after them.
  for (std::size_t start = text.find("20"); start != std::string_view::npos; start = text.find("20", start + 1)) {
    ToolVersion version;
    const char* at = text.data() + start;
    const char* end = text.data() + text.size();
    bool whole = true;
    int* fields[] = {&version.year, &version.release, &version.patch};
    for (int field = 0; field < 3 && whole; ++field) {
      if (field > 0) whole = at != end && *at++ == '.';
      auto [next, failed] = std::from_chars(at, end, *fields[field]);
      whole = whole && failed == std::errc{};
      at = next;
    }
    if (whole && version.year >= 2018 && version.year < 2100) return version;
  }
  return {};
}

// nsys, one tab in:                     ncu, two spaces in:
//   	-c, --capture-range=               -k [ --kernel-name ] arg              Filter the kernel
//   	(Experimental) --storage-metrics=  --kernel-name-base arg (=function)    Set the basis
// Their descriptions are indented further, or stand two spaces after the option.
std::vector<std::string> parse_help_options(std::string_view text) {
  std::vector<std::string> options;
  each_line(text, [&](std::string_view line) {
    const auto indent = line.find_first_not_of(" \t");
    if (indent == std::string_view::npos || indent > 4) return;
    line.remove_prefix(indent);
    if (line.starts_with('(')) line.remove_prefix(std::min(line.find(") ") + 2, line.size()));
    if (!line.starts_with('-')) return;
    add_options(line.substr(0, line.find("  ")), options);
  });
  std::sort(options.begin(), options.end());
  options.erase(std::unique(options.begin(), options.end()), options.end());
  return options;
}

// 	libpthread.so.0 => /lib/x86_64-linux-gnu/libpthread.so.0 (0x00007f3c1c000000)
// 	libdw.so.1 => not found
std::vector<std::string> parse_missing_libraries(std::string_view loader_trace) {
  std::vector<std::string> missing;
  each_line(loader_trace, [&](std::string_view line) {
    const auto arrow = line.find(" => not found");
    const auto start = line.find_first_not_of(" \t");
    if (arrow == std::string_view::npos || start >= arrow) return;
    missing.emplace_back(line.substr(start, arrow - start));
  });
  std::sort(missing.begin(), missing.end());
  missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
  return missing;
}

}  // namespace nl::orchestrator

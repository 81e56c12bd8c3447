#include "exporters/report/kernel_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "exporters/report/markdown.h"

namespace nl::exporters {
namespace {

constexpr std::size_t kLongName = 90;

// Where the bracket at `open` closes, or the end.
std::size_t closing(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '<' || text[i] == '(' || text[i] == '[') ++depth;
    if (text[i] == '>' || text[i] == ')' || text[i] == ']') --depth;
    if (depth == 0) return i;
  }
  return text.size();
}

}  // namespace

std::string percent_text(const std::optional<double>& percent) { return percent ? fmt::format("{:.1f}", *percent) : kNoValue; }

std::string time_text(double ns) {
  if (std::abs(ns) >= 1e9) return fmt::format("{:.3f} s", ns / 1e9);
  if (std::abs(ns) >= 1e6) return fmt::format("{:.3f} ms", ns / 1e6);
  if (std::abs(ns) >= 1e3) return fmt::format("{:.2f} µs", ns / 1e3);
  return fmt::format("{:.0f} ns", ns);
}

std::string split_text(const KernelEntry& kernel) {
  std::string text;
  for (const auto& split : kernel.stages) {
    if (kernel.time.total_ns <= 0) continue;
    const double share = 100.0 * static_cast<double>(split.total_ns) / static_cast<double>(kernel.time.total_ns);
    text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", markdown_text(split.stage), share);
  }
  return text.empty() ? kNoValue : text;
}

// void at::native::reduce_kernel<(int)512, …>(T3) → void at::native::reduce_kernel<...>(...)
std::string short_kernel_name(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool unnamed = name.substr(i, 9) == "<unnamed>";
    if ((name[i] != '<' && name[i] != '(') || unnamed || name.substr(i, 11) == "(anonymous ") {
      out += name[i];
      if (unnamed) {
        out += "unnamed>";
        i += 8;
      }
      continue;
    }
    const std::size_t end = closing(name, i);
    out += name[i] == '<' ? "<...>" : end == i + 1 ? "()" : "(...)";
    i = end;
  }
  return out;
}

const NcuSample* main_sample(const KernelEntry& kernel) {
  const auto time = [](const NcuSample& sample) { return static_cast<double>(sample.nsys_median_ns) * static_cast<double>(sample.nsys_calls); };
  const auto found = std::max_element(kernel.ncu.begin(), kernel.ncu.end(),
                                      [&](const NcuSample& a, const NcuSample& b) { return time(a) < time(b); });
  return found == kernel.ncu.end() ? nullptr : &*found;
}

std::string NameFootnotes::cell(const std::string& name) {
  if (name.empty()) return "(no name)";
  const std::string brief = short_kernel_name(name);
  if (name.size() <= kLongName || brief == name) return markdown_text(name);
  auto known = std::find(names_.begin(), names_.end(), name);
  if (known == names_.end()) known = names_.insert(names_.end(), name);
  return fmt::format("{} [{}]", markdown_text(brief), known - names_.begin() + 1);
}

std::string NameFootnotes::list() const {
  std::string text;
  for (std::size_t i = 0; i < names_.size(); ++i) text += fmt::format("{}. {}\n", i + 1, markdown_text(names_[i]));
  return text;
}

}  // namespace nl::exporters

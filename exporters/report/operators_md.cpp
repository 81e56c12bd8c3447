#include "exporters/report/operators_md.h"

#include <fmt/core.h>

#include <algorithm>

#include "exporters/report/kernel_text.h"
#include "exporters/report/markdown.h"

namespace nl::exporters {
namespace {

constexpr const char* kNotCaptured = "not captured";

std::string millis(double ns) { return fmt::format("{:.6f}", ns / 1e6); }

std::string millis(const std::optional<Ns>& ns) { return ns ? millis(static_cast<double>(*ns)) : kNotCaptured; }

std::string mean(const std::optional<Ns>& ns, std::uint64_t calls) {
  if (!ns) return kNotCaptured;
  return calls == 0 ? kNoValue : millis(static_cast<double>(*ns) / static_cast<double>(calls));
}

std::string percent(Ns part, Ns whole) {
  return whole > 0 ? fmt::format("{:.1f}", 100.0 * static_cast<double>(part) / static_cast<double>(whole)) : kNoValue;
}

std::optional<Ns> host(const OperatorEntry& entry, Ns OperatorEntry::*time) {
  return entry.host_time_known ? std::optional<Ns>(entry.*time) : std::nullopt;
}

// Of the GPU time of all operators; of the host's where the GPU was not captured.
std::string share(const OperatorEntry& entry, const OperatorTable& table, Ns host_self_ns) {
  if (entry.cuda_self_ns && table.cuda_ns) return percent(*entry.cuda_self_ns, *table.cuda_ns);
  return entry.host_time_known ? percent(entry.self_ns, host_self_ns) : kNoValue;
}

// A shape of a list of tensors can be as long as the list.
constexpr std::size_t kLongestShape = 80;

std::string shapes_text(const std::vector<OperatorShape>& shapes) {
  std::string text;
  for (const auto& shape : shapes) {
    std::string one = shape.text;
    if (one.size() > kLongestShape) {
      std::size_t end = kLongestShape;
      while (end > 0 && (static_cast<unsigned char>(one[end]) & 0xC0) == 0x80) --end;  // not in the middle of a character
      one = one.substr(0, end) + "…";
    }
    text += fmt::format("{}{} ×{}", text.empty() ? "" : "; ", markdown_text(one), shape.calls);
  }
  return text.empty() ? kNoValue : text;
}

std::string kernels_text(const std::vector<OperatorKernel>& kernels, NameFootnotes& names) {
  std::string text;
  for (const auto& kernel : kernels)
    text += fmt::format("{}{} ×{} ({} ms)", text.empty() ? "" : "; ", names.cell(kernel.name), kernel.calls,
                        millis(static_cast<double>(kernel.total_ns)));
  return text.empty() ? kNoValue : text;
}

std::string stages_text(const std::vector<std::pair<std::string, Ns>>& stages) {
  Ns whole = 0;
  for (const auto& [stage, ns] : stages) whole += ns;
  std::string text;
  for (const auto& [stage, ns] : stages)
    if (whole > 0)
      text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", markdown_text(stage), 100.0 * static_cast<double>(ns) / static_cast<double>(whole));
  return text.empty() ? kNoValue : text;
}

std::string operator_table(const OperatorTable& table, NameFootnotes& names) {
  MarkdownTable rows({{"op_name", false}, {"total_time_ms", true}, {"cuda_time_ms", true}, {"calls", true}, {"mean_ms", true},
                      {"self_ms", true}, {"cuda_self_ms", true}, {"share %", true}, {"shapes", false}, {"top kernels", false},
                      {"stages", false}});
  Ns host_self_ns = 0;
  for (const auto& entry : table.entries) host_self_ns += entry.self_ns;
  for (const auto& entry : table.entries) {
    const std::string name = names.cell(entry.name) + (entry.type.empty() ? "" : " (" + markdown_text(entry.type) + ")");
    const auto mean_of = entry.host_time_known ? std::optional<Ns>(entry.total_ns) : entry.cuda_total_ns;
    rows.add({name, millis(host(entry, &OperatorEntry::total_ns)), millis(entry.cuda_total_ns), std::to_string(entry.calls),
              mean(mean_of, entry.calls), millis(host(entry, &OperatorEntry::self_ns)), millis(entry.cuda_self_ns),
              share(entry, table, host_self_ns), shapes_text(entry.shapes), kernels_text(entry.kernels, names),
              stages_text(entry.stages)});
  }
  return rows.text();
}

std::string coverage_text(const OperatorTable& table) {
  if (!table.cuda_ns) return "GPU time: not captured here.\n\n";
  std::string text = fmt::format("GPU time inside these operators: {} ms", millis(*table.cuda_ns));
  if (table.gpu_share) text += fmt::format(", {:.1f} % of the capture's kernels and copies", *table.gpu_share * 100);
  return text + ".\n\n";
}

std::string left_out_text(const OperatorTable& table) {
  std::string text;
  if (table.entries_left_out > 0)
    text += fmt::format("\n{} more operators took less time and are left out.\n", table.entries_left_out);
  if (table.ranges_left_out > 0)
    text += fmt::format("\n{} ranges were never closed, or closed by another thread: how long they took is not known, and they are left out.\n",
                        table.ranges_left_out);
  return text;
}

std::string section(const OperatorTable& table, NameFootnotes& names) {
  std::string text = "\n## " + markdown_text(table.source);
  if (!table.file.empty()) text += fmt::format(" ({})", markdown_text(table.file));
  text += "\n\n";
  if (!table.note.empty()) text += fmt::format("{}.\n\n", markdown_text(table.note));
  if (table.entries.empty()) return text + "None.\n" + left_out_text(table);
  text += coverage_text(table);
  const bool no_host_time = std::none_of(table.entries.begin(), table.entries.end(), [](const auto& e) { return e.host_time_known; });
  if (no_host_time) text += "Host time was not captured: mean_ms is of GPU time here.\n\n";
  return text + operator_table(table, names) + left_out_text(table);
}

std::string layers_section(const Run& run, NameFootnotes& names) {
  std::string text = "\n## Layers\n\n";
  if (!run.layers_note.empty())
    text += fmt::format("{}{}.\n", run.layers.empty() ? "Not captured: " : "", markdown_text(run.layers_note));
  if (run.layers.empty()) return text + (run.layers_note.empty() ? "Not captured.\n" : "");
  if (!run.layers_note.empty()) text += '\n';
  text += "In the order in which they first run. A layer's total includes the layers inside it.\n\n";
  MarkdownTable rows({{"layer", false}, {"type", false}, {"total_time_ms", true}, {"cuda_time_ms", true}, {"calls", true},
                      {"mean_ms", true}, {"self_ms", true}, {"cuda_self_ms", true}, {"kernels", false}});
  for (const auto& layer : run.layers)
    rows.add({names.cell(layer.name), layer.type.empty() ? kNoValue : markdown_text(layer.type), millis(layer.total_ns),
              millis(layer.cuda_total_ns), std::to_string(layer.calls), mean(layer.total_ns, layer.calls), millis(layer.self_ns),
              millis(layer.cuda_self_ns), kernels_text(layer.kernels, names)});
  return text + rows.text();
}

}  // namespace

std::string operators_markdown(const Run& run) {
  std::string text = "# Operators\n\n";
  NameFootnotes names;
  if (run.operators.empty()) {
    text += fmt::format("Not captured: {}.\n", run.operators_note.empty() ? "the capture holds no operators" : markdown_text(run.operators_note));
  } else {
    text += "total_time_ms and cuda_time_ms include what an operator calls: do not add them up. self_ms and cuda_self_ms do not, and "
            "may be added. Times of the host and of the GPU overlap. cuda_time_ms is the time of the kernels and copies that were "
            "launched inside; mean_ms is total_time_ms ÷ calls.\n";
    for (const auto& table : run.operators) text += section(table, names);
  }
  text += layers_section(run, names);
  if (const std::string list = names.list(); !list.empty()) text += "\n## Names in full\n\n" + list;
  return text;
}

}  // namespace nl::exporters

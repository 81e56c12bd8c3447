#include "exporters/report_md.h"

#include <fmt/core.h>

#include <algorithm>

#include "exporters/kernel_text.h"
#include "exporters/markdown.h"

namespace nl {
namespace {

constexpr std::size_t kTopKernels = 15;

const char* status_sentence(RunStatus status) {
  switch (status) {
    case RunStatus::kComplete: return "complete: everything that was planned was captured";
    case RunStatus::kPartial: return "partial: usable, but not everything that was planned was captured";
    case RunStatus::kInterrupted: return "interrupted: it was ended early; what had been captured was kept";
    case RunStatus::kFailed: return "failed: the workload or the capture failed; what there is was kept";
  }
  return "";
}

std::string known(const std::string& text) { return text.empty() ? kNoValue : markdown_text(text); }
std::string optional_time(const std::optional<Ns>& ns) { return ns ? time_text(static_cast<double>(*ns)) : "not captured"; }
std::string optional_share(const std::optional<double>& share) { return share ? fmt::format("{:.1f} %", *share * 100) : "not captured"; }

std::string problems(const Run& run) {
  std::string text = fmt::format("Status: **{}**.\n", status_sentence(run.status));
  for (const auto& problem : run.problems) {
    text += fmt::format("\n- {}", markdown_text(problem.what));
    if (!problem.where.empty()) text += fmt::format(" ({})", markdown_text(problem.where));
    if (!problem.hint.empty()) text += fmt::format("  \n  {}", markdown_text(problem.hint));
  }
  return run.problems.empty() ? text : text + "\n";
}

// 'it''s' → 'it'\''s': an argument as a shell would take it.
std::string shell_word(const std::string& word) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || std::string_view("-_./:=,+@%").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c == '\n' || c == '\r' ? ' ' : c);
  return quoted + "'";
}

// A code span whose fence is longer than any run of backticks inside.
std::string code(const std::string& text) {
  std::size_t longest = 0, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  const std::string pad = longest > 0 ? " " : "";
  return fence + pad + text + pad + fence;
}

std::string capture(const Run& run) {
  std::string text = fmt::format("\n## How it was captured\n\nBy {}", known(run.provenance.captured_by));
  if (!run.created_at.empty()) text += fmt::format(", {}", markdown_text(run.created_at));
  text += ".\n";
  if (!run.workload.command.empty()) {
    std::string command;
    for (const auto& word : run.workload.command) command += (command.empty() ? "" : " ") + shell_word(word);
    text += fmt::format("\nWorkload: {}", code(command));
    text += run.workload.exit_status ? fmt::format(", exit status {}\n", *run.workload.exit_status) : "\n";
  }
  if (!run.provenance.passes.empty()) {
    MarkdownTable table({{"pass", false}, {"outcome", false}, {"exit status", true}, {"took", true}, {"detail", false}});
    for (const auto& pass : run.provenance.passes)
      table.add({known(pass.name), known(pass.outcome), pass.exit_status ? std::to_string(*pass.exit_status) : kNoValue,
                 time_text(static_cast<double>(pass.duration_ns)), markdown_text(pass.detail)});
    text += "\n" + table.text();
  }
  if (!run.provenance.adaptations.empty()) {
    text += "\nFitted to the tools that are here:\n\n";
    for (const auto& adaptation : run.provenance.adaptations) text += fmt::format("- {}\n", markdown_text(adaptation));
  }
  return text;
}

std::string environment(const Run& run) {
  MarkdownTable table({{"", false}, {"", false}});
  const auto row = [&](const char* what, const std::string& value) {
    if (!value.empty()) table.add({what, markdown_text(value)});
  };
  for (const auto& gpu : run.hardware.gpus)
    row("GPU", fmt::format("{}: {}{}", gpu.id, gpu.name.empty() ? "unknown" : gpu.name, gpu.sm_count > 0 ? fmt::format(", {} SMs", gpu.sm_count) : ""));
  row("driver", run.hardware.driver_version);
  row("CPU", run.hardware.cpu_model);
  row("system", run.software.os);
  row("nsys", run.software.nsys_version);
  row("ncu", run.software.ncu_version);
  row("nl-stage", run.software.nl_stage_version);
  row("model", run.model.name);
  for (const auto& [key, value] : run.model.attributes) row(markdown_text(key).c_str(), value);
  return table.empty() ? std::string() : "\n## Environment\n\n" + table.text();
}

std::string stages(const Run& run) {
  std::string text = "\n## Stages\n\n";
  if (run.stages.empty())
    return text + "No ranges of the domain LLM (prefill, decode_all, decode_step …) were captured: mark the workload's phases with NVTX.\n";
  MarkdownTable table({{"stage", false}, {"times", true}, {"wall, all", true}, {"mean", true}, {"p50", true}, {"p99", true},
                       {"GPU busy", true}, {"of wall", true}, {"kernels", true}, {"ranges", false}});
  for (const auto& stage : run.stages) {
    const bool any = stage.wall.count > 0;
    const auto wall = [&](double ns) { return any ? time_text(ns) : std::string(kNoValue); };
    // Work that a range launched may run on after its end, so that more than 100 % is possible.
    const std::string share = any && stage.gpu_busy_ns && stage.wall.total_ns > 0 && stage.open_ranges == 0
                                  ? fmt::format("{:.1f} %", 100.0 * static_cast<double>(*stage.gpu_busy_ns) / static_cast<double>(stage.wall.total_ns))
                                  : kNoValue;
    std::string ranges;
    for (const auto& range : stage.ranges) ranges += (ranges.empty() ? "" : ", ") + markdown_text(range);
    if (stage.open_ranges > 0) ranges += fmt::format(" ({} never closed)", stage.open_ranges);
    table.add({markdown_text(stage.name), std::to_string(stage.wall.count), wall(static_cast<double>(stage.wall.total_ns)),
               wall(stage.wall.mean_ns), wall(stage.wall.median_ns), wall(static_cast<double>(stage.wall.p99_ns)),
               optional_time(stage.gpu_busy_ns), share, stage.kernel_calls ? std::to_string(*stage.kernel_calls) : "not captured", ranges});
  }
  return text + table.text();
}

std::string kernels(const Run& run) {
  std::string text = "\n## Kernels with the most time\n\n";
  if (!run.kernels || run.kernels->empty())
    return text + fmt::format("{}: {}.\n", run.kernels ? "None" : "Not captured",
                              run.kernels_note.empty() ? "the capture holds no kernels" : markdown_text(run.kernels_note));
  MarkdownTable table({{"kernel", false}, {"total", true}, {"share", true}, {"calls", true}, {"p50", true}, {"p99", true},
                       {"stages", false}, {"SM %", true}, {"DRAM %", true}, {"bound by", false}});
  NameFootnotes names;  // numbers the names as kernels.md does: both begin at the top
  for (std::size_t i = 0; i < std::min(kTopKernels, run.kernels->size()); ++i) {
    const KernelEntry& kernel = (*run.kernels)[i];
    const NcuSample* sample = main_sample(kernel);
    table.add({names.cell(kernel.name), time_text(static_cast<double>(kernel.time.total_ns)),
               fmt::format("{:.1f} %", kernel.gpu_share * 100), std::to_string(kernel.time.count), time_text(kernel.time.median_ns),
               time_text(static_cast<double>(kernel.time.p99_ns)), split_text(kernel), percent_text(sample ? sample->sm_pct : std::nullopt),
               percent_text(sample ? sample->dram_pct : std::nullopt),
               sample && sample->bound_by ? markdown_text(*sample->bound_by) : kNoValue});
  }
  text += table.text();
  return text + fmt::format("\n{} kernels in all: kernels.md has every one, the names [n] in full, and what joins ncu's launches to nsys'.\n", run.kernels->size());
}

std::string coverage(const Run& run) {
  MarkdownTable table({{"", false}, {"", true}});
  table.add({"GPU busy, whole capture", optional_time(run.coverage.gpu_busy_ns)});
  table.add({"kernel time, summed", optional_time(run.coverage.kernel_sum_ns)});
  table.add({"of it inside a stage", optional_share(run.coverage.in_stage_share)});
  table.add({"of it without a launching call in the capture", optional_share(run.coverage.unlinked_share)});
  table.add({"GPU time in graphs traced without their kernels", optional_share(run.coverage.graph_only_share)});
  std::string text = "\n## What the capture explains\n\n" + table.text();
  if (run.coverage.graph_only_share.value_or(0) > 0)
    text += "\nCapture with graph nodes (nsys --cuda-graph-trace=node) to see the kernels inside the graphs.\n";
  return text;
}

std::string import_stats(const Run& run) {
  const ImportStats& stats = run.import_stats;
  std::string text = fmt::format("\n## What was read\n\n{}, schema {}, written by version {}.\n", known(stats.source_format),
                                 known(stats.schema_version), known(stats.tool_version));
  MarkdownTable table({{"table", false}, {"rows", true}});
  for (const auto& [name, rows] : stats.rows_read) table.add({markdown_text(name), std::to_string(rows)});
  if (!table.empty()) text += "\n" + table.text();
  MarkdownTable damaged({{"damaged", false}, {"rows", true}});
  for (const auto& [reason, rows] : stats.rows_damaged) damaged.add({markdown_text(reason), std::to_string(rows)});
  for (const auto& [reason, rows] : run.ncu_rows_damaged) damaged.add({"ncu: " + markdown_text(reason), std::to_string(rows)});
  text += damaged.empty() ? "\nNo damaged rows.\n" : "\n" + damaged.text();
  if (!stats.tables_absent.empty()) {
    std::string absent;
    for (const auto& name : stats.tables_absent) absent += (absent.empty() ? "" : ", ") + markdown_text(name);
    text += fmt::format("\nNot in the export: {}.\n", absent);
  }
  if (!stats.notes.empty()) text += "\n";
  for (const auto& note : stats.notes) text += fmt::format("- {}\n", markdown_text(note));
  return text;
}

}  // namespace

std::string report_markdown(const Run& run) {
  const std::string title = run.run_id.empty() ? run.name : run.run_id;
  return fmt::format("# {}\n\n", title.empty() ? "Run" : markdown_text(title)) + problems(run) + stages(run) + kernels(run) + coverage(run) +
         capture(run) + environment(run) + import_stats(run);
}

}  // namespace nl

#include <fmt/core.h>

#include "exporters/report/counter_text.h"
#include "exporters/report/figure_text.h"
#include "exporters/report/markdown.h"
#include "exporters/report/md/sections.h"
#include "model/words.h"

namespace nl::exporters::report_md {
namespace {

std::string known(const std::string& text) { return text.empty() ? kNoValue : markdown_text(text); }

std::string passes(const Run& run) {
  if (run.provenance.passes.empty()) return {};
  MarkdownTable table({{"pass", false}, {"outcome", false}, {"exit status", true}, {"took", true}, {"detail", false}});
  for (const auto& pass : run.provenance.passes)
    table.add({std::string(key_of(pass.kind)), std::string(key_of(pass.outcome)), pass.exit_status ? std::to_string(*pass.exit_status) : kNoValue,
               time_text(static_cast<double>(pass.duration_ns)), markdown_text(pass.detail)});
  return "\n" + table.text();
}

std::string damaged_rows(const Run& run) {
  MarkdownTable table({{"damaged", false}, {"rows", true}});
  for (const auto& [reason, rows] : run.import_stats.rows_damaged)
    table.add({markdown_text(reason), std::to_string(rows)});
  for (const auto& [reason, rows] : run.ncu_rows_damaged)
    table.add({"ncu: " + markdown_text(reason), std::to_string(rows)});
  return table.empty() ? "\nNo damaged rows.\n" : "\n" + table.text();
}

}  // namespace

std::string problems(const Run& run) {
  std::string text = fmt::format("Status: **{}**.\n", status_sentence(run.status));
  for (const auto& problem : run.problems) {
    text += fmt::format("\n- {}", markdown_text(problem.what));
    if (!problem.where.empty()) text += fmt::format(" ({})", markdown_text(problem.where));
    if (!problem.fix.empty()) text += fmt::format("  \n  {}", markdown_text(problem.fix));
  }
  return run.problems.empty() ? text : text + "\n";
}

std::string capture(const Run& run) {
  std::string text = fmt::format("\n## How it was captured\n\nBy {}", known(captured_by(run.provenance.tracer, run.provenance.meter)));
  if (!run.created_at.empty()) text += fmt::format(", {}", markdown_text(run.created_at));
  text += ".\n";
  if (!run.workload.command.empty()) {
    text += fmt::format("\nWorkload: {}", markdown_code(shell_text(run.workload.command)));
    text += run.workload.exit_status ? fmt::format(", exit status {}\n", *run.workload.exit_status) : "\n";
  }
  text += passes(run);
  if (const std::string clock = clock_text(run); !clock.empty()) text += fmt::format("\n{}\n", markdown_text(clock));
  if (run.provenance.adaptations.empty()) return text;
  text += "\nFitted to the tools that are here:\n\n";
  for (const auto& adaptation : run.provenance.adaptations) text += fmt::format("- {}\n", markdown_text(adaptation));
  return text;
}

std::string environment(const Run& run) {
  MarkdownTable table({{"", false}, {"", false}});
  const auto row = [&](const std::string& what, const std::string& value) {
    if (!value.empty()) table.add({what, markdown_text(value)});
  };
  for (const auto& gpu : run.hardware.gpus)
    row("GPU", fmt::format("{}: {}{}", gpu.id, gpu.name.empty() ? "unknown" : gpu.name,
                           gpu.sm_count > 0 ? fmt::format(", {} SMs", gpu.sm_count) : ""));
  row("driver", run.hardware.driver_version);
  row("CPU", run.hardware.cpu_model);
  row("system", run.software.os);
  row("nsys", run.software.nsys_version);
  row("ncu", run.software.ncu_version);
  row("nl-stage", run.software.nl_stage_version);
  row("model", run.model.name);
  for (const auto& [key, value] : run.model.attributes) row(markdown_text(key), value);
  return table.empty() ? std::string() : "\n## Environment\n\n" + table.text();
}

std::string import_stats(const Run& run) {
  const ImportStats& stats = run.import_stats;
  std::string text = fmt::format("\n## What was read\n\n{}, schema {}, written by version {}.\n",
                                 known(stats.source_format), known(stats.schema_version), known(stats.tool_version));
  MarkdownTable table({{"table", false}, {"rows", true}});
  for (const auto& [name, rows] : stats.rows_read) table.add({markdown_text(name), std::to_string(rows)});
  if (!table.empty()) text += "\n" + table.text();
  text += damaged_rows(run);
  if (!stats.tables_absent.empty())
    text += fmt::format("\nNot in the export: {}.\n", markdown_text(join(stats.tables_absent)));
  if (!stats.notes.empty()) text += "\n";
  for (const auto& note : stats.notes) text += fmt::format("- {}\n", markdown_text(note));
  return text;
}

}  // namespace nl::exporters::report_md

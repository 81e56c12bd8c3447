#include <fmt/core.h>

#include "exporters/report/counter_text.h"
#include "exporters/report/figure_text.h"
#include "exporters/report/html/html_table.h"
#include "exporters/report/html/html_text.h"
#include "exporters/report/html/sections.h"
#include "model/words.h"

namespace nl::exporters::html {
namespace {

std::string known(const std::string& plain) { return plain.empty() ? kNoValue : plain; }

std::string passes(const Run& run) {
  if (run.provenance.passes.empty()) return {};
  Table table("Passes", {{"Pass"}, {"Outcome"}, {"Exit status", true}, {"Took", true}, {"Detail"}, {"Command"}});
  for (const auto& pass : run.provenance.passes)
    table.add(
        {text_cell(std::string(key_of(pass.kind))),
         text_cell(std::string(key_of(pass.outcome))),
         {pass.exit_status ? std::to_string(*pass.exit_status) : kNoValue},
         time_cell(static_cast<double>(pass.duration_ns)),
         text_cell(pass.detail),
         {pass.argv.empty() ? kNoValue : fmt::format("<code class=\"cmd\">{}</code>", text(shell_text(pass.argv)))}});
  return table.markup();
}

Cell spread(const StageSlowdown& slowdown) {
  return {slowdown.low && slowdown.high ? fmt::format("{:.1f} … {:.1f} %", *slowdown.low * 100, *slowdown.high * 100)
                                        : kNoValue};
}

}  // namespace

std::string section(const char* id, const char* title, const std::string& body) {
  return fmt::format("<section id=\"{0}\" aria-labelledby=\"h-{0}\"><h2 id=\"h-{0}\">{1}</h2>\n{2}</section>\n", id,
                     text(title), body);
}

std::string paragraph(const std::string& plain) {
  return plain.empty() ? plain : fmt::format("<p>{}</p>\n", text(plain));
}
std::string missing(const std::string& plain) { return fmt::format("<p class=\"missing\">{}</p>\n", text(plain)); }

std::string bullets(const std::vector<std::string>& plain) {
  if (plain.empty()) return {};
  std::string out = "<ul class=\"notes\">";
  for (const auto& note : plain) out += "<li>" + text(note) + "</li>";
  return out + "</ul>\n";
}

std::string perturbation(const Run& run) {
  if (run.perturbation.stages.empty())
    return section(
        "perturbation", "What the profilers cost",
        missing("Not measured" + (run.perturbation.note.empty() ? std::string() : ": " + run.perturbation.note) + "."));
  Table table("Slowdown by profiler and stage",
              {{"Profiler"}, {"Stage"}, {"Passes", true}, {"Slower by", true}, {"95 % interval", true}, {"Verdict"}});
  for (const auto& slowdown : run.perturbation.stages)
    table.add({text_cell(slowdown.profiler),
               text_cell(slowdown.stage),
               {fmt::format("{} / {}", slowdown.bare_ns.size(), slowdown.profiled_ns.size())},
               share_cell(slowdown.slowdown),
               spread(slowdown),
               text_cell(slowdown.verdict.empty() ? slowdown.note : slowdown.verdict)});
  return section(
      "perturbation", "What the profilers cost",
      table.markup() +
          paragraph("Passes: without / with the profiler." +
                    (run.perturbation.order.empty() ? std::string() : " Order: " + run.perturbation.order + ".")) +
          bullets(run.perturbation.notes));
}

std::string energy(const Run& run) {
  if (run.energy.stages.empty() && run.energy.devices.empty())
    return section("energy", "Energy and clocks",
                   missing("Not measured" + (run.energy.note.empty() ? std::string() : ": " + run.energy.note) + "."));
  Table table("Energy of each stage",
              {{"Stage"}, {"A window", true}, {"A token", true}, {"Mean power", true}, {"Readings", true}, {"Note"}});
  for (const auto& stage : run.energy.stages)
    table.add({text_cell(stage.stage), figure_cell(stage.joules_per_window, "J"),
               figure_cell(stage.joules_per_token, "J"), figure_cell(stage.mean_power_w, "W"),
               count_cell(stage.samples), text_cell(stage.note)});
  Table clocks("Clocks of each GPU", {{"GPU", true},
                                      {"Readings", true},
                                      {"Power, mean", true},
                                      {"max", true},
                                      {"SM clock, min", true},
                                      {"median", true},
                                      {"max", true},
                                      {"Hottest", true},
                                      {"Slowed", true},
                                      {"Why"}});
  for (const auto& gpu : run.energy.devices)
    clocks.add({{std::to_string(gpu.device)},
                count_cell(gpu.samples),
                figure_cell(gpu.power_mean_w, "W"),
                figure_cell(gpu.power_max_w, "W"),
                figure_cell(gpu.sm_clock_min_mhz, "MHz"),
                figure_cell(gpu.sm_clock_median_mhz, "MHz"),
                figure_cell(gpu.sm_clock_max_mhz, "MHz"),
                figure_cell(gpu.temperature_max_c, "°C"),
                share_cell(gpu.throttled_share),
                text_cell(join(gpu.throttle_reasons))});
  std::string from = run.energy.pass.empty()
                         ? std::string()
                         : "Sampled during the pass " + run.energy.pass +
                               (run.energy.source.empty() ? "" : ", from the " + run.energy.source) + ".";
  return section("energy", "Energy and clocks",
                 paragraph(from) + (table.empty() ? "" : table.markup()) + (clocks.empty() ? "" : clocks.markup()));
}

std::string capture(const Run& run) {
  std::string body = paragraph("By " + known(captured_by(run.provenance.tracer, run.provenance.meter)) +
                               (run.created_at.empty() ? "" : ", " + run.created_at) + ".");
  if (!run.workload.command.empty())
    body += fmt::format("<pre class=\"cmd\">{}</pre>\n", text(shell_text(run.workload.command)));
  if (run.workload.exit_status) body += paragraph(fmt::format("Exit status {}.", *run.workload.exit_status));
  body += passes(run) + paragraph(clock_text(run));
  if (!run.provenance.adaptations.empty())
    body += "<h3>Fitted to the tools that are here</h3>" + bullets(run.provenance.adaptations);
  return section("capture", "How it was captured", body);
}

std::string environment(const Run& run) {
  Table table("Environment", {{"Item"}, {"Value"}});
  const auto row = [&](const std::string& what, const std::string& value) {
    if (!value.empty()) table.add({text_cell(what), text_cell(value)});
  };
  row("Model", run.model.name);
  for (const auto& [key, value] : run.model.attributes) row(key, value);
  for (const auto& gpu : run.hardware.gpus)
    row(fmt::format("GPU {}", gpu.id),
        fmt::format("{}{}{}", gpu.name.empty() ? "unknown" : gpu.name,
                    gpu.sm_count > 0 ? fmt::format(", {} SMs", gpu.sm_count) : "",
                    gpu.memory_bytes > 0 ? ", " + bytes_text(static_cast<double>(gpu.memory_bytes)) : ""));
  row("Driver", run.hardware.driver_version);
  row("CPU", run.hardware.cpu_model +
                 (run.hardware.cpu_count > 0 ? fmt::format(", {} processors", run.hardware.cpu_count) : ""));
  row("System", run.software.os);
  row("nsys", run.software.nsys_version);
  row("ncu", run.software.ncu_version);
  row("nl-stage", run.software.nl_stage_version);
  return table.empty() ? std::string() : section("environment", "Environment", table.markup());
}

std::string import_stats(const Run& run) {
  const ImportStats& stats = run.import_stats;
  std::string body = paragraph(fmt::format("{}, schema {}, written by version {}.", known(stats.source_format),
                                           known(stats.schema_version), known(stats.tool_version)));
  Table rows("Rows read", {{"Table"}, {"Rows", true}});
  for (const auto& [name, count] : stats.rows_read) rows.add({text_cell(name), count_cell(count)});
  if (!rows.empty()) body += rows.markup();
  Table damaged("Damaged rows", {{"Damaged"}, {"Rows", true}});
  for (const auto& [reason, count] : stats.rows_damaged) damaged.add({text_cell(reason), count_cell(count)});
  for (const auto& [reason, count] : run.ncu_rows_damaged)
    damaged.add({text_cell("ncu: " + reason), count_cell(count)});
  body += damaged.empty() ? paragraph("No damaged rows.") : damaged.markup();
  if (!stats.tables_absent.empty()) body += paragraph("Not in the export: " + join(stats.tables_absent) + ".");
  body += bullets(stats.notes);
  Table inputs("Imported files", {{"File"}, {"SHA-256"}});
  for (const auto& [file, digest] : run.provenance.inputs_sha256)
    inputs.add({text_cell(file), {fmt::format("<code>{}</code>", text(digest))}});
  return section("import", "What was read", body + (inputs.empty() ? "" : inputs.markup()));
}

}  // namespace nl::exporters::html

#include <fmt/core.h>

#include <cmath>
#include <map>

#include "exporters/report/sections/sections.h"
#include "exporters/report/text/run_text.h"
#include "model/words.h"

namespace nl::exporters::report {
namespace {

constexpr double kWantedShare = 0.01;  // of the shortest stage: within it, what is said of its windows holds

std::string known(const std::string& plain) { return plain.empty() ? kNoValue : plain; }

// As ClockBounds::consistent(): else no one error explains both, and the larger is the least that there is.
bool bounds_agree(const ClockFit& clock) {
  if (!clock.launch_slack_ns || !clock.wait_slack_ns) return true;
  return static_cast<double>(*clock.launch_slack_ns) + static_cast<double>(*clock.wait_slack_ns) >= 0;  // a run.json may say anything
}

std::string one_sided(Ns launch_slack_ns) {
  const std::string time = time_text(std::abs(static_cast<double>(launch_slack_ns)));
  const std::string bound = launch_slack_ns < 0 ? "early by at least " + time : "late by at most " + time;
  return fmt::format("GPU times are {} against CPU times. The other bound is not known: no call in the capture waits for traced work.",
                     bound);
}

std::string error_text(const Run& run) {
  const ClockFit& clock = run.clock;
  const bool at_most = bounds_agree(clock);
  std::string text = fmt::format("CPU and GPU times differ by at {} {}", at_most ? "most" : "least", optional_time_text(clock.error_ns));
  if (clock.share_of_shortest_stage)
    text += fmt::format(", {} of the shortest stage{}{}", share_text(clock.share_of_shortest_stage),
                        clock.shortest_stage.empty() ? "" : ", " + stage_title(run, clock.shortest_stage),
                        clock.shortest_stage_ns ? fmt::format(" ({})", time_text(*clock.shortest_stage_ns)) : "");
  text += at_most ? "." : "; no single clock offset explains it.";
  if (clock.share_of_shortest_stage.value_or(0) > kWantedShare)
    text += fmt::format(" That is more than {}: gaps between a call and its kernel may be off by as much{}.", share_text(kWantedShare),
                        at_most ? "" : " or more");
  return text;
}

// Empty where there is nothing to compare.
std::string clock_text(const Run& run) {
  const ClockFit& clock = run.clock;
  std::string text = clock.error_ns                         ? error_text(run)
                     : clock.launch_slack_ns                ? one_sided(*clock.launch_slack_ns)
                     : run.kernels && !run.kernels->empty() ? "By how much CPU and GPU times differ is not known."
                                                            : "";
  if (clock.contradictions > 0)
    text += fmt::format("{}{} before the launch, or {} after a wait for it has returned.", text.empty() ? "" : " ",
                        plural(clock.contradictions, "kernel starts", "kernels start"), clock.contradictions == 1 ? "ends" : "end");
  return text;
}

Table passes_table(const Run& run) {
  Table table{"Passes", {{"Pass"}, {"Outcome"}, {"Exit status", kRight}, {"Took", kRight}, {"Detail"}, {"Command", kLeft, kWide}}};
  for (const auto& pass : run.provenance.passes)
    table.rows.push_back({std::string(key_of(pass.kind)), std::string(key_of(pass.outcome)),
                          pass.exit_status ? std::to_string(*pass.exit_status) : kNoValue, time_cell(static_cast<double>(pass.duration_ns)),
                          text_cell(pass.detail), code_cell(shell_text(pass.argv))});
  return table;
}

// "4b825dc642cb (modified)"
std::string revision_text(const std::optional<Repository>& repository) {
  if (!repository || repository->revision.empty()) return {};
  return repository->revision.substr(0, 12) + (repository->modified.value_or(false) ? " (modified)" : "");
}

std::string gpus_text(const Run& run) {
  std::map<std::string, int> names;
  for (const auto& gpu : run.hardware.gpus) ++names[gpu.name.empty() ? "unknown" : gpu.name];
  std::vector<std::string> parts;
  for (const auto& [name, count] : names) parts.push_back(count > 1 ? fmt::format("{} × {}", count, name) : name);
  return join(parts);
}

std::string version_of(const Run& run, const std::string& what) {
  const auto found = run.software.versions.find(what);
  return found != run.software.versions.end() ? found->second : "";
}

// Of programs that use them.
std::vector<std::pair<std::string, std::string>> language_versions(const Run& run) {
  return {{"Python", version_of(run, "python")}, {"Triton", version_of(run, "triton")}};
}

std::string engine_text(const Run& run) {
  const std::string name = run.session ? run.session->backend : run.software.backend.name();
  const std::string version = run.session ? run.session->version : version_of(run, name);
  return version.empty() ? name : name + " " + version;
}

// For an imported capture, the export names the version of the tool that made it.
std::string nsys_version(const Run& run) {
  const ImportStats& stats = run.import_stats;
  return run.software.nsys_version.empty() && stats.source_format == SourceFormat::kNsysSqlite ? stats.tool_version
                                                                                               : run.software.nsys_version;
}

std::string description(const Run& run) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : run.model.attributes) parts.push_back(key + " " + value);
  return join(parts);
}

}  // namespace

Section capture(const Run& run) {
  Section out{"capture", "Capture", "How it was captured"};
  out.blocks = {Paragraph{"By " + known(captured_by(run.provenance.tracer, run.provenance.meter)) +
                          (run.created_at.empty() ? "" : ", " + run.created_at) + "."}};
  if (!run.workload.command.empty())
    add(out.blocks, Paragraph{Text("Workload: ") + code(shell_text(run.workload.command)) +
                              Text(run.workload.exit_status ? fmt::format(", exit status {}", *run.workload.exit_status) : "")});
  add(out.blocks, passes_table(run));
  add(out.blocks, Paragraph{clock_text(run)});
  if (run.provenance.adaptations.empty()) return out;
  out.blocks.emplace_back(Heading{"Adjustments for this machine"});
  out.blocks.emplace_back(notes(run.provenance.adaptations));
  return out;
}

Section environment(const Run& run) {
  Table table{"Environment", {{"Item"}, {"Value"}}};
  const auto row = [&](const std::string& what, const std::string& value) {
    if (!value.empty()) table.rows.push_back({what, value});
  };
  row("Run", run.run_id);
  row("Model", run.model.name);
  row("Precision", run.model.precision);
  for (const auto& [key, value] : run.model.attributes) row(key, value);
  for (const auto& gpu : run.hardware.gpus)
    row(fmt::format("GPU {}", gpu.id),
        fmt::format("{}{}{}", gpu.name.empty() ? "unknown" : gpu.name, gpu.sm_count > 0 ? ", " + plural(gpu.sm_count, "SM") : "",
                    gpu.memory_bytes > 0 ? ", " + bytes_text(static_cast<double>(gpu.memory_bytes)) : ""));
  for (const auto& [what, version] : software_versions(run)) row(what, version);
  for (const auto& [what, version] : language_versions(run)) row(what, version);
  row("CPU", run.hardware.cpu_model + (run.hardware.cpu_count > 0 ? ", " + plural(run.hardware.cpu_count, "processor") : ""));
  row("System", run.software.os);
  row("nl-stage", run.software.nl_stage_version);
  row("Revision of the workload", revision_text(run.workload.repository));
  row("Captured at", run.provenance.captured_at);
  Section out{"environment", "Environment", "Environment"};
  add(out.blocks, std::move(table));
  return out;
}

Section import_stats(const Run& run) {
  const ImportStats& stats = run.import_stats;
  Section out{"import", "Import", "What was read"};
  const std::string format = stats.source_format == SourceFormat::kNone ? "" : std::string(key_of(stats.source_format));
  out.blocks = {Paragraph{
      fmt::format("{}, schema {}, written by version {}.", known(format), known(stats.schema_version), known(stats.tool_version))}};
  Table rows{"Rows read", {{"Table"}, {"Rows", kRight}}}, damaged{"Damaged rows", {{"Damaged"}, {"Rows", kRight}}},
      inputs{"Imported files", {{"File"}, {"SHA-256"}}};
  for (const auto& [name, count] : stats.rows_read) rows.rows.push_back({name, count_cell(count)});
  for (const auto& [damage, count] : stats.rows_damaged) damaged.rows.push_back({line_of(damage), count_cell(count)});
  for (const auto& [damage, count] : run.ncu_rows_damaged) damaged.rows.push_back({"ncu: " + line_of(damage), count_cell(count)});
  for (const auto& [file, digest] : run.provenance.inputs_sha256) inputs.rows.push_back({file, code_cell(digest)});
  add(out.blocks, std::move(rows));
  if (damaged.rows.empty()) add(out.blocks, Paragraph{"No damaged rows."});
  add(out.blocks, std::move(damaged));
  if (!stats.tables_absent.empty()) add(out.blocks, Paragraph{"Not in the export: " + join(stats.tables_absent) + "."});
  add(out.blocks, notes(stats.notes));
  add(out.blocks, std::move(inputs));
  return out;
}

std::vector<std::pair<std::string, std::string>> software_versions(const Run& run) {
  const std::string runtime = version_of(run, "cuda_runtime");
  return {{"Driver", run.hardware.driver_version},
          {"CUDA", runtime.empty() ? run.software.cuda_driver_version : runtime},
          {"PyTorch", version_of(run, "torch")},
          {"Engine", engine_text(run)},
          {"nsys", nsys_version(run)},
          {"ncu", run.software.ncu_version}};
}

Section setting(const Run& run) {
  Table table{"Environment", {{"Item"}, {"Value"}}};
  std::vector<std::string> unknown;
  const auto row = [&](const std::string& what, const std::string& value, bool asked = false) {
    if (!value.empty()) table.rows.push_back({what, value});
    else if (asked) unknown.push_back(what);
  };
  row("Model", run.model.name);
  row("Precision", run.model.precision);
  row("Model description", description(run));
  row("GPU", gpus_text(run), true);
  for (const auto& [what, version] : software_versions(run)) row(what, version, true);
  for (const auto& [what, version] : language_versions(run)) row(what, version);
  row("CPU", run.hardware.cpu_model);
  row("System", run.software.os);
  row("Captured by", captured_by(run.provenance.tracer, run.provenance.meter));
  row("Captured at", run.provenance.captured_at.empty() ? run.created_at : run.provenance.captured_at);
  Section out{"", "", "Environment"};
  add(out.blocks, std::move(table));
  if (!unknown.empty()) add(out.blocks, Paragraph{"Not captured: " + join(unknown) + "."});
  return out;
}

}  // namespace nl::exporters::report

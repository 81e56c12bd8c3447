#include <fmt/core.h>

#include <map>

#include "exporters/report/sections/sections.h"
#include "exporters/report/text/run_text.h"
#include "model/words.h"

namespace nl::exporters::report {
namespace {

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

std::string engine_text(const Run& run) {
  const std::string name = run.session ? run.session->backend : run.software.backend;
  const std::string version = run.session ? run.session->version : version_of(run, name);
  return version.empty() ? name : name + " " + version;
}

// Of the tool that made an imported capture, its export says it.
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

#include "orchestrator/bundle/files.h"

#include "analysis/stats/reports.h"
#include "exporters/run_json/run_json.h"
#include "exporters/stat_text.h"
#include "orchestrator/bundle/provenance.h"
#include "orchestrator/bundle/render.h"
#include "orchestrator/bundle/schema.h"

namespace nl::orchestrator {
namespace {

// Our own, computed as `nsys stats` computes them, under the names that it gives its files.
void write_stats(const Bundle& bundle, const Trace& trace) {
  for (const auto report : analysis::stats_report_names()) {
    const StatTable table = analysis::make_stats_report(trace, report);
    if (table.missing.empty()) bundle.write("nsys/run_" + std::string(report) + ".csv", exporters::stat_csv(table));
  }
}

}  // namespace

void write_configuration(const Bundle& bundle, const Config& config) {
  bundle.write("config.yaml", config.composed_yaml);
  bundle.write("inputs.yaml", inputs_yaml(config.workload.inputs));
}

void write_bundle(const Bundle& bundle, const Config& config, const Trace& trace, const Verdict& verdict, Run& run) {
  const bool captured = trace.has_range_data || trace.has_kernel_data || trace.has_api_data;
  run.status = verdict.status(captured);
  run.problems = verdict.problems();
  if (config.nsys.stats_csv && trace.stats.source_format == "nsys-sqlite") write_stats(bundle, trace);
  if (config.artifacts.perfetto) {
    const auto shown = write_trace_file(bundle.path() / kTraceFile, trace, run);
    if (!shown.note.empty()) run.provenance.adaptations.push_back(std::string(kTraceFile) + " shows " + shown.note);
  }
  const std::string json = exporters::run_to_json(run);
  validate_run_json(json);
  bundle.write("run.json", json);
  write_reports(run, [&](const std::filesystem::path& name, std::string_view text) { bundle.write(name, text); });
  bundle.write("env.json", env_json(run, config));
  bundle.write_manifest(run);
}

}  // namespace nl::orchestrator

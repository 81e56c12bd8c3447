#include "orchestrator/bundle/files.h"

#include <fmt/format.h>

#include "analysis/stats/reports.h"
#include "exporters/run_json/run_json.h"
#include "exporters/stat_text.h"
#include "model/words.h"
#include "orchestrator/bundle/provenance.h"
#include "orchestrator/bundle/render.h"
#include "orchestrator/bundle/schema.h"
#include "orchestrator/config/warmup_rule.h"
#include "orchestrator/process/activity.h"

namespace nl::orchestrator {
namespace {

// Our own, computed as `nsys stats` computes them, under the names that it gives its files.
void write_stats(const Bundle& bundle, const Trace& trace) {
  for (const auto report : analysis::stats_report_names()) {
    const StatTable table = analysis::make_stats_report(trace, report);
    if (table.missing.empty()) bundle.write("nsys/run_" + std::string(report) + ".csv", exporters::stat_csv(table));
  }
}

void write_power(const Bundle& bundle, const Evidence& evidence) {
  std::vector<NamedSamples> sampled;
  const auto& unprofiled = evidence.repeats.unprofiled_power;
  for (std::size_t i = 0; i < unprofiled.size(); ++i)
    sampled.emplace_back(fmt::format("{}-{}", key_of(PassKind::kUnprofiled), i + 1), &unprofiled[i].samples);
  if (!evidence.power.empty()) sampled.emplace_back(key_of(tracing_pass(evidence.tracer)), &evidence.power);
  if (!sampled.empty()) bundle.write("energy/samples.csv", samples_csv(sampled));
}

}  // namespace

void write_configuration(const Bundle& bundle, const Config& config, const std::vector<Input>& inputs) {
  bundle.write("config.yaml", config.composed_yaml);
  bundle.write("inputs.yaml", inputs_yaml(inputs));
}

std::optional<Remark> write_trace(const Bundle& bundle, const Config& config, const Evidence& evidence, const Run& run) {
  const Activity writing(fmt::format("writing {}", kTraceFile));
  if (!config.artifacts.perfetto) return std::nullopt;
  const auto shown = write_trace_file(bundle.path() / kTraceFile, evidence.trace, run, &evidence.power);
  if (shown.note.empty()) return std::nullopt;
  return Remark{Code::kTraceThinned, {kTraceFile, shown.note}};
}

std::string write_bundle(const Bundle& bundle, const Config& config, const Evidence& evidence, const Run& run) {
  const Activity writing("writing the reports");
  const Trace& trace = evidence.trace;
  write_power(bundle, evidence);
  if (config.nsys.stats_csv && trace.stats.source_format == SourceFormat::kNsysSqlite) write_stats(bundle, trace);
  std::string json = exporters::run_to_json(run);
  validate_run_json(json);
  bundle.write("run.json", json);
  exporters::PageParts page{detail_file_of(trace, warmup_rule(config), run), {}};
  if (!page.detail.empty()) bundle.write(kDetailFile, page.detail);
  if (std::filesystem::exists(bundle.path() / kTraceFile)) page.trace_file = kTraceFile;
  write_reports(run, page, [&](const std::filesystem::path& name, std::string_view text) { bundle.write(name, text); });
  bundle.write("env.json", env_json(run, config));
  bundle.write_manifest(run);
  return json;
}

}  // namespace nl::orchestrator

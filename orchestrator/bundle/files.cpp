#include "orchestrator/bundle/files.h"

#include <fmt/format.h>
#include <malloc.h>

#include "analysis/nsys_stats/reports.h"
#include "exporters/run_json/run_json.h"
#include "exporters/tables.h"
#include "model/words.h"
#include "orchestrator/bundle/provenance.h"
#include "orchestrator/bundle/render.h"
#include "orchestrator/bundle/schema.h"
#include "orchestrator/config/warmup_rule.h"
#include "orchestrator/process/activity.h"

namespace nl::orchestrator {
namespace {

// Our own, computed as `nsys stats` computes them, under the names that it gives its files.
void write_stat_tables(const Bundle& bundle, const Trace& trace) {
  for (const auto report : analysis::stats_report_names()) {
    const StatTable table = analysis::make_stats_report(trace, report);
    if (table.missing.empty()) bundle.write("nsys/run_" + std::string(report) + ".csv", exporters::stat_csv(table));
  }
}

void write_power(const Bundle& bundle, const Evidence& evidence) {
  std::vector<exporters::NamedSamples> sampled;
  const auto& unprofiled = evidence.repeats.unprofiled_power;
  for (std::size_t i = 0; i < unprofiled.size(); ++i)
    sampled.emplace_back(fmt::format("{}-{}", key_of(PassKind::kUnprofiled), i + 1), &unprofiled[i].samples);
  if (!evidence.power.empty()) sampled.emplace_back(key_of(tracing_pass(evidence.tracer)), &evidence.power);
  if (!sampled.empty()) bundle.write("energy/samples.csv", exporters::samples_csv(sampled));
}

std::optional<Remark> write_perfetto(const Bundle& bundle, const Config& config, const Evidence& evidence, const Run& run) {
  if (!config.artifacts.perfetto) return std::nullopt;
  const auto shown = write_trace_file(bundle.path() / kTraceFile, evidence.trace, run, &evidence.power);
  if (shown.note.empty()) return std::nullopt;
  return Remark{Code::kTraceThinned, {kTraceFile, shown.note}};
}

}  // namespace

void write_configuration(const Bundle& bundle, const Config& config, const std::vector<Input>& inputs) {
  bundle.write("config.yaml", config.composed_yaml);
  bundle.write("inputs.yaml", inputs_yaml(inputs));
}

std::future<void> write_stats(const Bundle& bundle, const Config& config, const Trace& trace) {
  const bool wanted = config.nsys.stats_csv && trace.stats.source_format == SourceFormat::kNsysSqlite;
  return std::async(wanted ? std::launch::async : std::launch::deferred, [&, wanted] {
    if (wanted) write_stat_tables(bundle, trace);
  });
}

std::optional<Remark> write_trace_files(const Bundle& bundle, const Config& config, const Evidence& evidence, const Run& run) {
  const Activity writing(fmt::format("writing {}", kTraceFile));
  malloc_trim(0);  // what one step freed lies between what another keeps: without this the peaks of all would add up
  auto thinned = std::async(std::launch::async, [&] { return write_perfetto(bundle, config, evidence, run); });
  if (const std::string detail = detail_file_of(evidence.trace, warmup_rule(config), run); !detail.empty())
    bundle.write(kDetailFile, detail);
  malloc_trim(0);
  return thinned.get();
}

std::string write_bundle(const Bundle& bundle, const Config& config, const Evidence& evidence, const Run& run) {
  const Activity writing("writing the reports");
  write_power(bundle, evidence);
  std::string json = exporters::run_to_json(run);
  validate_run_json(json);
  bundle.write("run.json", json);
  exporters::PageParts page{read_detail_file(bundle.path()), {}};
  if (std::filesystem::exists(bundle.path() / kTraceFile)) page.trace_file = kTraceFile;
  write_reports(run, page, [&](const std::filesystem::path& name, std::string_view text) { bundle.write(name, text); });
  bundle.write("env.json", env_json(run, config));
  bundle.write_manifest(run);
  return json;
}

}  // namespace nl::orchestrator

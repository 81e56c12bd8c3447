#include "orchestrator/bundle/files.h"

#include <fmt/format.h>
#include <malloc.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "analysis/figures/detail/detail.h"
#include "analysis/nsys_stats/reports.h"
#include "exporters/detail/detail_json.h"
#include "exporters/perfetto/perfetto.h"
#include "exporters/run_json/run_json.h"
#include "exporters/tables.h"
#include "model/error.h"
#include "model/words.h"
#include "orchestrator/bundle/provenance.h"
#include "orchestrator/bundle/read_run.h"
#include "orchestrator/bundle/sha256.h"
#include "orchestrator/config/knowledge.h"
#include "orchestrator/process/activity.h"
#include "orchestrator/process/interrupts.h"
#include "orchestrator/process/output.h"

namespace fs = std::filesystem;

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

// trace.pftrace, whole or not at all, without holding it in memory. A capture without a single event leaves no file.
std::optional<Remark> write_perfetto(const Bundle& bundle, const Config& config, const Evidence& evidence, const Run& run) {
  if (!config.artifacts.perfetto) return std::nullopt;
  exporters::PerfettoOptions options;
  options.run = &run;
  options.power = &evidence.power;
  exporters::focus_on_measured(run, options);
  WholeFile out(bundle.path() / kTraceFile);
  const auto shown = exporters::write_perfetto(evidence.trace, [&](std::string_view piece) { out.append(piece); }, options);
  if (shown.events > 0) out.commit();
  return shown.note.empty() ? std::nullopt : std::optional(Remark{Code::kTraceThinned, {kTraceFile, shown.note}});
}

constexpr std::size_t kMostDetailBytes = 2'400'000;  // 3.2 MB as text: the page has 5 MB in all
constexpr std::size_t kFewestSlices = 10'000;

std::string packed_detail(const Trace& trace, const analysis::WarmupRule& warmup, const Run& run, const analysis::Spans& cited,
                          const analysis::DetailLimits& limits) {
  Detail detail = analysis::make_detail(trace, warmup, cited, limits);
  analysis::add_run_parts(run, detail);
  return exporters::detail_file(detail);
}

// The bytes of detail.json.gz, which report.html holds too: with fewer slices where they would not fit into the page.
std::string detail_file_of(const Trace& trace, const analysis::WarmupRule& warmup, const Run& run) {
  const analysis::Spans cited = analysis::cited_moments(run);
  analysis::DetailLimits limits;
  std::string file = packed_detail(trace, warmup, run, cited, limits);
  while (file.size() > kMostDetailBytes && limits.slices > kFewestSlices) {
    limits.slices /= 2;
    limits.buckets = std::max(512u, limits.buckets / 2);
    limits.host.samples /= 2;
    file = packed_detail(trace, warmup, run, cited, limits);
  }
  return file.size() > kMostDetailBytes ? std::string() : file;
}

[[noreturn]] void refuse_input(const std::string& what, const fs::path& file) {
  throw Error(ErrorKind::kConfig, what, file.string(),
              "correct workload.inputs; its paths are relative to where the workload is started (workload.working_directory)");
}

fs::path place_of(const WorkloadOptions& workload, const std::string& input) { return fs::path(workload.working_directory) / input; }

void check_input(const fs::path& file) {
  std::error_code failed;
  const fs::file_status status = fs::status(file, failed);
  if (!fs::exists(status)) refuse_input("an input of the workload is not there", file);
  if (!fs::is_regular_file(status) && !fs::is_directory(status))
    refuse_input("an input of the workload is neither a file nor a folder", file);
}

// "./a/b" of every file, links to files among them, in the order of their bytes.
std::vector<std::string> files_below(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code failed;
  for (auto at = fs::recursive_directory_iterator(folder, failed); !failed && at != fs::end(at); at.increment(failed))
    if (std::error_code dangling; at->is_regular_file(dangling)) names.push_back("./" + at->path().lexically_relative(folder).string());
  if (failed) refuse_input(fmt::format("an input folder cannot be read: {}", failed.message()), folder);
  std::sort(names.begin(), names.end());
  return names;
}

// Weights and datasets can take a minute: a line says what we do, and Ctrl-C works.
class InputReader {
 public:
  Input read(const std::string& name, const fs::path& place) {
    if (!fs::is_directory(place)) return {name, fs::file_size(place), sha256_file(place, [this] { go_on(); }), {}};
    const std::vector<std::string> files = files_below(place);
    Input folder{name, 0, sha256_listing(place, files, [this] { go_on(); }), files.size()};
    for (const std::string& file : files) *folder.size_bytes += fs::file_size(place / file);
    return folder;
  }

 private:
  void go_on() {
    Interrupts::obey();
    line_.update(std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count());
  }
  Interrupts interrupts_;  // from now on: a signal of before is not ours
  ProgressLine line_{"hashing the inputs"};
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

void write_input(YAML::Emitter& out, const Input& input) {
  out << YAML::BeginMap << YAML::Key << "path" << YAML::Value << input.path;
  if (input.size_bytes) {
    out << YAML::Key << "size_bytes" << YAML::Value << *input.size_bytes << YAML::Key << "sha256" << YAML::Value;
    if (input.sha256.empty()) out << YAML::Null;
    else out << input.sha256;
  }
  if (input.files) out << YAML::Key << "files" << YAML::Value << *input.files;
  out << YAML::EndMap;
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

std::string read_detail_file(const std::filesystem::path& bundle) {
  std::error_code ignored;
  const std::filesystem::path file = bundle / kDetailFile;
  if (!std::filesystem::is_regular_file(file, ignored) || std::filesystem::file_size(file, ignored) > kMostDetailBytes) return {};
  std::string bytes = read_run_text(file);
  return exporters::is_detail_file(bytes) ? bytes : std::string();
}

void write_reports(const Run& run, const exporters::PageParts& page, const FileWriter& write) {
  write("report.md", exporters::report_markdown(run));
  write("report.html", exporters::report_html(run, page));
  write("stakeholder_summary.md", exporters::stakeholder_markdown(run));
  write("operators.md", exporters::operators_markdown(run));
  write("kernels.md", exporters::kernels_markdown(run));
  if (const std::string stacks = exporters::folded_stacks(run); !stacks.empty()) write("host_stacks.folded", stacks);
}

std::vector<Input> read_inputs(const WorkloadOptions& workload) {
  for (const std::string& input : workload.inputs) check_input(place_of(workload, input));
  InputReader reader;
  std::vector<Input> inputs;
  for (const std::string& input : workload.inputs) inputs.push_back(reader.read(input, place_of(workload, input)));
  return inputs;
}

std::vector<Input> name_inputs(const WorkloadOptions& workload) {
  std::vector<Input> inputs;
  for (const std::string& input : workload.inputs) inputs.push_back({input, {}, {}, {}});
  return inputs;
}

std::string inputs_yaml(const std::vector<Input>& inputs) {
  YAML::Emitter out;
  out << YAML::BeginMap << YAML::Key << "count" << YAML::Value << inputs.size() << YAML::Key << "inputs" << YAML::Value << YAML::BeginSeq;
  for (const Input& input : inputs) write_input(out, input);
  out << YAML::EndSeq << YAML::EndMap;
  return std::string(out.c_str()) + "\n";
}

}  // namespace nl::orchestrator

#include "orchestrator/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>

#include "model/shell.h"
#include "orchestrator/analyse.h"
#include "orchestrator/bundle/files.h"
#include "orchestrator/bundle/provenance.h"
#include "orchestrator/bundle/redact.h"
#include "orchestrator/bundle/sha256.h"
#include "orchestrator/capture/collector_sqlite.h"
#include "orchestrator/capture/ncu_argv.h"
#include "orchestrator/capture/nsys_argv.h"
#include "orchestrator/capture/trace_nsys.h"
#include "orchestrator/explain.h"
#include "orchestrator/import_files.h"
#include "orchestrator/import_name.h"
#include "orchestrator/process/activity.h"
#include "orchestrator/process/interrupts.h"
#include "parsers/collector/trace.h"
#include "parsers/nsys/sqlite.h"
#include "parsers/registry.h"
#include "parsers/stacks/stacks.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

using parsers::Gives;

// What stands in two of the files would count twice. Only files of one size are read for it; of empty ones there may be
// several, from processes that were killed.
void refuse_twins(const std::vector<fs::path>& files, const std::string& format) {
  std::map<std::uintmax_t, std::vector<fs::path>> by_size;
  for (const auto& file : files) by_size[fs::file_size(file)].push_back(file);
  for (const auto& [size, alike] : by_size) {
    if (size == 0 || alike.size() < 2) continue;
    std::map<std::string, fs::path> by_digest;
    for (const auto& file : alike) {
      const std::string digest = sha256_file(file);
      if (digest.empty()) continue;  // this machine has no libcrypto: unknown
      if (const auto [first, is_new] = by_digest.emplace(digest, file); !is_new)
        throw Error(ErrorKind::kUsage, fmt::format("--{} is given the same file twice, and its figures would count twice", format),
                    fmt::format("{} and {}", first->second.string(), file.string()), "name each file once");
    }
  }
}

bool needs_capture(const std::string& name) {
  return std::any_of(parsers::formats().begin(), parsers::formats().end(),
                     [&](const parsers::Format* format) { return format->name == name && format->gives >= Gives::kCounters; });
}

void check_inputs(const ImportRequest& request) {
  bool any = false, capture = false;
  for (const auto& [name, files] : request.files) {
    any = any || !files.empty();
    capture = capture || (!files.empty() && !needs_capture(name));
  }
  if (!capture)
    throw Error(ErrorKind::kUsage, any ? "counters and stacks are joined to a capture, and none is given" : "there is nothing to import",
                "import", "give " + known_formats());
  for (const auto& file : request.all_files()) {
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored))
      throw Error(ErrorKind::kInput, fs::exists(file, ignored) ? "not a file" : "there is no such file", file.string(),
                  "give the path of the export");
  }
  for (const auto& [name, files] : request.files) refuse_twins(files, name);
}

// Beside the analysis, which keeps one processor busy; the reading before it keeps all of them.
std::shared_future<std::map<std::string, std::string>> hash_inputs(const std::vector<fs::path>& files) {
  return std::async(std::launch::async, [files] {
    std::map<std::string, std::string> digests;
    for (const auto& file : files) digests[fs::absolute(file).lexically_normal().string()] = sha256_file(file);
    return digests;
  });
}

[[noreturn]] void tool_needed(const std::string& tool, const fs::path& file, const std::string& command) {
  throw Error(ErrorKind::kTool, fmt::format("{} is needed to read this file, and it was not found", tool), file.string(),
              fmt::format("where {} is installed: {}; then import what it wrote", tool, command));
}

// Files that make one reading.
struct Source {
  const parsers::Format* format;
  std::vector<fs::path> files;
  bool has_timeline() const { return format->gives <= Gives::kTimeline; }
};

std::vector<Source> sources_of(const ImportRequest& request) {
  std::vector<Source> sources;
  for (const parsers::Format* format : parsers::formats()) {
    const auto given = request.files.find(format->name);
    if (given == request.files.end() || given->second.empty()) continue;
    if (format->together) sources.push_back({format, given->second});
    else
      for (const auto& file : given->second) sources.push_back({format, {file}});
  }
  return sources;
}

std::string name_of(const Source& source) {
  NameSources names{fs::absolute(source.files.front()).lexically_normal()};
  names.recorded = recorded_name(names.capture);
  if (source.format->gives == Gives::kCollectorTraces) names.process = parsers::process_name_of(names.capture);
  return import_name(names);
}

// Where no name was given, that of the capture; of the first file where there is none.
ImportRequest named(ImportRequest request) {
  const std::vector<Source> sources = sources_of(request);
  if (request.config.run.name_given || sources.empty()) return request;
  const auto capture = std::find_if(sources.begin(), sources.end(), [](const Source& source) { return source.has_timeline(); });
  request.config.run.name = name_of(capture != sources.end() ? *capture : sources.front());
  request.config.composed_yaml = compose_yaml(request.config);
  return request;
}

// Files to evidence. What the vendors' tools have to export first goes through passes, as in a run.
class Reader {
 public:
  Reader(const ImportRequest& request, const Bundle& bundle, PassRunner& runner) : request_(request), bundle_(bundle), runner_(runner) {}

  Evidence read() {
    describe();
    const std::vector<Source> sources = sources_of(request_);
    const auto capture = std::find_if(sources.begin(), sources.end(), [](const Source& source) { return source.has_timeline(); });
    if (capture != sources.end()) read_capture(*capture);
    join_stacks(sources);
    add_unmarked_stages(request_.config, evidence_.trace);
    evidence_.inputs_sha256 = hash_inputs(request_.all_files());
    for (auto source = sources.begin(); source != sources.end(); ++source)
      if (source != capture) read_beside(*source);
    read_operator_pass();
    if (!request_.session.empty()) read_session_record(request_.session, evidence_);
    evidence_.passes = runner_.records();
    evidence_.problems = runner_.verdict().problems();
    return std::move(evidence_);
  }

 private:
  void describe() {
    evidence_.run_id = bundle_.run_id();
    evidence_.created_at = bundle_.created_at();
    evidence_.name = request_.config.run.name;
    evidence_.mode = "import";
    evidence_.model = model_of(request_.config.model, {});
    evidence_.tracer = Tracer::kImport;
  }

  void read_capture(const Source& source) {
    if (source.format->gives == Gives::kCollectorTraces) {
      const Activity reading("reading the collector's traces");
      evidence_.trace = import_collector_files(source.files, bundle_.path() / "collector" / "run.sqlite");
      return;
    }
    const auto files = exported(source);
    const Activity reading("reading " + files[0].filename().string());
    evidence_.trace = std::get<Trace>(source.format->read(files));
    if (source.format->gives == Gives::kNsysExport)
      describe_capture_machine(files[0], evidence_.trace, evidence_.hardware, evidence_.software);
  }

  void join_stacks(const std::vector<Source>& sources) {
    parsers::Files files;
    for (const Source& source : sources)
      if (source.format->gives == Gives::kHostStacks) files = source.files;
    parsers::join_stacks(files, evidence_.trace);
  }

  void read_beside(const Source& source) {
    if (source.format->gives < Gives::kTimeline || source.format->gives == Gives::kHostStacks) return;  // a run has one capture
    const auto files = exported(source);
    if (source.format->gives == Gives::kNcuLaunches && runner_.verdict().stopped()) return evidence_.ncu.clear();
    OperatorSource operators{std::string(source.format->source), files[0].filename().string(), {}, {}};
    parsers::Reading reading = source.format->read(files);
    if (auto* trace = std::get_if<Trace>(&reading)) operators.trace = std::move(*trace);
    else if (auto* records = std::get_if<OperatorRecords>(&reading)) operators.records = std::move(*records);
    else if (auto* report = std::get_if<NcuReport>(&reading)) return evidence_.ncu.push_back(std::move(*report));
    else return evidence_.counters.push_back(std::get<CounterReport>(std::move(reading)));
    evidence_.operators.push_back(std::move(operators));
  }

  // Its export, or what the collector left. The run is one without it, too.
  void read_operator_pass() {
    const fs::path sqlite = request_.operators / "run.sqlite";
    const auto files = collector_files(request_.operators / "collector");
    std::error_code ignored;
    if (request_.operators.empty() || (files.empty() && !fs::exists(sqlite, ignored))) return;
    try {
      Trace trace = files.empty() ? parsers::read_nsys_sqlite(sqlite) : parsers::read_collector_traces(files);
      add_unmarked_stages(request_.config, trace);
      add_operator_pass(std::move(trace), request_.operators, evidence_);
    } catch (const Error& error) {
      evidence_.adaptations.push_back({Code::kOperatorsFailed, {"could not be read: " + error.message}, request_.operators.string()});
    }
  }

  // The files to read: what the tool makes of its report, or the copy that the bundle keeps.
  std::vector<fs::path> exported(const Source& source) {
    std::vector<fs::path> files = source.files;
    const bool nsys = source.format->gives == Gives::kNsysExport;
    for (fs::path& file : files) {
      if (parsers::is_report(*source.format, file)) file = nsys ? sqlite_of(file) : csv_of(file);
      else if (nsys && request_.copy) file = copied(file);
    }
    return files;
  }

  const Toolset& tools() {
    if (!tools_) tools_ = find_tools(request_.config.tools);
    return *tools_;
  }

  fs::path sqlite_of(const fs::path& file) {
    if (!tools().nsys) tool_needed("nsys", file, fmt::format("nsys export --type sqlite -o out.sqlite {}", shell_quoted(file.string())));
    Pass pass = plan_nsys_export(request_.config, *tools().nsys, bundle_.path());
    fs::create_directories(bundle_.path() / "nsys");
    pass.process.argv = nsys_export_argv(*tools().nsys, fs::absolute(file), bundle_.path() / pass.outputs.at(0));
    const fs::path sqlite = export_nsys(pass, request_.config, runner_);
    if (sqlite.empty()) throw_verdict(file);
    return sqlite;
  }

  fs::path copied(const fs::path& file) {
    const fs::path copy = bundle_.path() / "nsys" / "run.sqlite";
    fs::create_directories(copy.parent_path());
    std::error_code failure;
    fs::copy_file(file, copy, failure);
    if (failure)
      throw Error(ErrorKind::kOutput, fmt::format("cannot copy the export: {}", failure.message()),
                  fmt::format("{} ({})", copy.string(), free_space_of(copy)), "import without --copy");
    fs::permissions(copy, fs::perms::owner_write, fs::perm_options::add, failure);
    if (!request_.config.artifacts.keep_env) redact_environment(copy);
    return copy;
  }

  fs::path csv_of(const fs::path& file) {
    if (!tools().ncu)
      tool_needed("ncu", file,
                  fmt::format("LC_ALL=C ncu --import {} --csv --page raw --print-units base > raw.csv", shell_quoted(file.string())));
    Pass pass = plan_ncu_exports(request_.config, *tools().ncu, bundle_.path()).at(0);
    fs::create_directories(bundle_.path() / "ncu");
    pass.process.argv = ncu_export_argv(*tools().ncu, fs::absolute(file), "raw");
    pass.outputs = {fs::path("ncu") / (file.stem().string() + ".csv")};
    pass.process.stdout_log = bundle_.path() / pass.outputs[0];
    const auto result = runner_.run(pass);
    const fs::path csv = bundle_.path() / pass.outputs[0];
    if (result && ended_well(&*result) && fs::exists(csv)) return csv;  // a report of the same name may have left one before
    if (runner_.verdict().stopped()) return {};
    throw Error(ErrorKind::kTool, "ncu could not export its report", file.string(), result ? result->stderr_text.substr(0, 300) : "");
  }

  [[noreturn]] void throw_verdict(const fs::path& file) const {
    const auto& problems = runner_.verdict().problems();
    if (problems.empty()) throw Error(ErrorKind::kInternal, "the export vanished", file.string());
    throw Error(runner_.verdict().failure().value_or(ErrorKind::kTool), problems[0].what, problems[0].where, problems[0].fix);
  }

  const ImportRequest& request_;
  const Bundle& bundle_;
  PassRunner& runner_;
  Evidence evidence_;
  std::optional<Toolset> tools_;
};

}  // namespace

std::vector<fs::path> ImportRequest::all_files() const {
  std::vector<fs::path> all;
  for (const auto& [name, some] : files) all.insert(all.end(), some.begin(), some.end());
  return all;
}

Run import_run(const ImportRequest& asked, Launcher& launcher) {
  check_inputs(asked);
  const ImportRequest request = named(asked);
  const Knowledge knowledge = load_knowledge(request.config);
  // For what a vendor's tool has to export first.
  const Bundle scratch =
      Bundle::create({fs::temp_directory_path(), {}, request.config.run.name, "import"}, std::chrono::system_clock::now());
  const std::unique_ptr<const Bundle, void (*)(const Bundle*)> cleanup(&scratch, [](const Bundle* bundle) { bundle->discard(); });
  Verdict verdict;
  PassRunner runner(launcher, scratch, verdict, Echo::kNothing);
  return analyse(Reader(request, scratch, runner).read(), knowledge);
}

RunResult import_captures(const ImportRequest& asked, Launcher& launcher) {
  check_inputs(asked);
  const ImportRequest request = named(asked);
  const Knowledge knowledge = load_knowledge(request.config);
  Interrupts interrupts;
  const Bundle bundle =
      Bundle::create({request.config.artifacts.dir, request.out, request.config.run.name, "import"}, std::chrono::system_clock::now());
  Verdict verdict;
  PassRunner runner(launcher, bundle, verdict, Echo::kNothing);
  try {
    write_configuration(bundle, request.config, name_inputs(request.config.workload));
    const Evidence evidence = Reader(request, bundle, runner).read();
    auto stats = write_stats(bundle, request.config, evidence.trace);
    Run run = analyse(evidence, knowledge, [&](const Run& judged) { return write_trace_files(bundle, request.config, evidence, judged); });
    stats.get();
    const std::string run_json = write_bundle(bundle, request.config, evidence, run);
    RunResult result = result_of(std::move(run), bundle);
    if (request.record) result.ledger = request.record(request.config.ledger, result.run, run_json, bundle.path());
    return result;
  } catch (const Error& error) {
    // The captures lie where they lay; an empty bundle would help nobody. A full disk leaves what was written.
    if (error.kind != ErrorKind::kOutput) bundle.discard();
    throw;
  }
}

}  // namespace nl::orchestrator

#include "orchestrator/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>

#include "model/error_code.h"
#include "model/shell.h"
#include "orchestrator/bundle/provenance.h"
#include "orchestrator/bundle/redact.h"
#include "orchestrator/bundle/sha256.h"
#include "orchestrator/capture/timeline.h"
#include "orchestrator/capture/tool_arguments.h"
#include "orchestrator/capture/trace_nsys.h"
#include "orchestrator/import_ranks.h"
#include "orchestrator/process/activity.h"
#include "orchestrator/read.h"
#include "parsers/collector/runs.h"
#include "parsers/facts/facts.h"
#include "parsers/kineto/graph_captures.h"
#include "parsers/stacks/stacks.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

using parsers::Gives;

// Beside the analysis, which keeps one processor busy; the reading before it keeps all of them.
std::shared_future<std::map<std::string, std::string>> hash_inputs(const std::vector<fs::path>& files) {
  return std::async(std::launch::async, [files] {
    std::map<std::string, std::string> digests;
    for (const auto& file : files) digests[fs::absolute(file).lexically_normal().string()] = sha256_capture(file);
    return digests;
  });
}

[[noreturn]] void tool_needed(const std::string& tool, const fs::path& file, const std::string& command) {
  throw CodedError(ErrorCode::kToolMissing, fmt::format("{} is needed to read this file, and it was not found", tool), file.string(),
                   fmt::format("where {} is installed: {}; then import what it wrote", tool, command));
}

class ImportReader {
 public:
  ImportReader(const ImportRequest& request, const Bundle& bundle, PassRunner& runner)
      : request_(request), bundle_(bundle), runner_(runner) {}

  Evidence read() {
    const parsers::ProcessFacts facts = describe();
    const std::vector<ImportSource> sources = sources_of(request_);
    const std::vector<ImportSource> captures = captures_of(sources);
    if (captures.size() == 1) read_capture(captures.front());
    const parsers::Files stacks = stacks_in(sources);
    if (captures.size() > 1) read_ranks(captures, stacks);
    else parsers::join_stacks(stacks, evidence_.trace);
    if (captures.size() == 1) parsers::join_process_ranks(facts.ranks, evidence_.trace);
    join_graph_captures(sources);
    evidence_.trace = with_stages(std::move(evidence_.trace), request_.config);
    for (const Remark& remark : request_.remarks) evidence_.trace.stats.notes.push_back(remark);
    evidence_.inputs_sha256 = hash_inputs(request_.all_files());
    for (const ImportSource& source : sources)
      if (std::find(captures.begin(), captures.end(), source) == captures.end()) read_beside(source);
    read_operator_pass();
    if (!request_.session.empty()) read_session_record(request_.session, evidence_);
    evidence_.loads = request_.loads;
    evidence_.passes = runner_.records();
    evidence_.problems = runner_.verdict().problems();
    return std::move(evidence_);
  }

 private:
  // What the processes noted about themselves.
  parsers::ProcessFacts describe() {
    evidence_.run_id = bundle_.run_id();
    evidence_.created_at = bundle_.created_at();
    evidence_.name = request_.config.run.name;
    evidence_.mode = "import";
    parsers::ProcessFacts facts;
    if (!request_.facts.empty()) facts = parsers::read_facts(request_.facts);
    evidence_.model = model_of(request_.config.model, facts.model);
    evidence_.software.backend = facts.backend;
    evidence_.software.versions = facts.versions;
    evidence_.adaptations.insert(evidence_.adaptations.end(), facts.notes.begin(), facts.notes.end());
    evidence_.tracer = Tracer::kImport;
    return facts;
  }

  void read_capture(const ImportSource& source) {
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

  void read_ranks(const std::vector<ImportSource>& captures, const parsers::Files& stacks) {
    std::vector<RankFile> files;
    for (const ImportSource& source : captures) files.push_back({source.files[0], exported(source), source.format});
    const auto read = [&](const RankFile& file) {
      Trace trace = std::get<Trace>(file.format->read(file.read));
      parsers::join_stacks(stacks_beside(file.named, stacks), trace);
      return trace;
    };
    evidence_.trace = join_ranks(files, read, request_.partial_ranks);
    if (files[0].format->gives == Gives::kNsysExport)
      describe_capture_machine(files[0].read[0], evidence_.trace, evidence_.hardware, evidence_.software);
  }

  // Those of the bundle that a capture lies in: their times are of its machine.
  static parsers::Files stacks_beside(const fs::path& capture, const parsers::Files& stacks) {
    parsers::Files own;
    for (const fs::path& file : stacks)
      if (file.parent_path().parent_path() == bundle_of_capture(capture)) own.push_back(file);
    return own;
  }

  static parsers::Files stacks_in(const std::vector<ImportSource>& sources) {
    parsers::Files files;
    for (const ImportSource& source : sources)
      if (source.format->gives == Gives::kHostStacks) files = source.files;
    return files;
  }

  // Before the stages are found: a step's graphs are told by its range.
  void join_graph_captures(const std::vector<ImportSource>& sources) {
    for (const ImportSource& source : sources)
      if (source.format->gives == Gives::kGraphCaptures) parsers::join_graph_captures(source.files, evidence_.trace);
  }

  void read_beside(const ImportSource& source) {
    if (source.format->gives < Gives::kTimeline || parsers::joins_capture(source.format->gives)) return;  // a run has one capture
    const auto files = exported(source);
    if (source.format->gives == Gives::kNcuLaunches && runner_.verdict().stopped()) return evidence_.ncu.clear();
    OperatorSource operators{std::string(source.format->source), files[0].filename().string(), {}, {}};
    parsers::Reading reading = source.format->read(files);
    if (auto* trace = std::get_if<Trace>(&reading)) {
      refuse_other_rank(trace->rank, source);
      operators.trace = std::move(*trace);
    } else if (auto* records = std::get_if<OperatorRecords>(&reading)) operators.records = std::move(*records);
    else if (auto* report = std::get_if<NcuReport>(&reading)) return evidence_.ncu.push_back(std::move(*report));
    else return evidence_.counters.push_back(std::get<CounterReport>(std::move(reading)));
    evidence_.operators.push_back(std::move(operators));
  }

  // What stands beside a capture is of the same process: of another rank it would be a capture of its own.
  void refuse_other_rank(const RankFacts& facts, const ImportSource& source) const {
    const std::optional<std::uint32_t>& rank = evidence_.trace.rank.rank;
    if (!evidence_.trace.ranks.empty() || !rank || !facts.rank || *rank == *facts.rank) return;
    throw Error(ErrorKind::kInput,
                fmt::format("the captures are of rank {} and of rank {}, and by tools whose captures are not joined", *rank, *facts.rank),
                source.files[0].string(), "give captures of nsys or of the collector for all ranks, or of torch.profiler for all");
  }

  // Reads its export, or what the collector left. The run is usable without it.
  void read_operator_pass() {
    const fs::path sqlite = request_.operators / "run.sqlite";
    const auto files = collector_files(request_.operators / "collector");
    std::error_code ignored;
    if (request_.operators.empty() || (files.empty() && !fs::exists(sqlite, ignored))) return;
    try {
      add_operator_pass(files.empty() ? read_nsys_timeline(sqlite, request_.config) : read_collector_timeline(files, request_.config),
                        request_.operators, evidence_);
    } catch (const Error& error) {
      evidence_.adaptations.push_back({Code::kOperatorsFailed, {"could not be read: " + error.message}, request_.operators.string()});
    }
  }

  // The files to read: what the tool makes of its report, or the copy that the bundle keeps.
  std::vector<fs::path> exported(const ImportSource& source) {
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
    pass.outputs = {unused_name("nsys", "run", ".sqlite")};
    pass.process.argv = nsys_export_argv(*tools().nsys, fs::absolute(file), bundle_.path() / pass.outputs.at(0));
    const fs::path sqlite = export_nsys(pass, request_.config, runner_);
    if (sqlite.empty()) throw_verdict(file);
    return sqlite;
  }

  fs::path copied(const fs::path& file) {
    if (fs::is_directory(file))
      throw Error(ErrorKind::kUsage, "--copy copies an SQLite export, and this one is a folder", file.string(),
                  "import without --copy, or export the report as SQLite: nsys export --type sqlite --output FILE.sqlite REPORT.nsys-rep");
    const fs::path copy = bundle_.path() / unused_name("nsys", "run", ".sqlite");
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

  // Reports of one name may come from several folders, exports from several ranks: y.csv, y-2.csv …
  fs::path unused_name(const fs::path& folder, const std::string& stem, const std::string& extension) const {
    fs::path name = folder / (stem + extension);
    for (int number = 2; fs::exists(bundle_.path() / name); ++number) name = folder / fmt::format("{}-{}{}", stem, number, extension);
    return name;
  }

  fs::path csv_of(const fs::path& file) {
    if (!tools().ncu)
      tool_needed("ncu", file,
                  fmt::format("LC_ALL=C ncu --import {} --csv --page raw --print-units base > raw.csv", shell_quoted(file.string())));
    Pass pass = plan_ncu_exports(request_.config, *tools().ncu, bundle_.path()).at(0);
    fs::create_directories(bundle_.path() / "ncu");
    pass.process.argv = ncu_export_argv(*tools().ncu, fs::absolute(file), "raw");
    pass.outputs = {unused_name("ncu", file.stem().string(), ".csv")};
    const fs::path csv = bundle_.path() / pass.outputs[0];
    pass.process.stdout_log = csv;
    const auto result = runner_.run(pass);
    if (result && ended_well(&*result) && fs::exists(csv)) return csv;
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

namespace {

// One of the collector, unless each rank of a run, or each machine, was captured by an nl-stage of its own.
std::vector<parsers::Files> files_of_captures(const parsers::Files& given) {
  std::vector<parsers::Files> captures = parsers::files_by_rank(given);
  if (captures.empty()) captures.push_back(given);
  return captures;
}

}  // namespace

std::vector<ImportSource> sources_of(const ImportRequest& request) {
  std::vector<ImportSource> sources;
  for (const parsers::Format* format : parsers::formats()) {
    const auto given = request.files.find(format->name);
    if (given == request.files.end() || given->second.empty()) continue;
    if (format->gives == Gives::kCollectorTraces)
      for (auto& files : files_of_captures(given->second)) sources.push_back({format, std::move(files)});
    else if (format->together) sources.push_back({format, given->second});
    else
      for (const auto& file : given->second) sources.push_back({format, {file}});
  }
  return sources;
}

namespace {

// Both tell kernels, calls and ranges, as one clock and the same names have them.
bool tells_all(const parsers::Format& format) { return format.gives == Gives::kNsysExport || format.gives == Gives::kCollectorTraces; }

// What import writes beside the collector's traces is the same capture.
bool is_export_beside(const std::vector<ImportSource>& sources, const ImportSource& capture) {
  const fs::path& file = capture.files[0];
  return file.filename() == "run.sqlite" && std::any_of(sources.begin(), sources.end(), [&](const ImportSource& source) {
           return source.format->gives == Gives::kCollectorTraces && source.files[0].parent_path() == file.parent_path();
         });
}

}  // namespace

std::vector<ImportSource> captures_of(const std::vector<ImportSource>& sources) {
  std::vector<ImportSource> captures;
  for (const ImportSource& source : sources) {
    if (!source.has_timeline()) continue;
    const bool by_rank = source.format->by_rank || source.format->gives == Gives::kCollectorTraces;
    const bool alike = !captures.empty() && source.format == captures.front().format && by_rank;
    const bool mixed = !captures.empty() && tells_all(*source.format) && tells_all(*captures.front().format) &&
                       !is_export_beside(sources, captures.front());
    if (captures.empty() || alike || mixed) captures.push_back(source);
  }
  return captures;
}

Evidence read_import(const ImportRequest& request, const Bundle& bundle, PassRunner& runner) {
  return ImportReader(request, bundle, runner).read();
}

}  // namespace nl::orchestrator

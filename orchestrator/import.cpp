#include "orchestrator/import.h"

#include <fmt/format.h>

#include <chrono>
#include <future>

#include "analysis/counters/counters.h"
#include "analysis/counters/ncu_match.h"
#include "analysis/operators/operators.h"
#include "orchestrator/bundle/files.h"
#include "orchestrator/capture/collector_sqlite.h"
#include "orchestrator/explain.h"
#include "orchestrator/process/interrupts.h"
#include "orchestrator/capture/launch_counters.h"
#include "orchestrator/capture/launch_nsys.h"
#include "orchestrator/capture/ncu_argv.h"
#include "orchestrator/capture/nsys_argv.h"
#include "orchestrator/bundle/provenance.h"
#include "orchestrator/bundle/redact.h"
#include "orchestrator/bundle/sha256.h"
#include "parsers/collector/counters.h"
#include "parsers/kineto/json.h"
#include "parsers/ncu/csv.h"
#include "parsers/nsys/sqlite.h"
#include "parsers/ort/profile.h"
#include "parsers/trtexec/json.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

std::vector<fs::path> all_inputs(const ImportRequest& request) {
  std::vector<fs::path> files;
  if (!request.nsys.empty()) files.push_back(request.nsys);
  files.insert(files.end(), request.ncu.begin(), request.ncu.end());
  files.insert(files.end(), request.collector.begin(), request.collector.end());
  files.insert(files.end(), request.counters.begin(), request.counters.end());
  if (!request.kineto.empty()) files.push_back(request.kineto);
  files.insert(files.end(), request.ort.begin(), request.ort.end());
  files.insert(files.end(), request.trtexec.begin(), request.trtexec.end());
  return files;
}

// What stands in two of the files would count twice. Only files of one size are read for it; of empty ones there may be
// several, from processes that were killed.
void refuse_twins(const std::vector<fs::path>& files, const char* flag) {
  std::map<std::uintmax_t, std::vector<fs::path>> by_size;
  for (const auto& file : files) by_size[fs::file_size(file)].push_back(file);
  for (const auto& [size, alike] : by_size) {
    if (size == 0 || alike.size() < 2) continue;
    std::map<std::string, fs::path> by_digest;
    for (const auto& file : alike) {
      const std::string digest = sha256_file(file);
      if (digest.empty()) continue;  // this machine has no libcrypto: unknown
      if (const auto [first, is_new] = by_digest.emplace(digest, file); !is_new)
        throw Error(ErrorKind::kUsage, fmt::format("{} is given the same file twice, and its figures would count twice", flag),
                    fmt::format("{} and {}", first->second.string(), file.string()), "name each file once");
    }
  }
}

void check_inputs(const ImportRequest& request) {
  if (request.nsys.empty() && request.collector.empty() && request.kineto.empty() && request.ort.empty() &&
      request.trtexec.empty())
    throw Error(ErrorKind::kUsage,
                request.counters.empty() ? "there is nothing to import" : "counters are joined to a capture, and none is given",
                "import",
                "give --nsys F.sqlite (or F.nsys-rep), --kineto, --ort, --trtexec, or --collector FILES");
  for (const auto& file : all_inputs(request)) {
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored))
      throw Error(ErrorKind::kInput, fs::exists(file, ignored) ? "not a file" : "there is no such file", file.string(),
                  "give the path of the export");
  }
  refuse_twins(request.collector, "--collector");
  refuse_twins(request.counters, "--counters");
}

// Beside the analysis, which keeps one processor busy; the reading before it keeps all of them.
std::future<std::map<std::string, std::string>> hash_inputs(const std::vector<fs::path>& files) {
  return std::async(std::launch::async, [files] {
    std::map<std::string, std::string> digests;
    for (const auto& file : files) digests[fs::absolute(file).lexically_normal().string()] = sha256_file(file);
    return digests;
  });
}

[[noreturn]] void tool_needed(const std::string& tool, const fs::path& file, const std::string& command) {
  throw Error(ErrorKind::kTool, fmt::format("{} is needed to read this file, and it was not found", tool),
              file.string(), fmt::format("where {} is installed: {}; then import what it wrote", tool, command));
}

class Import {
 public:
  Import(const ImportRequest& request, Launcher& launcher, const Bundle& bundle, Run& run, Verdict& verdict)
      : request_(request), bundle_(bundle), run_(run), verdict_(verdict),
        passes_(launcher, bundle, verdict, run.provenance.passes, true) {}

  // The first of what was given that has a timeline; trtexec's files have none.
  Trace trace() {
    if (!request_.nsys.empty()) {
      const fs::path sqlite = sqlite_of(request_.nsys);
      Trace trace = parsers::read_nsys_sqlite(sqlite);
      describe_capture_machine(sqlite, trace, run_);
      return trace;
    }
    if (!request_.collector.empty())
      return import_collector_files(request_.collector, bundle_.path() / "collector" / "run.sqlite");
    if (!request_.kineto.empty()) return parsers::read_kineto_json(request_.kineto);
    return request_.ort.empty() ? Trace() : parsers::read_ort_profile(request_.ort[0]);
  }

  // What was given beside the capture: each a table of operators of its own.
  void join_operators() {
    const bool kineto_beside = !request_.nsys.empty() || !request_.collector.empty();
    if (kineto_beside && !request_.kineto.empty()) join_operators_of(parsers::read_kineto_json(request_.kineto), "kineto", request_.kineto);
    const bool ort_beside = kineto_beside || !request_.kineto.empty();
    for (std::size_t i = ort_beside ? 0 : 1; i < request_.ort.size(); ++i)
      join_operators_of(parsers::read_ort_profile(request_.ort[i]), "onnxruntime", request_.ort[i]);
    if (request_.trtexec.empty()) return;
    run_.operators.push_back(
        parsers::read_trtexec(request_.trtexec[0], request_.trtexec.size() > 1 ? request_.trtexec[1] : fs::path()));
    run_.operators_note.clear();
  }

  void join_ncu(const Trace& trace) {
    NcuReport all;
    for (const auto& file : request_.ncu) {
      const fs::path csv = csv_of(file);
      if (verdict_.stopped()) return;
      NcuReport report = parsers::read_ncu_csv(csv);
      all.launches.insert(all.launches.end(), report.launches.begin(), report.launches.end());
      for (const auto& [reason, rows] : report.rows_damaged) all.rows_damaged[reason] += rows;
    }
    if (request_.ncu.empty()) return;
    const analysis::NcuMatch match = analysis::match_ncu(all, trace, run_);
    judge_match(match, "ncu");
  }

  void join_counters(const Trace& trace) {
    if (request_.counters.empty()) return;
    const CounterReport report = parsers::read_collector_counters(request_.counters);
    analysis::apply_stage_counters(report, run_);
    if (!report.kernels.launches.empty()) judge_match(analysis::match_ncu(report.kernels, trace, run_, Meter::kCupti), "CUPTI");
    if (!report.windows.empty() || !report.kernels.launches.empty()) return;
    const std::string trouble = counter_trouble(report.notes);
    verdict_.add(ErrorKind::kCapture, "the counter files hold no counters",
                 trouble.empty() ? request_.counters[0].string() : trouble,
                 "give the files of counters/stages and counters/kernels of a bundle");
  }

 private:
  void judge_match(const analysis::NcuMatch& match, const std::string& tool) {
    if (match.matched == 0 && run_.kernels)
      verdict_.add(ErrorKind::kCapture, fmt::format("none of the launches that {} measured is a kernel of this trace", tool),
                   match.unmatched_launches.empty() ? fmt::format("the {} files hold no launch", tool)
                                                    : match.unmatched_launches[0],
                   "check that both captures are of the same workload");
    else if (!match.unmatched_launches.empty())
      run_.import_stats.notes.push_back(fmt::format("{} {} launches match no kernel of the trace, the first: {}",
                                                    match.unmatched_launches.size(), tool, match.unmatched_launches[0]));
  }

  void join_operators_of(const Trace& other, const std::string& source, const fs::path& file) {
    analysis::add_operator_table_from(other, source, file.filename().string(), run_);
    for (const auto& note : other.stats.notes)
      run_.import_stats.notes.push_back(file.filename().string() + ": " + note);
    for (const auto& [reason, rows] : other.stats.rows_damaged)
      run_.import_stats.rows_damaged[source + ": " + reason] += rows;
  }

  const Toolset& tools() {
    if (!tools_) tools_ = find_tools(request_.config.tools);
    return *tools_;
  }

  fs::path sqlite_of(const fs::path& file) {
    if (file.extension() != ".nsys-rep" && file.extension() != ".qdrep") return request_.copy ? copied(file) : file;
    if (!tools().nsys)
      tool_needed("nsys", file, fmt::format("nsys export --type sqlite -o out.sqlite {}", shell_quoted(file.string())));
    Pass pass = plan_nsys_export(request_.config, *tools().nsys, bundle_.path());
    fs::create_directories(bundle_.path() / "nsys");
    pass.process.argv = nsys_export_argv(*tools().nsys, fs::absolute(file), bundle_.path() / pass.outputs.at(0));
    const fs::path sqlite = export_nsys(pass, request_.config, bundle_, passes_, verdict_);
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
    if (file.extension() != ".ncu-rep") return file;
    if (!tools().ncu)
      tool_needed("ncu", file,
                  fmt::format("LC_ALL=C ncu --import {} --csv --page raw --print-units base > raw.csv",
                              shell_quoted(file.string())));
    auto passes = plan_ncu_exports(request_.config, *tools().ncu, bundle_.path(), {});
    Pass pass = passes.at(0);
    fs::create_directories(bundle_.path() / "ncu");
    pass.process.argv = ncu_export_argv(*tools().ncu, fs::absolute(file), "raw");
    pass.outputs = {fs::path("ncu") / (file.stem().string() + ".csv")};
    pass.process.stdout_log = bundle_.path() / pass.outputs[0];
    const auto result = passes_.run(pass);
    const fs::path csv = bundle_.path() / pass.outputs[0];
    if (result && fs::exists(csv)) return csv;
    if (verdict_.stopped()) return {};
    throw Error(ErrorKind::kTool, "ncu could not export its report", file.string(),
                result ? result->stderr_text.substr(0, 300) : "");
  }

  [[noreturn]] void throw_verdict(const fs::path& file) const {
    const auto& problems = verdict_.problems();
    if (problems.empty()) throw Error(ErrorKind::kInternal, "the export vanished", file.string());
    throw Error(verdict_.failure().value_or(ErrorKind::kTool), problems[0].what, problems[0].where, problems[0].fix);
  }

  const ImportRequest& request_;
  const Bundle& bundle_;
  Run& run_;
  Verdict& verdict_;
  PassRunner passes_;
  std::optional<Toolset> tools_;
};

void describe_source(const ImportRequest& request, Run& run) {
  run.name = request.config.run.name;
  run.mode = "import";
  run.model = {request.config.model.name, request.config.model.attributes};
  run.provenance.captured_by = "import";
}

}  // namespace

RunResult import_captures(const ImportRequest& request, Launcher& launcher) {
  check_inputs(request);
  const Knowledge knowledge = load_knowledge(request.config);
  Interrupts interrupts;
  const Bundle bundle = Bundle::create({request.config.artifacts.dir, request.out, request.config.run.name, "import"},
                                       std::chrono::system_clock::now());
  Run run;
  run.run_id = bundle.run_id();
  run.created_at = bundle.created_at();
  describe_source(request, run);
  Verdict verdict;
  try {
    write_configuration(bundle, request.config);
    Import import(request, launcher, bundle, run, verdict);
    const Trace trace = import.trace();
    auto digests = hash_inputs(all_inputs(request));
    analyse_trace(trace, request.config, run);
    import.join_operators();
    import.join_ncu(trace);
    import.join_counters(trace);
    explain(knowledge, run);
    run.provenance.inputs_sha256 = digests.get();
    if (Interrupts::signal() != 0) verdict.interrupted(Interrupts::signal());
    write_bundle(bundle, request.config, trace, verdict, run);
  } catch (const Error& error) {
    // The captures lie where they lay; an empty bundle would help nobody. A full disk leaves what was written.
    if (error.kind != ErrorKind::kOutput) bundle.discard();
    throw;
  }
  return {std::move(run), bundle.path(), verdict.failure(), verdict.interrupt_signal()};
}

}  // namespace nl::orchestrator

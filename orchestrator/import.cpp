#include "orchestrator/import.h"

#include <fmt/format.h>

#include <chrono>
#include <future>

#include "model/shell.h"
#include "orchestrator/analyse.h"
#include "orchestrator/bundle/files.h"
#include "orchestrator/capture/collector_sqlite.h"
#include "orchestrator/process/interrupts.h"
#include "orchestrator/capture/trace_nsys.h"
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
  const auto files = request.files();
  if (files.size() == request.counters.size())
    throw Error(ErrorKind::kUsage,
                request.counters.empty() ? "there is nothing to import" : "counters are joined to a capture, and none is given",
                "import",
                "give --nsys F.sqlite (or F.nsys-rep), --ncu, --kineto, --ort, --trtexec, or --collector FILES");
  for (const auto& file : files) {
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored))
      throw Error(ErrorKind::kInput, fs::exists(file, ignored) ? "not a file" : "there is no such file", file.string(),
                  "give the path of the export");
  }
  refuse_twins(request.collector, "--collector");
  refuse_twins(request.counters, "--counters");
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
  throw Error(ErrorKind::kTool, fmt::format("{} is needed to read this file, and it was not found", tool),
              file.string(), fmt::format("where {} is installed: {}; then import what it wrote", tool, command));
}

// Files to evidence. What the vendors' tools have to export first goes through passes, as in a run.
class Reader {
 public:
  Reader(const ImportRequest& request, const Bundle& bundle, PassRunner& runner) : request_(request), bundle_(bundle), runner_(runner) {}

  Evidence read() {
    describe();
    read_trace();
    evidence_.inputs_sha256 = hash_inputs(request_.files());
    read_operators();
    read_ncu();
    if (!request_.counters.empty()) evidence_.counters.push_back(parsers::read_collector_counters(request_.counters));
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
    evidence_.model = {request_.config.model.name, request_.config.model.attributes};
    evidence_.tracer = Tracer::kImport;
  }

  // The first of what was given that has a timeline; trtexec's files have none.
  void read_trace() {
    Trace& trace = evidence_.trace;
    if (!request_.nsys.empty()) {
      const fs::path sqlite = sqlite_of(request_.nsys);
      trace = parsers::read_nsys_sqlite(sqlite);
      describe_capture_machine(sqlite, trace, evidence_.hardware, evidence_.software);
    } else if (!request_.collector.empty()) {
      trace = import_collector_files(request_.collector, bundle_.path() / "collector" / "run.sqlite");
    } else if (!request_.kineto.empty()) {
      trace = parsers::read_kineto_json(request_.kineto);
    } else if (!request_.ort.empty()) {
      trace = parsers::read_ort_profile(request_.ort[0]);
    }
  }

  // What was given beside the capture.
  void read_operators() {
    const auto add = [&](SourceFormat format, const fs::path& file, Trace trace) {
      evidence_.operators.push_back({format, file.filename().string(), std::move(trace), {}});
    };
    const bool kineto_beside = !request_.nsys.empty() || !request_.collector.empty();
    if (kineto_beside && !request_.kineto.empty()) add(SourceFormat::kKineto, request_.kineto, parsers::read_kineto_json(request_.kineto));
    const bool ort_beside = kineto_beside || !request_.kineto.empty();
    for (std::size_t i = ort_beside ? 0 : 1; i < request_.ort.size(); ++i)
      add(SourceFormat::kOnnxRuntime, request_.ort[i], parsers::read_ort_profile(request_.ort[i]));
    if (request_.trtexec.empty()) return;
    const fs::path layers = request_.trtexec.size() > 1 ? request_.trtexec[1] : fs::path();
    add(SourceFormat::kTrtexec, request_.trtexec[0], {});
    evidence_.operators.back().table = parsers::read_trtexec(request_.trtexec[0], layers);
  }

  void read_ncu() {
    for (const auto& file : request_.ncu) {
      const fs::path csv = csv_of(file);
      if (runner_.verdict().stopped()) return evidence_.ncu.clear();
      evidence_.ncu.push_back(parsers::read_ncu_csv(csv));
    }
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
    if (file.extension() != ".ncu-rep") return file;
    if (!tools().ncu)
      tool_needed("ncu", file,
                  fmt::format("LC_ALL=C ncu --import {} --csv --page raw --print-units base > raw.csv",
                              shell_quoted(file.string())));
    Pass pass = plan_ncu_exports(request_.config, *tools().ncu, bundle_.path()).at(0);
    fs::create_directories(bundle_.path() / "ncu");
    pass.process.argv = ncu_export_argv(*tools().ncu, fs::absolute(file), "raw");
    pass.outputs = {fs::path("ncu") / (file.stem().string() + ".csv")};
    pass.process.stdout_log = bundle_.path() / pass.outputs[0];
    const auto result = runner_.run(pass);
    const fs::path csv = bundle_.path() / pass.outputs[0];
    if (result && fs::exists(csv)) return csv;
    if (runner_.verdict().stopped()) return {};
    throw Error(ErrorKind::kTool, "ncu could not export its report", file.string(),
                result ? result->stderr_text.substr(0, 300) : "");
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

std::vector<fs::path> ImportRequest::files() const {
  std::vector<fs::path> all;
  for (const fs::path& file : {nsys, kineto})
    if (!file.empty()) all.push_back(file);
  for (const auto* list : {&ncu, &collector, &counters, &ort, &trtexec}) all.insert(all.end(), list->begin(), list->end());
  return all;
}

RunResult import_captures(const ImportRequest& request, Launcher& launcher) {
  check_inputs(request);
  const Knowledge knowledge = load_knowledge(request.config);
  Interrupts interrupts;
  const Bundle bundle = Bundle::create({request.config.artifacts.dir, request.out, request.config.run.name, "import"},
                                       std::chrono::system_clock::now());
  Verdict verdict;
  PassRunner runner(launcher, bundle, verdict, true);
  try {
    write_configuration(bundle, request.config);
    const Evidence evidence = Reader(request, bundle, runner).read();
    Run run = analyse(evidence, knowledge, [&](const Run& judged) { return write_trace(bundle, request.config, evidence, judged); });
    write_bundle(bundle, request.config, evidence, run);
    return result_of(std::move(run), bundle);
  } catch (const Error& error) {
    // The captures lie where they lay; an empty bundle would help nobody. A full disk leaves what was written.
    if (error.kind != ErrorKind::kOutput) bundle.discard();
    throw;
  }
}

}  // namespace nl::orchestrator

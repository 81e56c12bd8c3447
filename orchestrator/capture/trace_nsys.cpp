#include "orchestrator/capture/trace_nsys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string.h>

#include <algorithm>
#include <iterator>
#include <sstream>

#include "orchestrator/bundle/redact.h"
#include "orchestrator/capture/failure.h"
#include "orchestrator/capture/marks.h"
#include "parsers/facts/facts.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

bool has_content(const fs::path& file) {
  std::error_code ignored;
  return fs::is_regular_file(file, ignored) && fs::file_size(file, ignored) > 0;
}

// The last lines that say something, as they stand.
std::string last_lines(const std::string& text, int count) {
  std::vector<std::string> lines;
  std::istringstream all(text);
  for (std::string line; std::getline(all, line);) {
    line.erase(line.find_last_not_of("\r ") + 1);
    if (line.empty() || !is_decoration(line)) lines.push_back(std::move(line));
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  const std::size_t first = lines.size() - std::min(lines.size(), static_cast<std::size_t>(count));
  std::string out = fmt::format("{}", fmt::join(lines.begin() + static_cast<std::ptrdiff_t>(first), lines.end(), "\n"));
  out.erase(0, out.find_first_not_of('\n'));
  return out;
}

// nsys was killed from outside, but its agent still holds the capture: it can be asked to write it.
void rescue_session(const Tool& nsys, int pid) {
  ProcessSpec ask;
  ask.env.insert(nsys.env.begin(), nsys.env.end());
  ask.timeout_s = 10;
  ask.grace_s = 2;
  ask.not_found = ErrorKind::kTool;
  ask.argv = {nsys.path.string(), "sessions", "list"};
  const std::string session = session_of(run_process(ask).stdout_text, pid);
  if (session.empty()) return;
  // An agent that lost its nsys may never answer: what it can give comes within seconds.
  ask.timeout_s = 30;
  for (const char* verb : {"stop", "shutdown"}) {
    ask.argv = {nsys.path.string(), verb, "--session=" + session};
    if (run_process(ask).timed_out) return;
  }
}

// The report where it should be, or brought there from where nsys put it instead.
bool find_report(const fs::path& expected, const std::string& output, std::vector<std::string>& notes) {
  if (has_content(expected)) return true;
  for (const auto& file : generated_files(output)) {
    if (!has_content(file) || file.extension() != expected.extension()) continue;
    notes.push_back(fmt::format("nsys wrote its report to {}; it was moved into the bundle", file.string()));
    move_file(file, expected);
    return true;
  }
  return false;
}

void explain_missing_report(const ProcessResult& result, const Tool& nsys, const fs::path& bundle, Verdict& verdict) {
  const std::string output = result.stdout_text + result.stderr_text;
  for (const auto& file : generated_files(output)) {
    if (file.extension() != ".qdstrm" || !has_content(file)) continue;
    const fs::path kept = bundle / "nsys" / "run.qdstrm";
    if (file != kept) move_file(file, kept);
    std::string why = nsys.importer_trouble;
    for (const auto& library : nsys.missing_libraries) why += (why.empty() ? "missing " : ", ") + library;
    return verdict.add(Code::kNsysNotImported, {why.empty() ? last_words(result.stderr_text, 2) : ": " + why}, "logs/nsys.stderr.log");
  }
  if (result.term_signal != 0) return verdict.add(Code::kNsysKilled, {std::to_string(result.term_signal)}, "nsys");
  if (result.exit_status != 0)
    return verdict.add(Code::kNsysFailed, {std::to_string(result.exit_status), last_words(output, 3)}, "logs/nsys.stderr.log");
  verdict.add(Code::kNsysNoReport, {last_words(output, 3)}, "logs/nsys.stderr.log");
}

// Under nsys 2025.3 on an H200, programs that launched CUDA graphs some thousand times ended so while the graphs' nodes were
// traced; alone they end well. vLLM's users met the same.
bool died_of_a_launch(const ProcessResult& result) {
  constexpr const char* kWords[] = {"unspecified launch failure", "cudaErrorLaunchFailure", "CUDA_ERROR_LAUNCH_FAILED"};
  return std::any_of(std::begin(kWords), std::end(kWords),
                     [&](const char* words) { return result.stderr_text.find(words) != std::string::npos; });
}

// The key by which the nodes of CUDA graphs are traced; empty where they are not.
std::string graph_nodes_key(const Plan& plan) {
  const auto nodes = [](const std::string& detail) { return choice<GraphDetail>(detail) == GraphDetail::kNode; };
  const Config& config = plan.config;
  if (plan.tracer == Tracer::kNsys)
    return nodes(config.nsys.cuda_graph_trace) && plan.tools.nsys->has_option("--cuda-graph-trace") ? "nsys.cuda_graph_trace" : "";
  const bool by_cupti = plan.tracer == Tracer::kCupti && config.capture.pc_sampling == 0;  // stalls need them
  return by_cupti && nodes(config.capture.cuda_graphs) ? "capture.cuda_graphs" : "";
}

// What the process saw, as far as it came from us.
std::map<std::string, std::string> environment_of(const ProcessSpec& process) {
  std::map<std::string, std::string> all = own_environment();
  for (const auto& [name, value] : process.env) all[name] = value;
  return all;
}

std::string graph_advice(const Plan& plan, const ProcessResult& result) {
  const std::string key = graph_nodes_key(plan);
  if (key.empty() || !died_of_a_launch(result)) return {};
  return fmt::format(" If it ends well alone, tracing its CUDA graphs at node level may break it: --set {}=graph", key);
}

// Beside what Python's processes noted about themselves.
void keep_ranks(const std::map<pid_t, RankFacts>& ranks, const Bundle& bundle, Verdict& verdict) {
  if (ranks.empty()) return;
  try {
    bundle.write(fs::path(kFactsFolder) / parsers::kRanksFile, parsers::process_ranks_json({ranks.begin(), ranks.end()}));
  } catch (const Error& error) {
    verdict.add(error);
  }
}

}  // namespace

std::string last_words(const std::string& output, int lines) {
  std::string words = last_lines(output, lines);
  while (!words.empty() && words.back() == '.') words.pop_back();
  return words.empty() ? "" : ": " + words;
}

std::vector<fs::path> generated_files(const std::string& nsys_output) {
  std::vector<fs::path> files;
  std::istringstream lines(nsys_output);
  bool listing = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("Generated:", 0) == 0) {
      listing = true;
      continue;
    }
    const auto start = line.find_first_not_of(" \t\r");
    if (!listing || start == std::string::npos) continue;
    if (start == 0) listing = false;
    else files.emplace_back(line.substr(start, line.find_last_not_of(" \t\r") + 1 - start));
  }
  return files;
}

std::string session_of(const std::string& sessions_list, int pid) {
  const std::string ending = fmt::format("-{}", pid);
  std::istringstream lines(sessions_list);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    for (std::string word; words >> word;) name = word;
    if (name.size() > ending.size() && name.compare(name.size() - ending.size(), ending.size(), ending) == 0) return name;
  }
  return {};
}

void judge_workload(const Plan& plan, const Pass& pass, const ProcessResult& result, PassRecord& record, Verdict& verdict) {
  if (result.exit_status == 0 || result.timed_out || result.interrupted || result.had_enough) return;
  const std::string program = plan.config.workload.command.at(0), advice = graph_advice(plan, result);
  const std::string where = (fs::path("logs") / pass.process.stderr_log.filename()).string();
  const auto readable = [&](const std::string& text) {
    return plan.config.artifacts.keep_env ? text : without_secrets(text, environment_of(pass.process));
  };
  const std::string words =
      readable(last_words(result.stderr_text, plan.config.session.backend.empty() ? 2 : 3));  // our own error has three
  const int number = result.exit_status > 128 && result.exit_status < 128 + 65 ? result.exit_status - 128 : 0;
  const char* name = number > 0 ? sigabbrev_np(number) : nullptr;
  const std::string signal = name != nullptr ? fmt::format("{} (SIG{})", number, name) : std::to_string(number);
  record.detail = number > 0 ? fmt::format("the workload was ended by SIG{}", name != nullptr ? name : std::to_string(number))
                             : fmt::format("the workload ended with status {}", result.exit_status);
  if (number == SIGKILL) return verdict.add(Code::kWorkloadKilled, {program, signal, words, advice}, where);
  if (const auto failure = failure_in(result.stderr_text)) {
    const std::string at = failure->place.empty() ? "" : ", at " + failure->place;
    return verdict.add(failure->code, {program, readable(failure->what), at, advice}, where);
  }
  if (number > 0) return verdict.add(Code::kWorkloadCrashed, {program, signal, words, advice}, where);
  verdict.add(Code::kWorkloadFailed, {program, std::to_string(result.exit_status), words, advice}, where);
}

fs::path export_nsys(const Pass& pass, const Config& config, PassRunner& runner) {
  const fs::path bundle = runner.bundle().path(), sqlite = bundle / pass.outputs.at(0);
  std::error_code ignored;
  const auto result = runner.run(pass);
  if (!result) return {};
  const bool good = result->exit_status == 0 && !result->interrupted && !result->timed_out && has_content(sqlite);
  if (!good) {
    fs::remove(sqlite, ignored);  // half an export must not be mistaken for one
    runner.last().outputs.clear();
    if (result->interrupted || result->timed_out) return {};
    const auto space = fs::space(bundle, ignored);
    const bool full = space.available < (1 << 20) || result->term_signal == SIGXFSZ ||
                      (result->stderr_text + result->stdout_text).find("No space left") != std::string::npos;
    const std::string report = (bundle / "nsys/run.nsys-rep").string();
    if (full) runner.verdict().add(Code::kDiskFull, {free_space_of(sqlite), report}, sqlite.string());
    else runner.verdict().add(Code::kNsysExportFailed, {last_words(result->stderr_text, 2), report}, "logs/nsys-export.stderr.log");
    return {};
  }
  if (config.artifacts.keep_env) return sqlite;
  try {
    redact_environment(sqlite);
    return sqlite;
  } catch (const Error& error) {
    fs::remove(sqlite, ignored);  // what could not be blanked is not left lying about
    runner.last().outputs.clear();
    runner.verdict().add(error);
    return {};
  }
}

void trace_by_nsys(const Plan& plan, std::span<const Pass> passes, PassRunner& runner, Capture& capture) {
  const Pass& pass = passes.front();
  const Tool& nsys = *plan.tools.nsys;
  Verdict& verdict = runner.verdict();
  Pass supervised = pass;
  supervised.process.on_orphaned = [&](int pid) { rescue_session(nsys, pid); };
  const auto result = runner.run(supervised);
  if (!result) return;
  keep_ranks(result->ranks, runner.bundle(), verdict);
  std::vector<std::string> notes;
  const bool there = find_report(plan.bundle / pass.outputs.at(0), result->stdout_text + result->stderr_text, notes);
  if (!notes.empty()) runner.last().detail = notes[0];
  if (there) runner.last().outputs = {pass.outputs.at(0).generic_string()};
  if (there && result->term_signal != 0 && !result->interrupted && !result->timed_out) {
    verdict.add(Code::kNsysKilled, {std::to_string(result->term_signal)}, "its agent could still be asked for the report");
  } else if (there) {
    if (!result->had_enough) capture.workload_exit = result->exit_status;
    judge_workload(plan, pass, *result, runner.last(), verdict);
  } else if (!result->interrupted && !result->timed_out) {
    explain_missing_report(*result, nsys, plan.bundle, verdict);
  }
  capture.cut_short = there && result->had_enough;
  if (there && !capture.cut_short) capture.nsys_sqlite = export_nsys(passes.back(), plan.config, runner);
}

}  // namespace nl::orchestrator

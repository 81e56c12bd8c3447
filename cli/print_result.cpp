#include "cli/print_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "cli/exit_status.h"
#include "cli/json_output.h"
#include "cli/output.h"
#include "cli/print_answer.h"
#include "exporters/report/sections/executive_summary.h"
#include "exporters/report/text/figure_text.h"
#include "exporters/report/text/prediction_text.h"
#include "exporters/report/text/run_text.h"
#include "exporters/report/text/told_apart_names.h"
#include "model/error_code.h"
#include "model/text_table.h"
#include "model/visible_text.h"
#include "model/words.h"

namespace nl::cli {
namespace {

constexpr std::size_t kMostRows = 5;
constexpr std::size_t kPipeWidth = 100;  // of a table in a file: names of kernels can be hundreds of characters

constexpr std::size_t kSeverityWidth = 7;  // "medium" and a blank
constexpr std::size_t kLabelWidth = 7;     // "where: "

// A label, and a sentence that goes on below its own beginning.
void write_line(std::string_view label, const std::string& text) {
  const std::size_t begin = label.size() - (label.starts_with('\n') ? 1 : 0);
  write_text(label);
  write_sentence(text, begin, begin);
  write_out("\n");
}

std::string ms_text(double ns) { return fmt::format("{:.3f}", ns / 1e6); }

void print_table(TextTable table) {
  const std::size_t width = line_width();
  write_out("\n{}", fitted(std::move(table), width == 0 ? kPipeWidth : width).text);
}

void print_stages(const Run& run) {
  if (run.stages.empty()) return;
  TextTable table{{"stage", "count", "total ms", "mean ms", "GPU work ms"}, {}, {false, true, true, true, true}, 3};
  for (const StageEntry& stage : run.stages) {
    if (table.rows.size() == kMostRows) break;
    table.rows.push_back({exporters::report::stage_title(run, stage.name), std::to_string(stage.wall.count),
                          ms_text(static_cast<double>(stage.wall.total_ns)), ms_text(stage.wall.mean_ns),
                          stage.gpu_busy_ns ? ms_text(static_cast<double>(*stage.gpu_busy_ns)) : "-"});
  }
  print_table(std::move(table));
  if (const std::string note = exporters::report::runs_on_text(run); !note.empty()) write_line("", note);
}

// The function's own name; where two rows would have the same, what it does, told apart.
void name_kernels(std::vector<std::string> names, TextTable& table) {
  const std::vector<std::string> told = exporters::told_apart_kernel_names(names);
  std::map<std::string, std::size_t> rows;
  for (const auto& row : table.rows) ++rows[row.front()];
  for (std::size_t i = 0; i < table.rows.size(); ++i)
    if (rows[table.rows[i].front()] > 1 && told[i] != names[i]) table.rows[i].front() = told[i];
}

bool on_several_gpus(const std::vector<KernelEntry>& kernels) {
  return std::any_of(kernels.begin(), kernels.end(), [&](const KernelEntry& kernel) { return kernel.device != kernels.front().device; });
}

void print_kernels(const Run& run) {
  if (!run.kernels) return write_line("\nkernels: not captured. ", run.kernels_note ? text_of(*run.kernels_note) : "");
  if (run.kernels->empty()) return;
  const WorkingKernels working = working_kernels(run);
  // kernels.md counts all calls of the capture.
  TextTable table{{working.measured ? "kernel in measured windows" : "kernel", "calls", "total ms", "share", "ncu"},
                  {},
                  {false, true, true, true, true},
                  3};
  const bool several = on_several_gpus(*run.kernels);
  if (several) table.head.emplace_back("GPU");
  std::vector<std::string> names;
  for (const WorkingKernel& each : working.list) {
    if (table.rows.size() == kMostRows) break;
    const KernelEntry& kernel = (*run.kernels)[each.index];
    table.rows.push_back({kernel.short_name.empty() ? kernel.name : kernel.short_name, std::to_string(each.calls),
                          ms_text(static_cast<double>(each.time_ns)), fmt::format("{:.1f}%", 100 * each.measured_share),
                          kernel.ncu.empty() ? "-" : "yes"});
    if (several) table.rows.back().push_back(std::to_string(kernel.device) + (each.gpus > 1 ? fmt::format(" of {}", each.gpus) : ""));
    names.push_back(kernel.name);
  }
  name_kernels(std::move(names), table);
  print_table(std::move(table));
  if (working.left_out > 0) write_line("", exporters::report::working_kernels_note(run, working));
}

void print_notes(const Run& run) {
  if (!run.provenance.adaptations.empty()) write_out("\n");
  for (const auto& note : run.provenance.adaptations) write_line("note: ", text_of(note));
}

// " Saves at most 12.0 %.", " Predicted to save 39 % of each decode_step (31 to 45 %)."
std::string saving_sentence(const Finding& finding) {
  using namespace exporters;
  if (const Prediction* prediction = report::prediction_of(finding); prediction != nullptr)
    return " " + sentence(report::saving_text(*prediction));
  return finding.gain_share ? fmt::format(" Saves at most {}.", share_text(finding.gain_share)) : "";
}

// The sentence that says how fast it is, after the one that tracing is a large part of that, then what limits it.
void print_head(const Run& run) {
  const auto sentences = exporters::report::executive_summary(run);
  if (!sentences.empty()) write_line("\n", sentences.front());
  const bool traced = !exporters::report::tracing_sentence(run).empty();
  if (traced && sentences.size() > 1) write_line("", sentences[1]);
  const auto first = exporters::report::recommendations(run, 3);
  for (const auto& each : first) {
    const Finding& finding = *each.finding;
    write_text(fmt::format("{:<{}}", key_of(finding.severity), kSeverityWidth), stdout, severity_colour(finding.severity));
    write_sentence(" " + finding.message + saving_sentence(finding), kSeverityWidth, kSeverityWidth + 1);
    write_out("\n");
  }
  if (!first.empty() && run.findings.size() > first.size())
    write_out("        and {} more in the report\n", run.findings.size() - first.size());
}

Colour colour_of(RunStatus status) {
  switch (status) {
    case RunStatus::kComplete: return Colour::kGreen;
    case RunStatus::kPartial: return Colour::kYellow;
    case RunStatus::kInterrupted:
    case RunStatus::kFailed: return Colour::kRed;
  }
  return Colour::kNone;
}

void print_places(const orchestrator::RunResult& result) {
  write_out("\n");
  write_text(key_of(result.run.status), stdout, colour_of(result.run.status));
  write_out(": {}\n", result.bundle.string());
  const std::filesystem::path report = result.bundle / "report.html";
  std::error_code ignored;
  if (!std::filesystem::exists(report, ignored)) return;
  write_out("report: ");
  write_path(report);
  write_out("\n");
}

void print_lines(bool grave, const std::string& what, const std::string& where, const std::string& fix) {
  const auto line = [](const std::string& text) {
    write_sentence(text, kLabelWidth, kLabelWidth, stderr);
    write_err("\n");
  };
  write_text(grave ? "error:" : "note: ", stderr, grave ? Colour::kRed : Colour::kNone);
  write_err(" ");
  line(what);
  if (!where.empty()) write_err("where: "), line(where);
  if (!fix.empty()) write_err("fix:   "), line(fix);
}

constexpr std::size_t kLevelWidth = 9;       // "blocked" and two blanks
constexpr std::size_t kLeastTextWidth = 24;  // beside the subjects; where there is less, the text goes on below them

Colour colour_of(orchestrator::CheckLevel level) {
  switch (level) {
    case orchestrator::CheckLevel::kOk: return Colour::kGreen;
    case orchestrator::CheckLevel::kWarning: return Colour::kYellow;
    case orchestrator::CheckLevel::kBlocked: return Colour::kRed;
  }
  return Colour::kNone;
}

}  // namespace

Colour severity_colour(Severity severity) {
  switch (severity) {
    case Severity::kHigh: return Colour::kRed;
    case Severity::kMedium: return Colour::kYellow;
    case Severity::kLow:
    case Severity::kInfo: return Colour::kNone;
  }
  return Colour::kNone;
}

void print_error(const Error& error) { print_lines(true, error.message, error.where, error.fix); }

nlohmann::ordered_json error_json(const Error& error) {
  const auto or_null = [](const std::string& text) { return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text); };
  return {{"code", info_of(code_of(error)).key}, {"kind", key_of(error.kind)}, {"what", error.message},
          {"where", or_null(error.where)},       {"fix", or_null(error.fix)},  {"exit_status", exit_status_of(error.kind)}};
}

int print_failure(const Error& error, bool json) {
  std::fflush(stdout);
  print_error(error);
  if (json && !std::ferror(stdout)) try {
      write_json({{"error", error_json(error)}});
    } catch (const Error&) {
      // stdout takes nothing: stderr has it, and one message is enough
    }
  return exit_status_of(error.kind);
}

int print_result(orchestrator::RunResult result, bool json, const RecordResult& record) {
  const int status = exit_status_of(result.failure, result.interrupt_signal);
  if (json) {
    if (record) result.ledger = record(result.run);
    write_data(exporters::answer_to_json(answer_of_result(result, status)));
  } else {
    print_stages(result.run);
    print_kernels(result.run);
    print_notes(result.run);
    print_head(result.run);
    print_places(result);
  }
  std::fflush(stdout);
  for (const auto& problem : result.run.problems)
    print_lines(words_of(problem.code).severity == Severity::kHigh, problem.what, problem.where, problem.fix);
  if (record && !json) result.ledger = record(result.run);
  if (!json && !result.ledger.location.empty()) write_out("ledger: {} ({})\n", result.run.run_id, result.ledger.location);
  if (const auto& failure = result.ledger.failure)
    print_lines(false, "The run is not in the ledger: " + failure->message, failure->where, failure->fix);
  return status;
}

void print_checks(const std::vector<orchestrator::Check>& checks) {
  std::size_t subjects = 0;
  for (const auto& check : checks) subjects = std::max(subjects, check.subject.size());
  const std::size_t width = line_width(), begin = kLevelWidth + subjects + 2;
  const std::size_t indent = width == 0 || width >= begin + kLeastTextWidth ? begin : kLevelWidth;
  for (const auto& check : checks) {
    write_text(fmt::format("{:<{}}", level_name(check.level), kLevelWidth - 2), stdout, colour_of(check.level));
    write_out("  {:<{}}  {}\n", check.subject, subjects, wrapped(check.finding, width, begin, indent));
    if (!check.fix.empty()) write_out("{:{}}fix: {}\n", "", indent, wrapped(check.fix, width, indent + 5, indent + 5));
  }
}

}  // namespace nl::cli

#include "cli/print_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/exit_status.h"
#include "exporters/report/figure_text.h"
#include "exporters/report/sections/recommendations.h"
#include "exporters/report/sections/run_text.h"
#include "model/words.h"

namespace nl::cli {
namespace {

double ms(double ns) { return ns / 1e6; }

std::string shortened(const std::string& text, std::size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 3) + "...";
}

void print_stages(const Run& run) {
  if (run.stages.empty()) return;
  fmt::print("\n{:<24} {:>7} {:>12} {:>12} {:>12}\n", "stage", "count", "total ms", "mean ms", "GPU busy ms");
  for (std::size_t i = 0; i < run.stages.size() && i < 5; ++i) {
    const auto& stage = run.stages[i];
    fmt::print("{:<24} {:>7} {:>12.3f} {:>12.3f} {:>12}\n", shortened(exporters::report::stage_title(run, stage.name), 24), stage.wall.count,
               ms(static_cast<double>(stage.wall.total_ns)), ms(stage.wall.mean_ns),
               stage.gpu_busy_ns ? fmt::format("{:.3f}", ms(static_cast<double>(*stage.gpu_busy_ns))) : "-");
  }
}

void print_kernels(const Run& run) {
  if (!run.kernels) return fmt::print("\nkernels: not captured. {}\n", run.kernels_note ? text_of(*run.kernels_note) : "");
  if (run.kernels->empty()) return;
  const bool several = std::any_of(run.kernels->begin(), run.kernels->end(), [&](const KernelEntry& k) { return k.device != run.kernels->front().device; });
  fmt::print("\n{:<48} {:>7} {:>12} {:>7} {:>5}{}\n", "kernel", "calls", "total ms", "share", "ncu", several ? "   GPU" : "");
  for (std::size_t i = 0; i < run.kernels->size() && i < 5; ++i) {
    const auto& kernel = (*run.kernels)[i];
    fmt::print("{:<48} {:>7} {:>12.3f} {:>6.1f}% {:>5}{}\n",
               shortened(kernel.short_name.empty() ? kernel.name : kernel.short_name, 48), kernel.time.count,
               ms(static_cast<double>(kernel.time.total_ns)), 100 * kernel.gpu_share, kernel.ncu.empty() ? "-" : "yes",
               several ? fmt::format(" {:>5}", kernel.device) : "");
  }
}

void print_findings(const Run& run) {
  const auto first = exporters::report::recommendations(run, 3);
  if (first.empty()) return;
  fmt::print("\nwhat limits it\n");
  std::size_t shown = 0;
  for (const auto& each : first) {
    const Finding& finding = *each.finding;
    fmt::print("{:<7} {}{}\n", key_of(finding.severity), finding.message,
               finding.gain_share ? fmt::format(" Saves at most {}.", exporters::share_text(finding.gain_share)) : "");
    ++shown;
  }
  if (run.findings.size() > shown) fmt::print("        and {} more in the report\n", run.findings.size() - shown);
}

void print_json(const orchestrator::RunResult& result, int status) {
  nlohmann::ordered_json out;
  out["run_id"] = result.run.run_id;
  out["bundle"] = result.bundle.string();
  out["status"] = key_of(result.run.status);
  out["exit_status"] = status;
  out["ledger"] = result.ledger.location.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(result.ledger.location);
  out["problems"] = nlohmann::ordered_json::array();
  for (const auto& problem : result.run.problems)
    out["problems"].push_back({{"code", words_of(problem.code).key}, {"what", problem.what}, {"where", problem.where}, {"fix", problem.fix}});
  fmt::print("{}\n", out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

void print_lines(const char* mark, const std::string& what, const std::string& where, const std::string& fix) {
  fmt::print(stderr, "{} {}\n", mark, what);
  if (!where.empty()) fmt::print(stderr, "where: {}\n", where);
  if (!fix.empty()) fmt::print(stderr, "fix:   {}\n", fix);
}

}  // namespace

void print_error(const Error& error) { print_lines("error:", error.message, error.where, error.fix); }

int print_result(const orchestrator::RunResult& result, bool json) {
  const int status = exit_status_of(result.failure, result.interrupt_signal);
  if (json) {
    print_json(result, status);
  } else {
    print_stages(result.run);
    print_kernels(result.run);
    print_findings(result.run);
    for (const auto& note : result.run.provenance.adaptations) fmt::print("note: {}\n", text_of(note));
    fmt::print("\n{}: {}\n", key_of(result.run.status), result.bundle.string());
    if (!result.ledger.location.empty()) fmt::print("ledger: {} ({})\n", result.run.run_id, result.ledger.location);
  }
  std::fflush(stdout);
  for (const auto& problem : result.run.problems)
    print_lines(words_of(problem.code).severity == Severity::kHigh ? "error:" : "note: ", problem.what, problem.where, problem.fix);
  if (const auto& failure = result.ledger.failure)
    print_lines("note: ", "The run is not in the ledger: " + failure->message, failure->where, failure->fix);
  return status;
}

}  // namespace nl::cli

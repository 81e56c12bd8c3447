#include "orchestrator/capture/operators.h"

#include <fmt/format.h>

#include "analysis/figures/operators/operators.h"
#include "orchestrator/bundle/redact.h"
#include "orchestrator/capture/marks.h"
#include "orchestrator/capture/timeline.h"
#include "orchestrator/capture/trace_nsys.h"
#include "parsers/facts/facts.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

// Why an operator pass would find nothing new; empty where it would.
std::string why_useless(const Plan& plan, const Capture& capture) {
  const Trace& trace = capture.trace;
  if (capture.cut_short) return "the trace without operators is too large already (capture.max_size)";
  if (trace.kernels.empty() && trace.graph_runs.empty()) return "no GPU work was recorded";
  if (analysis::has_torch_operators(trace)) return "the trace has PyTorch's operators";
  return parsers::read_facts(plan.bundle / kFactsFolder).uses_torch() ? "" : "the workload is no Python program that uses PyTorch";
}

class OperatorPass {
 public:
  OperatorPass(const Plan& plan, PassRunner& runner, Capture& capture) : plan_(plan), runner_(runner), capture_(capture) {}

  void run(std::span<const Pass> passes) {
    const auto result = runner_.run(passes.front());
    if (!ended_well(result ? &*result : nullptr)) {
      if (passes.size() > 1) runner_.skip(passes.back(), "there is nothing to export");
      if (result && !result->interrupted)
        note(result->timed_out ? "was ended by its timeout" : fmt::format("ended with status {}", result->exit_status), "operators");
      return;
    }
    try {
      if (passes.size() > 1) read_export(passes.back());
      else read_files(passes.front());
    } catch (const Error& error) {
      note("could not be read: " + error.message, "operators");
    }
  }

 private:
  void read_files(const Pass& pass) {
    const auto files = collector_files(plan_.bundle / pass.outputs.at(0));
    if (files.empty()) return note("left no file of the collector", "operators");
    capture_.operators = read_collector_timeline(files, plan_.config);
  }

  void read_export(const Pass& pass) {
    const fs::path sqlite = plan_.bundle / pass.outputs.at(0);
    const auto result = runner_.run(pass);
    if (!ended_well(result ? &*result : nullptr)) {
      drop(sqlite);
      if (result && !result->interrupted) note("could not be exported" + last_words(result->stderr_text, 2), "operators-export");
      return;
    }
    try {
      if (!plan_.config.artifacts.keep_env) redact_environment(sqlite);
      capture_.operators = read_nsys_timeline(sqlite, plan_.config);
    } catch (const Error&) {
      drop(sqlite);
      throw;
    }
    if (plan_.config.nsys.sqlite) return;
    drop(sqlite);
    runner_.last().detail = "read, and not kept (nsys.export.sqlite: false)";
  }

  void drop(const fs::path& sqlite) {
    std::error_code ignored;
    fs::remove(sqlite, ignored);
    runner_.last().outputs.clear();
  }

  void note(const std::string& what, const std::string& log) {
    capture_.adaptations.push_back({Code::kOperatorsFailed, {what}, fmt::format("logs/{}.stderr.log", log)});
  }

  const Plan& plan_;
  PassRunner& runner_;
  Capture& capture_;
};

}  // namespace

void record_operators(const Plan& plan, std::span<const Pass> passes, PassRunner& runner, Capture& capture) {
  if (passes.empty()) return;
  const bool failed = runner.verdict().failure() == ErrorKind::kWorkload;
  const std::string why = failed || runner.verdict().stopped() ? "the captured pass did not go well" : why_useless(plan, capture);
  if (why.empty()) return OperatorPass(plan, runner, capture).run(passes);
  for (const Pass& pass : passes) runner.skip(pass, why);
  if (!failed && !runner.verdict().stopped()) capture.adaptations.push_back({Code::kOperatorsLeftOut, {why}});
}

}  // namespace nl::orchestrator

#include "orchestrator/capture/calibrate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/figures/overhead/calibration.h"
#include "model/words.h"
#include "orchestrator/capture/marks.h"
#include "orchestrator/capture/plan_parts.h"
#include "orchestrator/capture/tool_arguments.h"
#include "orchestrator/config/knowledge.h"
#include "orchestrator/machine/launch_loop.h"
#include "parsers/collector/trace.h"
#include "parsers/facts/facts.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

constexpr double kTimeout_s = 60;  // the loop takes a second, and nsys some more for its report

fs::path loops_file(PassKind tracer) { return fs::path(kCalibrationFolder) / (std::string(key_of(tracer)) + ".json"); }

// Whose loop it is: calibration/nsys.json is that of nsys, calibration/unprofiled.json that of none.
PassKind tracer_of(const Pass& pass) { return from_key<PassKind>(pass.outputs.at(0).stem().string()).value_or(PassKind::kUnprofiled); }

Pass loop_pass(const Plan& plan, PassKind tracer, const std::string& how) {
  Pass pass;
  pass.kind = PassKind::kCalibration;
  pass.outputs = {loops_file(tracer)};
  pass.process.argv = {plan.tools.program.string(), "calibrate", "--out", (plan.bundle / pass.outputs[0]).string()};
  pass.process.unset_env = plan.tools.injection_env;
  pass.process.timeout_s = kTimeout_s;
  pass.process.label = fmt::format("launches {}", how);
  pass.process.stdout_log = plan.bundle / "logs" / fmt::format("calibration-{}.stdout.log", key_of(tracer));
  pass.process.stderr_log = plan.bundle / "logs" / fmt::format("calibration-{}.stderr.log", key_of(tracer));
  pass.purpose = fmt::format("time a loop of launches {}; skipped where tracing cannot matter", how);
  pass.optional = true;
  return pass;
}

// As the capture is traced. What starts and stops a capture belongs to the workload.
Pass nsys_loop(const Plan& plan) {
  Config config = plan.config;
  config.nsys.capture_range = "none";
  config.nsys.pytorch = "none";
  std::vector<Remark> noted_before;
  Pass pass = loop_pass(plan, PassKind::kNsys, "under nsys");
  std::vector<std::string> argv = nsys_profile_argv(config, *plan.tools.nsys, plan.bundle / kCalibrationFolder / "nsys", noted_before);
  append(argv, pass.process.argv);
  pass.process.argv = std::move(argv);
  set_tool_env(pass, *plan.tools.nsys);
  pass.process.profiler = true;
  return pass;
}

Pass collector_loop(const Plan& plan) {
  Pass pass = loop_pass(plan, PassKind::kCollector, "under the collector");
  trace_by_cupti(pass, plan.config, plan.tools);
  auto& env = pass.process.env;
  env["NL_STAGE_TRACE_DIR"] = (plan.bundle / kCalibrationFolder / "collector").string();
  if (plan.tools.cupti) env["NL_STAGE_CUPTI"] = plan.tools.cupti->string();  // ours has none beside it, as a program of Python may
  return pass;
}

// "--trace=cuda,nvtx --sample=none …"; of the collector what it is told by its environment.
std::string options_of(PassKind tracer, const Config& config) {
  if (tracer == PassKind::kCollector)
    return fmt::format("cuda_calls={} cuda_graphs={}", config.capture.cuda_calls, config.capture.cuda_graphs);
  const NsysOptions& nsys = config.nsys;
  std::string options = fmt::format("--trace={} --sample={} --cpuctxsw={} --cuda-graph-trace={}", fmt::join(nsys.trace, ","), nsys.sample,
                                    nsys.cpuctxsw, nsys.cuda_graph_trace);
  for (const std::string& extra : nsys.extra_args) options += " " + extra;
  return options;
}

class Calibrating {
 public:
  Calibrating(const Plan& plan, PassRunner& runner, Capture& capture) : plan_(plan), runner_(runner), out_(capture.calibration) {}

  void run(std::span<const Pass> passes) {
    for (const Pass& pass : passes) {
      const PassKind tracer = tracer_of(pass);
      if (tracer != PassKind::kUnprofiled && !bare_) {
        runner_.skip(pass, "the loop failed without a tracer");
        continue;
      }
      const auto loops = loops_of(pass);
      if (tracer == PassKind::kUnprofiled) bare_ = loops;
      else if (loops) add_costs(tracer, *loops);
      drop_traces();
    }
    if (!analysis::is_plausible(out_)) {
      out_.costs.clear();
      note("calls took less time traced than bare: the machine's speed changed between the loops");
    }
    if (!out_.costs.empty()) write();
  }

 private:
  std::optional<LaunchLoops> loops_of(const Pass& pass) {
    std::error_code ignored;
    if (tracer_of(pass) == PassKind::kCollector) fs::create_directories(trace_folder(), ignored);
    const auto result = runner_.run(pass);
    if (!ended_well(result ? &*result : nullptr)) {
      if (result && !result->interrupted) note(fmt::format("the loop {} ended with status {}", pass.process.label, result->exit_status));
      return std::nullopt;
    }
    try {
      if (tracer_of(pass) == PassKind::kCollector && !parsers::gpu_half_recorded(collector_files(trace_folder()))) {
        note("the collector recorded nothing of the loop");
        return std::nullopt;
      }
      return read_loops(plan_.bundle / pass.outputs.at(0));
    } catch (const Error& error) {
      note(error.message);
    }
    return std::nullopt;
  }

  void add_costs(PassKind tracer, const LaunchLoops& traced) {
    for (const TimedLoop& loop : traced.loops) {
      const auto bare = std::find_if(bare_->loops.begin(), bare_->loops.end(), [&](const auto& each) { return each.call == loop.call; });
      auto cost = bare == bare_->loops.end() ? std::nullopt : analysis::call_cost(bare->blocks_ns, loop.blocks_ns);
      if (!cost) continue;
      cost->profiler = tracer;
      cost->call = loop.call;
      cost->version = tracer == PassKind::kNsys ? plan_.tools.nsys->version.text() : "";
      cost->options = options_of(tracer, plan_.config);
      out_.costs.push_back(std::move(*cost));
    }
  }

  // What the tracers recorded is of no use, and large.
  void drop_traces() const {
    std::error_code ignored;
    fs::remove_all(trace_folder(), ignored);
    for (const char* end : {".nsys-rep", ".qdstrm", ".sqlite"})
      fs::remove(plan_.bundle / kCalibrationFolder / (std::string("nsys") + end), ignored);
  }

  void write() const {
    auto costs = nlohmann::ordered_json::array();
    for (const CallCost& cost : out_.costs)
      costs.push_back({{"tool", key_of(cost.profiler)},
                       {"version", cost.version.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(cost.version)},
                       {"options", cost.options},
                       {"call", key_of(cost.call)},
                       {"ns", cost.ns},
                       {"low_ns", cost.low_ns},
                       {"high_ns", cost.high_ns},
                       {"bare_ns", cost.bare_ns},
                       {"blocks", cost.blocks}});
    const nlohmann::ordered_json file = {{"driver_version", plan_.tools.driver_version},
                                         {"cuda_driver_version", bare_->cuda_driver_version},
                                         {"gpu", plan_.tools.gpus.empty() ? "" : plan_.tools.gpus.front()},
                                         {"costs", std::move(costs)}};
    runner_.bundle().write(fs::path(kCalibrationFolder) / "costs.json", file.dump(2) + "\n");
  }

  void note(const std::string& what) { out_.note += (out_.note.empty() ? "" : "; ") + what; }
  fs::path trace_folder() const { return plan_.bundle / kCalibrationFolder / "collector"; }

  const Plan& plan_;
  PassRunner& runner_;
  Calibration& out_;
  std::optional<LaunchLoops> bare_;
};

// Why the loops would tell nothing new; empty where they would.
std::string why_not_calibrate(const Plan& plan, const Capture& capture, Verdict& verdict) {
  if (verdict.failure() || verdict.stopped()) return "the captured pass did not go well";
  if (capture.trace.kernels.empty() && capture.trace.graph_runs.empty()) return "no GPU work was recorded";
  if (choice<TracerCalibration>(plan.config.perturbation.calibrate) == TracerCalibration::kOn) return {};
  const parsers::ProcessFacts facts = parsers::read_facts(plan.bundle / kFactsFolder);
  const bool python = analysis::is_python(facts.versions, capture.trace.processes, plan.config.workload.command);
  if (analysis::tracing_may_matter({capture.trace, warmup_rule(plan.config)}, python, load_tracing_costs())) return {};
  return fmt::format("tracing adds less than {:.0f} % to every stage, by the costs in conf/tracing", analysis::kWorthCalibrating * 100);
}

}  // namespace

void add_calibration_passes(Plan& plan) {
  const bool off = choice<TracerCalibration>(plan.config.perturbation.calibrate) == TracerCalibration::kOff;
  if (off || plan.tools.gpus.empty() || plan.tools.program.empty()) return;
  plan.passes.push_back(loop_pass(plan, PassKind::kUnprofiled, "bare"));
  if (plan.tracer == Tracer::kNsys) plan.passes.push_back(nsys_loop(plan));
  if (plan.tools.collector) plan.passes.push_back(collector_loop(plan));
}

void calibrate(const Plan& plan, std::span<const Pass> passes, PassRunner& runner, Capture& capture) {
  if (passes.empty()) return;
  const std::string why = why_not_calibrate(plan, capture, runner.verdict());
  if (why.empty()) return Calibrating(plan, runner, capture).run(passes);
  for (const Pass& pass : passes) runner.skip(pass, why);
  capture.calibration.note = "not calibrated: " + why;
}

}  // namespace nl::orchestrator

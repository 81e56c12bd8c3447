#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/verbs.h"
#include "model/figures.h"
#include "model/run_metrics.h"
#include "orchestrator/bundle/read_run.h"

namespace nl::cli {
namespace {

struct GateFlags {
  std::vector<std::string> runs;
  bool list = false, json = false;
};

constexpr std::string_view better_word(Better better) { return better == Better::kLower ? "lower" : "higher"; }

nlohmann::ordered_json listed(const RunMetric& metric) {
  return {{"key", metric.key}, {"value", metric.value}, {"unit", metric.info->unit}, {"better", better_word(metric.info->better)}, {"unprofiled", metric.unprofiled}};
}

int list_metrics(const GateFlags& flags) {
  auto all = nlohmann::ordered_json::array();
  for (const std::string& name : flags.runs) {
    const auto file = orchestrator::run_json_of(name);
    const Run run = orchestrator::read_run(orchestrator::read_run_text(file), file);
    nlohmann::ordered_json metrics = nlohmann::ordered_json::array();
    if (!flags.json) fmt::print("{} on {}\n", run.run_id, hardware_key(run));
    for (const RunMetric& metric : run_metrics(run, kEveryKernel))
      if (flags.json)
        metrics.push_back(listed(metric));
      else
        fmt::print("  {} {} {}\n", metric.key, three_digits(metric.value), metric.info->unit);
    all.push_back({{"run_id", run.run_id}, {"hardware", hardware_key(run)}, {"metrics", metrics}});
  }
  if (flags.json) fmt::print("{}\n", all.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  std::fflush(stdout);
  return 0;
}

std::string metric_lines() {
  std::string out;
  for (const RunMetricInfo& info : run_metric_table())
    out += fmt::format("  {:<32} {:<9} {} is better; {}\n", key_pattern(info), info.unit, better_word(info.better), info.help);
  return out;
}

}  // namespace

void add_gate(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<GateFlags>();
  CLI::App* verb = app.add_subcommand("gate", "List the figures of runs under keys that do not change");
  verb->add_option("runs", flags->runs, "bundles, or their run.json")->required()->type_name("RUN");
  verb->add_flag("--list", flags->list, "print every metric of the runs")->required();
  verb->add_flag("--json", flags->json, "print [{run_id, hardware, metrics: [{key, value, unit, better, unprofiled}]}]");
  verb->footer(
      "Examples:\n"
      "  nl-stage gate bundle --list\n\n"
      "Metrics:\n" + metric_lines() +
      "\nThe exit status is 3 if a run.json is missing, damaged or newer than this nl-stage.");
  verb->callback([flags, &action] { action = [flags] { return list_metrics(*flags); }; });
}

}  // namespace nl::cli

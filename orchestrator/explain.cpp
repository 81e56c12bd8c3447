#include "orchestrator/explain.h"

#include <charconv>
#include <optional>

#include "analysis/figures/efficiency/dram_use.h"
#include "analysis/figures/efficiency/efficiency.h"
#include "analysis/figures/efficiency/roofline.h"
#include "analysis/figures/nodes/operator_pass.h"
#include "analysis/figures/operators/layers.h"
#include "analysis/figures/operators/operators.h"
#include "analysis/staging/found/found.h"
#include "analysis/summarise.h"
#include "analysis/verdicts/rules/judge.h"
#include "analysis/verdicts/run_summary.h"
#include "orchestrator/config/device_table.h"
#include "orchestrator/config/rules_file.h"
#include "orchestrator/config/warmup_rule.h"

namespace nl::orchestrator {
namespace {

std::optional<std::uint64_t> count_of(const ModelOptions& model, const char* attribute) {
  const auto found = model.attributes.find(attribute);
  if (found == model.attributes.end()) return std::nullopt;
  const std::string& text = found->second;
  std::uint64_t count = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return count;
}

}  // namespace

analysis::SummaryOptions summary_options(const Config& config) {
  analysis::SummaryOptions options;
  options.stages = config.run.stages;
  options.top_n_kernels = static_cast<std::size_t>(config.run.top_n_kernels);
  options.warmup = warmup_rule(config);
  options.tokens = {count_of(config.model, "batch_size"), count_of(config.model, "prompt_tokens"), count_of(config.model, "decode_tokens")};
  return options;
}

Knowledge load_knowledge(const Config& config) {
  return {load_device_table(config.device.file), load_rules(shipped_rules(), config.analysis.rules), summary_options(config)};
}

void add_unmarked_stages(const Config& config, Trace& trace) {
  analysis::add_found_stages(trace, {config.stages.map.begin(), config.stages.map.end()});
}

void analyse_trace(const Trace& trace, const analysis::SummaryOptions& options, Run& run) {
  analysis::summarise(trace, options, run);
  analysis::add_operators(trace, {}, run);
  analysis::add_layers(trace, run);
  analysis::add_operator_steps(trace, options.warmup, "", run);
}

void explain(const Knowledge& knowledge, Run& run) {
  analysis::fill_efficiency(knowledge.devices, run);
  analysis::fill_dram_use(run);
  analysis::fill_roofline(run);
  analysis::judge(knowledge.rules, run);
  run.summary = analysis::run_summary(run);
}

}  // namespace nl::orchestrator

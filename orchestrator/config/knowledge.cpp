#include "orchestrator/config/knowledge.h"

#include <charconv>
#include <optional>

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

analysis::AnalysisOptions analysis_options(const Config& config) {
  return {{config.run.stages, static_cast<std::size_t>(config.run.top_n_kernels)},
          warmup_rule(config),
          {count_of(config.model, "batch_size"), count_of(config.model, "prompt_tokens"), count_of(config.model, "decode_tokens")}};
}

analysis::Knowledge load_knowledge(const Config& config) {
  return {load_device_table(config.device.file), load_rules(shipped_rules(), config.analysis.rules), analysis_options(config)};
}

}  // namespace nl::orchestrator

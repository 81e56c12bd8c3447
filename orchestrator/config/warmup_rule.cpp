#include "orchestrator/config/warmup_rule.h"

#include <string>

namespace nl::orchestrator {

analysis::WarmupRule warmup_rule(const Config& config) {
  const std::string& warmup = config.analysis.warmup;
  analysis::WarmupRule rule;
  rule.factor = config.analysis.warmup_factor;
  if (warmup == "none") rule.mode = analysis::WarmupRule::Mode::kNone;
  if (warmup == "none" || warmup == "auto") return rule;
  rule.mode = analysis::WarmupRule::Mode::kCount;
  rule.count = std::stoull(warmup);  // checked when the configuration was loaded
  return rule;
}

}  // namespace nl::orchestrator

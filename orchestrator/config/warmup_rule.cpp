#include "orchestrator/config/warmup_rule.h"

#include <string>

namespace nl {

WarmupRule warmup_rule(const Config& config) {
  const std::string& warmup = config.analysis.warmup;
  WarmupRule rule;
  rule.factor = config.analysis.warmup_factor;
  if (warmup == "none") rule.mode = WarmupRule::Mode::kNone;
  if (warmup == "none" || warmup == "auto") return rule;
  rule.mode = WarmupRule::Mode::kCount;
  rule.count = std::stoull(warmup);  // checked when the configuration was loaded
  return rule;
}

}  // namespace nl

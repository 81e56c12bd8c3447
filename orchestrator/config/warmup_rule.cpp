#include "orchestrator/config/warmup_rule.h"

#include <fmt/format.h>

#include <charconv>
#include <string>

#include "model/error.h"

namespace nl::orchestrator {
namespace {

using Mode = analysis::WarmupRule::Mode;

constexpr std::uint64_t kMostIterations = 999999;

}  // namespace

analysis::WarmupRule warmup_rule(const Config& config) {
  const std::string& text = config.analysis.warmup;
  analysis::WarmupRule rule;
  rule.factor = config.analysis.warmup_factor;
  rule.mode = text == "auto" ? Mode::kAuto : text == "none" ? Mode::kNone : Mode::kCount;
  if (rule.mode != Mode::kCount) return rule;
  const char* end = text.data() + text.size();
  const auto [stopped, failed] = std::from_chars(text.data(), end, rule.count);
  if (failed != std::errc{} || stopped != end || rule.count > kMostIterations)
    throw Error(ErrorKind::kConfig, fmt::format("analysis.warmup is '{}'", text), config.sources.empty() ? "--set" : config.sources.back(),
                "auto, none, or a number of iterations");
  return rule;
}

}  // namespace nl::orchestrator

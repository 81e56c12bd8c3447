#include "analysis/staging/warmup.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <queue>

namespace nl::analysis {
namespace {

// The median of the values from each place on to the last.
std::vector<double> suffix_medians(const std::vector<Ns>& values) {
  std::priority_queue<Ns> low;  // the smaller half, one more at most
  std::priority_queue<Ns, std::vector<Ns>, std::greater<Ns>> high;
  std::vector<double> medians(values.size());
  for (std::size_t i = values.size(); i-- > 0;) {
    low.push(values[i]);
    high.push(low.top());
    low.pop();
    if (high.size() > low.size()) {
      low.push(high.top());
      high.pop();
    }
    const bool odd = low.size() > high.size();
    medians[i] = odd ? static_cast<double>(low.top()) : (static_cast<double>(low.top()) + static_cast<double>(high.top())) / 2;
  }
  return medians;
}

double ms(double ns) { return ns / 1e6; }

WarmupVerdict judge_auto(const std::vector<Ns>& walls, double factor) {
  WarmupVerdict verdict;
  const std::vector<double> medians = suffix_medians(walls);
  const std::size_t most = std::min((walls.size() + 1) / 2, walls.size() - 1);
  while (verdict.warmup<most&& static_cast<double>(walls[verdict.warmup])> factor * medians[verdict.warmup + 1]) ++verdict.warmup;
  if (walls.size() < 2) {
    verdict.why = "the only iteration is measured";
  } else if (verdict.warmup == 0) {
    verdict.why = fmt::format("none of {} (first {:.3f} ms, median of the others {:.3f} ms)", walls.size(),
                              ms(static_cast<double>(walls[0])), ms(medians[1]));
  } else {
    verdict.why = fmt::format("{} of {} (first {:.3f} ms, median of the measured {:.3f} ms)", verdict.warmup, walls.size(),
                              ms(static_cast<double>(walls[0])), ms(medians[verdict.warmup]));
  }
  return verdict;
}

WarmupVerdict judge_count(const std::vector<Ns>& walls, std::uint64_t count) {
  WarmupVerdict verdict;
  verdict.warmup = static_cast<std::size_t>(std::min<std::uint64_t>(count, walls.size() - 1));
  verdict.why = fmt::format("{} of {}", verdict.warmup, walls.size());
  if (verdict.warmup < count) verdict.why += ", because one must be measured";
  return verdict;
}

}  // namespace

std::string warmup_rule_text(const WarmupRule& rule) {
  switch (rule.mode) {
    case WarmupRule::Mode::kNone: return "the configuration sets no warm-up";
    case WarmupRule::Mode::kCount: return fmt::format("the configuration sets the first {} iterations as warm-up", rule.count);
    case WarmupRule::Mode::kAuto: break;
  }
  return fmt::format("leading iterations longer than {:g} × the median of the later ones are warm-up, at most half of all", rule.factor);
}

WarmupVerdict judge_warmup(const std::vector<Ns>& walls, const WarmupRule& rule) {
  switch (rule.mode) {
    case WarmupRule::Mode::kNone: return {0, fmt::format("{} measured", walls.size())};
    case WarmupRule::Mode::kCount: return judge_count(walls, rule.count);
    case WarmupRule::Mode::kAuto: break;
  }
  return judge_auto(walls, rule.factor);
}

}  // namespace nl::analysis

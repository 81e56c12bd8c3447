#include "servers/http/figures.h"

#include <fmt/format.h>

#include "model/run_metrics.h"
#include "model/visible_text.h"

namespace nl::servers::http {

const std::vector<std::string>& headline_keys() {
  static const std::vector<std::string> keys = {"tpot_unprofiled_ms", "tpot_median_ms",    "inference_ms",
                                                "ttft_median_ms",     "prefill_median_ms", "gpu_busy_share"};
  return keys;
}

ShownFigure headline_of(const std::map<std::string, double>& metrics) {
  for (const std::string& key : headline_keys())
    if (const auto found = metrics.find(key); found != metrics.end()) {
      const RunMetricInfo* info = find_metric(key);
      return {figure_value_text(key, found->second), info != nullptr ? std::string(info->title) : key};
    }
  return {};
}

std::string figure_value_text(const std::string& key, double value) {
  const RunMetricInfo* info = find_metric(key);
  if (info == nullptr) return three_digits(value);
  if (info->unit == FigureUnit::kShare || info->unit == FigureUnit::kUtilisation) return fmt::format("{} %", three_digits(value * 100));
  const std::string_view unit = key_of(info->unit);
  return unit.empty() ? three_digits(value) : fmt::format("{} {}", three_digits(value), unit);
}

std::string minute_text(const std::string& time) { return time.size() < 16 ? time : time.substr(0, 10) + " " + time.substr(11, 5); }

}  // namespace nl::servers::http

#include "exporters/report/text/figure_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "model/shell.h"
#include "model/visible_text.h"

namespace nl::exporters {
namespace {

std::string scaled(const std::optional<double>& value, const char* unit) {
  return value && std::isfinite(*value) ? with_prefix(*value, unit) : kNoValue;
}

thread_local FigureLog* current_log = nullptr;

}  // namespace

FigureLog::FigureLog() : before_(current_log) { current_log = this; }
FigureLog::~FigureLog() { current_log = before_; }

std::string FigureLog::note(double value, std::string text) {
  if (current_log != nullptr) current_log->told_.push_back({value, text});
  return text;
}

std::string share_text(const std::optional<double>& share) {
  if (!share || !std::isfinite(*share)) return kNoValue;
  const double percent = *share * 100;
  if (percent > 0 && percent < 0.05) return "< 0.1 %";
  return FigureLog::note(*share, fmt::format("{:.1f} %", percent));
}

std::string utilisation_text(const std::optional<double>& share) {
  if (!share || !std::isfinite(*share)) return kNoValue;
  const double percent = *share * 100;
  return FigureLog::note(*share, percent == 0 || percent >= 1 ? fmt::format("{:.1f} %", percent) : fmt::format("{:.2g} %", percent));
}

std::string signed_percent(double share) {
  const char* sign = std::abs(share) < 0.0005 ? "" : share < 0 ? "−" : "+";
  return fmt::format("{}{:.1f} %", sign, std::abs(share) * 100);
}

std::string ms_text(double ns) { return fmt::format("{:.3f}", ns / 1e6); }

std::string count_text(std::uint64_t count) { return with_commas(std::to_string(count)); }

std::string flops_text(const std::optional<double>& flops) { return scaled(flops, "FLOP"); }
std::string flops_rate_text(const std::optional<double>& rate) { return scaled(rate, "FLOP/s"); }
std::string bytes_text(const std::optional<double>& bytes) { return scaled(bytes, "B"); }
std::string bytes_rate_text(const std::optional<double>& rate) { return scaled(rate, "B/s"); }

std::string figure_text(const std::optional<double>& value, const char* unit) {
  if (!value || !std::isfinite(*value)) return kNoValue;
  return FigureLog::note(*value, three_digits(*value) + (*unit ? std::string(" ") + unit : std::string()));
}

std::string tokens_text(const std::optional<double>& tokens) {
  return tokens && *tokens == std::floor(*tokens) && *tokens >= 0 && *tokens < 1e15 ? count_text(static_cast<std::uint64_t>(*tokens))
                                                                                    : figure_text(tokens);
}

std::string optional_time_text(const std::optional<Ns>& ns) { return ns ? time_text(static_cast<double>(*ns)) : kNoValue; }

std::string mean_text(const TimeSummary& time) {
  if (time.count == 0) return kNoValue;
  return time_text(time.mean_ns) + (time.count > 1 ? " ± " + time_text(time.stddev_ns) : std::string());
}

std::string percent_text(const std::optional<double>& percent) { return percent ? fmt::format("{:.1f}", *percent) : kNoValue; }

std::string time_text(double ns) {
  const double size = std::abs(ns);
  return FigureLog::note(ns, size >= 1e9   ? fmt::format("{:.3f} s", ns / 1e9)
                             : size >= 1e6 ? fmt::format("{:.3f} ms", ns / 1e6)
                             : size >= 1e3 ? fmt::format("{:.2f} µs", ns / 1e3)
                                           : fmt::format("{:.0f} ns", ns));
}

std::string rough_time(double ns) {
  const auto two_digits = [](double value) { return fmt::format("{:.{}f}", value, std::abs(value) < 9.95 ? 1 : 0); };
  const double size = std::abs(ns);
  return FigureLog::note(ns, size >= 9.995e8   ? two_digits(ns / 1e9) + " s"
                             : size >= 9.995e5 ? two_digits(ns / 1e6) + " ms"
                             : size >= 9.995e2 ? two_digits(ns / 1e3) + " µs"
                                               : fmt::format("{:.0f} ns", ns));
}

std::string rough_count(double count) {
  const double size = count < 1000 ? 1 : std::pow(10.0, std::floor(std::log10(count)) - 2);
  return FigureLog::note(count, count < 9.95 ? fmt::format("{:.1f}", count)
                                             : count_text(static_cast<std::uint64_t>(std::min(std::round(count / size) * size, 1e18))));
}

std::string rough_share(double share) {
  if (share > 0 && share < 0.01) return "less than 1 %";
  return FigureLog::note(share, fmt::format("{:.0f} %", share * 100));
}

std::string metric_text(std::string_view metric, double value) {
  switch (unit_of(metric)) {
    case MetricUnit::kPercent: return fmt::format("{:.1f} %", value);
    case MetricUnit::kBytes: return bytes_text(value);
    case MetricUnit::kBytesPerSecond: return bytes_rate_text(value);
    case MetricUnit::kHertz: return scaled(value, "Hz");
    case MetricUnit::kNanoseconds: return time_text(value);
    default: return figure_text(value);
  }
}

std::string exact_ms_text(double ns) { return fmt::format("{:.6f}", ns / 1e6); }
std::string us_text(double ns) { return fmt::format("{:.2f}", ns / 1e3); }

std::string plural(std::uint64_t count, const std::string& one, const std::string& several) {
  return FigureLog::note(static_cast<double>(count), count_text(count) + " " + (count == 1 ? one : several.empty() ? one + "s" : several));
}

double round_up(double value) {
  if (!(value > 0)) return 1;
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (value <= factor * power) return factor * power;
  return 10 * power;
}

std::optional<double> ratio(double part, double whole) { return whole > 0 ? std::optional(part / whole) : std::nullopt; }

std::string sentence(std::string text) {
  if (text.empty()) return text;
  if (text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text.back() == '.' || text.back() == '!' || text.back() == '?' ? text : text + '.';
}

std::string cut(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return std::string(text);
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
  return std::string(text.substr(0, bytes));
}

std::string join(const std::vector<std::string>& words, const char* between) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : between) + word;
  return out;
}

std::string join_and(const std::vector<std::string>& words) {
  if (words.size() < 2) return join(words);
  return join({words.begin(), words.end() - 1}) + " and " + words.back();
}

std::string uncapitalised(std::string text) {
  const auto upper = [&](std::size_t i) { return i < text.size() && text[i] >= 'A' && text[i] <= 'Z'; };
  if (upper(0) && !upper(1)) text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return text;
}

std::string shell_text(const std::vector<std::string>& words) {
  std::string line = shell_quoted(words);
  std::replace_if(line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return line;
}

}  // namespace nl::exporters

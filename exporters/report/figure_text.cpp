#include "exporters/report/figure_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace nl::exporters {
namespace {

// 3 significant digits, without an exponent where people would not write one.
std::string digits(double value) {
  const double size = std::abs(value);
  if (value == 0) return "0";
  if (size < 0.0001 || size >= 1e6) return fmt::format("{:.2e}", value);
  int decimals = 0;
  for (double bound = 99.95; size < bound; bound /= 10) ++decimals;  // 99.95 is where one decimal rounds to 100
  return fmt::format("{:.{}f}", value, decimals);
}

std::string scaled(const std::optional<double>& value, const char* unit) {
  if (!value || !std::isfinite(*value)) return kNoValue;
  static constexpr std::array<const char*, 7> kPrefixes = {"", "k", "M", "G", "T", "P", "E"};
  double rest = *value;
  std::size_t at = 0;
  while (std::abs(rest) >= 999.5 && at + 1 < kPrefixes.size()) {
    rest /= 1000;
    ++at;
  }
  return fmt::format("{} {}{}", digits(rest), kPrefixes[at], unit);
}

std::string shell_word(const std::string& word) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_./:=,+@%").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  std::string quoted = "'";
  for (const char c : word)
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c == '\n' || c == '\r' ? ' ' : c);
  return quoted + "'";
}

}  // namespace

std::string share_text(const std::optional<double>& share) {
  if (!share || !std::isfinite(*share)) return kNoValue;
  const double percent = *share * 100;
  if (percent > 0 && percent < 0.05) return "< 0.1 %";
  return fmt::format("{:.1f} %", percent);
}

std::string utilisation_text(const std::optional<double>& share) {
  if (!share || !std::isfinite(*share)) return kNoValue;
  const double percent = *share * 100;
  return percent == 0 || percent >= 1 ? fmt::format("{:.1f} %", percent) : fmt::format("{:.2g} %", percent);
}

std::string ms_text(double ns) { return fmt::format("{:.3f}", ns / 1e6); }

std::string count_text(std::uint64_t count) {
  std::string out = std::to_string(count);
  for (std::size_t at = out.size(); at > 3; at -= 3) out.insert(at - 3, 1, ',');
  return out;
}

std::string flops_text(const std::optional<double>& flops) { return scaled(flops, "FLOP"); }
std::string flops_rate_text(const std::optional<double>& rate) { return scaled(rate, "FLOP/s"); }
std::string bytes_text(const std::optional<double>& bytes) { return scaled(bytes, "B"); }
std::string bytes_rate_text(const std::optional<double>& rate) { return scaled(rate, "B/s"); }
std::string hertz_text(const std::optional<double>& rate) { return scaled(rate, "Hz"); }

std::string figure_text(const std::optional<double>& value, const char* unit) {
  if (!value || !std::isfinite(*value)) return kNoValue;
  return digits(*value) + (*unit ? std::string(" ") + unit : std::string());
}

std::string tokens_text(const std::optional<double>& tokens) {
  return tokens && *tokens == std::floor(*tokens) && *tokens >= 0 && *tokens < 1e15
             ? count_text(static_cast<std::uint64_t>(*tokens))
             : figure_text(tokens);
}

std::string optional_time_text(const std::optional<Ns>& ns) {
  return ns ? time_text(static_cast<double>(*ns)) : kNoValue;
}

std::string mean_text(const TimeSummary& time) {
  if (time.count == 0) return kNoValue;
  return time_text(time.mean_ns) + (time.count > 1 ? " ± " + time_text(time.stddev_ns) : std::string());
}

std::string stddev_text(const TimeSummary& time) { return time.count > 1 ? time_text(time.stddev_ns) : kNoValue; }

const char* severity_word(Severity severity) {
  switch (severity) {
    case Severity::kHigh: return "high";
    case Severity::kMedium: return "medium";
    case Severity::kLow: return "low";
    case Severity::kInfo: return "info";
  }
  return "info";
}

std::string status_sentence(RunStatus status) {
  switch (status) {
    case RunStatus::kComplete: return "complete: everything that was planned was captured";
    case RunStatus::kPartial: return "partial: usable, but not everything that was planned was captured";
    case RunStatus::kInterrupted: return "interrupted: it was ended early; what had been captured was kept";
    case RunStatus::kFailed: return "failed: the workload or the capture failed; what there is was kept";
  }
  return "";
}

std::string join(const std::vector<std::string>& words, const char* between) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : between) + word;
  return out;
}

std::string shell_text(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : " ") + shell_word(word);
  return out;
}

std::string scope_text(const std::string& scope, const std::string& subject) {
  if (subject.empty()) return scope.empty() || scope == "run" ? "the run" : scope;
  return scope.empty() ? subject : scope + " " + subject;
}

const char* evidence_prefix(const Evidence& evidence) {
  return evidence.held ? "" : evidence.known ? "against it: " : "not captured: ";
}

std::string gain_text(const Finding& finding) {
  std::string out;
  if (finding.gain_ns) out = "saves at most " + time_text(*finding.gain_ns);
  if (finding.gain_share)
    out += (out.empty() ? "saves at most " : ", ") + share_text(finding.gain_share) + " of the measured time";
  return out;
}

std::vector<std::string> stage_remarks(const StageEntry& stage) {
  std::vector<std::string> out;
  if (stage.foreign_gpu_ns.value_or(0) > 0)
    out.push_back(fmt::format("{}: {} of the GPU's time in its windows is work that was launched outside them.",
                              stage.name, optional_time_text(stage.foreign_gpu_ns)));
  if (stage.devices.size() < 2) return out;
  std::vector<std::string> busy;
  for (const auto& device : stage.devices)
    busy.push_back(fmt::format("GPU {} {}", device.device, time_text(static_cast<double>(device.busy_ns))));
  out.push_back(fmt::format("{}: busy in its windows: {}.", stage.name, join(busy)));
  return out;
}

const StageEntry* stage_named(const Run& run, const std::string& name) {
  const auto found =
      std::find_if(run.stages.begin(), run.stages.end(), [&](const StageEntry& stage) { return stage.name == name; });
  return found == run.stages.end() ? nullptr : &*found;
}

const StageEfficiency* efficiency_of(const Run& run, const std::string& stage) {
  const auto found = std::find_if(run.efficiency.begin(), run.efficiency.end(),
                                  [&](const StageEfficiency& entry) { return entry.stage == stage; });
  return found == run.efficiency.end() ? nullptr : &*found;
}

const OperatorTable* main_operators(const Run& run) {
  const OperatorTable* best = nullptr;
  for (const auto& table : run.operators)
    if (!table.entries.empty() && (best == nullptr || table.gpu_share.value_or(-1) > best->gpu_share.value_or(-1)))
      best = &table;
  return best;
}

}  // namespace nl::exporters

#include "model/collector_notes.h"

#include <string_view>

namespace nl {
namespace {

constexpr std::string_view kNotCounted = "counters are not measured";

bool says(std::string_view note, std::string_view words) { return note.find(words) != std::string_view::npos; }

bool is_denied(std::string_view note) { return says(note, "RestrictProfilingToAdminUsers"); }

std::string without_period(std::string text) {
  while (!text.empty() && text.back() == '.') text.pop_back();
  return text;
}

// "another CUPTI client holds this process (CUPTI-Kineto): counters are not measured. Run without …" → " (CUPTI-Kineto)"
std::string holder_in(const std::string& note) {
  const auto open = note.find('('), close = note.find(')');
  return open == std::string::npos || close == std::string::npos || close < open ? "" : " " + note.substr(open, close + 1 - open);
}

std::optional<Remark> sampling_trouble(const std::vector<std::string>& notes, std::string_view beginning, const char* what, const char* key) {
  for (const auto& note : notes) {
    const auto at = note.find(beginning);
    if (at == std::string::npos) continue;
    return Remark{is_denied(note) ? Code::kSamplingDenied : Code::kSamplingFailed,
                  {what, without_period(note.substr(at + beginning.size())), key}};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Remark> counter_trouble(const std::vector<std::string>& notes) {
  for (const auto& note : notes) {
    if (!says(note, kNotCounted)) continue;
    if (is_denied(note)) return Remark{Code::kCountersDenied, {"CUPTI"}};
    if (says(note, "another CUPTI client holds")) return Remark{Code::kCountersBusy, {holder_in(note)}};
    const std::string beginning = std::string(kNotCounted) + ": ";
    return Remark{Code::kCountersFailed, {without_period(note.starts_with(beginning) ? note.substr(beginning.size()) : note)}};
  }
  return std::nullopt;
}

std::optional<std::string> recording_trouble(const std::vector<std::string>& notes) {
  for (const auto& note : notes)
    if (says(note, "not recorded")) return note;
  return std::nullopt;
}

std::optional<Remark> activity_trouble(const std::vector<std::string>& notes) {
  return sampling_trouble(notes, "activity is not sampled: ", "the GPU's activity", "capture.sampling_us");
}

std::optional<Remark> stall_trouble(const std::vector<std::string>& notes) {
  return sampling_trouble(notes, "stalls are not sampled: ", "where warps stall", "capture.pc_sampling");
}

}  // namespace nl

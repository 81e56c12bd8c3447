#include "parsers/collector/gpu.h"

#include <string_view>

#include "collector/trace_format.h"

namespace nl::parsers::collector_trace {
namespace {

using trace_format::kActivityNotSampled, trace_format::kCountersNotMeasured, trace_format::kStallsNotSampled, trace_format::NoteCode;

// Notes of collectors that wrote no codes.
NoteCode code_of_words(std::string_view text) {
  const auto says = [&](std::string_view words) { return text.find(words) != std::string_view::npos; };
  const bool denied = says("RestrictProfilingToAdminUsers");
  if (says(kCountersNotMeasured))
    return denied ? NoteCode::kCountersDenied : says("another CUPTI client holds") ? NoteCode::kCountersBusy : NoteCode::kCountersFailed;
  if (says(kActivityNotSampled)) return denied ? NoteCode::kActivityDenied : NoteCode::kActivityFailed;
  if (says(kStallsNotSampled)) return denied ? NoteCode::kStallsDenied : NoteCode::kStallsFailed;
  return says("not recorded") ? NoteCode::kNotRecorded : NoteCode::kOther;
}

std::string without_period(std::string text) {
  while (text.ends_with('.')) text.pop_back();
  return text;
}

// "counters are not measured: that needs …" → "that needs …": the code says the rest.
std::string reason_in(const std::string& text, const std::string& lost) {
  return without_period(text.starts_with(lost + ": ") ? text.substr(lost.size() + 2) : text);
}

// "another CUPTI client holds this process (CUPTI-Kineto): counters are not measured. …" → " (CUPTI-Kineto)"
std::string holder_in(const std::string& text) {
  const auto open = text.find('('), close = text.find(')');
  return open == std::string::npos || close == std::string::npos || close < open ? "" : " " + text.substr(open, close + 1 - open);
}

}  // namespace

Remark remark_of_note(std::uint32_t id, std::string text) {
  const auto sampling = [&](Code code, const char* lost, const char* what, const char* key) {
    return Remark{code, {what, reason_in(text, lost), key}};
  };
  const auto activity = [&](Code code) { return sampling(code, kActivityNotSampled, "the GPU's activity", "capture.sampling_us"); };
  const auto stalls = [&](Code code) { return sampling(code, kStallsNotSampled, "where warps stall", "capture.pc_sampling"); };
  NoteCode code{id};
  if (code == NoteCode::kEarlier) code = code_of_words(text);
  switch (code) {
    case NoteCode::kNotRecorded: return {Code::kNotRecorded, {without_period(std::move(text))}};
    case NoteCode::kCountersFailed: return {Code::kCountersFailed, {reason_in(text, kCountersNotMeasured)}};
    case NoteCode::kCountersDenied: return {Code::kCountersDenied, {"CUPTI"}};
    case NoteCode::kCountersBusy: return {Code::kCountersBusy, {holder_in(text)}};
    case NoteCode::kActivityFailed: return activity(Code::kActivityFailed);
    case NoteCode::kActivityDenied: return activity(Code::kActivityDenied);
    case NoteCode::kStallsFailed: return stalls(Code::kStallsFailed);
    case NoteCode::kStallsDenied: return stalls(Code::kStallsDenied);
    case NoteCode::kEarlier:
    case NoteCode::kOther: break;
  }
  return {Code::kNote, {std::move(text)}};  // of a later collector, too
}

}  // namespace nl::parsers::collector_trace

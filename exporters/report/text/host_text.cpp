#include "exporters/report/text/host_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "exporters/report/text/figure_text.h"
#include "model/words.h"

namespace nl::exporters::report {
namespace {

constexpr std::size_t kLongFunction = 100;  // a C++ function can have a name of kilobytes

// Samples tell no more than this.
std::string rough_part(double share) {
  if (share >= 0.9) return "nearly all";
  if (share >= 0.7) return "about three quarters";
  if (share >= 0.6) return "about two thirds";
  if (share >= 0.42) return "about half";
  if (share >= 0.29) return "about a third";
  if (share >= 0.2) return "about a quarter";
  return "less than a quarter";
}

struct FunctionTime {
  const HostLine* line = nullptr;  // the one of its lines with the most samples
  std::uint64_t samples = 0;
};

// Lines come by their samples, so the first of a function is its largest.
FunctionTime main_function(const HostCode& code, HostWork kind) {
  std::map<std::pair<std::string, std::string>, FunctionTime> functions;
  FunctionTime most;
  for (const HostLine& line : code.lines) {
    if (line.kind != kind) continue;
    FunctionTime& function = functions[{line.frame.file, line.frame.function}];
    if (function.line == nullptr) function.line = &line;
    function.samples += line.samples;
    if (function.samples > most.samples) most = function;
  }
  return most;
}

// A native function without a symbol, which readers note in brackets, tells only its library, often the profiler's own.
bool has_name(const HostFrame& frame) { return !frame.function.empty() && frame.function.front() != '('; }

}  // namespace

bool enough_samples(const StageEntry& stage) { return stage.host_code && stage.host_code->samples >= kMinHostSamples; }

std::string function_text(const HostFrame& frame) {
  if (frame.function.empty()) return "(no name)";
  return frame.function.size() <= kLongFunction ? frame.function : cut(frame.function, kLongFunction) + "…";
}

std::string frame_text(const HostFrame& frame) {
  const std::string place = place_text(frame), function = function_text(frame);
  return place.empty() ? function : fmt::format("{} ({})", function, place);
}

std::string host_clause(const StageEntry& stage) {
  if (!enough_samples(stage) || stage.host_code->kinds.empty()) return {};
  const HostCode& code = *stage.host_code;
  const auto kind = std::max_element(code.kinds.begin(), code.kinds.end(),
                                     [](const HostWorkTime& a, const HostWorkTime& b) { return a.samples < b.samples; });
  const std::string part = rough_part(static_cast<double>(kind->samples) / static_cast<double>(code.samples));
  const FunctionTime function = main_function(code, kind->kind);
  std::string out = fmt::format("{} of the wait is {}", part, host_work_text(kind->kind));
  if (function.line != nullptr && has_name(function.line->frame))
    out += fmt::format(", {} {}", 2 * function.samples > kind->samples ? "mostly" : "most often", frame_text(function.line->frame));
  return out;
}

std::string work_colour(HostWork kind) { return "w-" + std::string(key_of(kind)); }

}  // namespace nl::exporters::report

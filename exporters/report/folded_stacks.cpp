#include <fmt/core.h>

#include "exporters/report/reports.h"
#include "exporters/report/text/host_text.h"
#include "model/words.h"

namespace nl::exporters {
namespace {

// A semicolon ends a frame, and a name that ends in a blank and a number would read as a count.
std::string folded_name(const std::string& name) {
  std::string out;
  for (const char c : name) out += c == ';' ? ':' : static_cast<unsigned char>(c) <= ' ' || c == 0x7f ? '_' : c;
  return out.empty() ? "(no name)" : out;
}

// "Linear.forward (linear.py:134)"
std::string folded_frame(const HostFrame& frame) {
  const std::string place = place_text(frame);
  return folded_name(frame.function) + (place.empty() ? "" : fmt::format(" ({})", folded_name(place)));
}

}  // namespace

std::string folded_stacks(const Run& run) {
  std::string out;
  if (!run.host) return out;
  for (const WaitStack& stack : run.host->stacks) {
    out += folded_name(stack.stage);
    for (const std::uint32_t frame : stack.frames)
      if (frame < run.host->frames.size()) out += ';' + folded_frame(run.host->frames[frame].frame);
    out += fmt::format(" {}\n", stack.samples);
  }
  return out;
}

}  // namespace nl::exporters

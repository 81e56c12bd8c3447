#include <fmt/core.h>

#include <algorithm>

#include "exporters/report/figure_text.h"
#include "exporters/report/html/html_text.h"
#include "exporters/report/html/sections.h"
#include "exporters/report/html/svg_time_axis.h"

namespace nl::exporters::html {
namespace {

constexpr std::size_t kMaxLanes = 40, kMaxSlices = 6000;
constexpr int kLanePx = 22, kBarPx = 18, kAxisPx = kTimeAxisPx;
constexpr double kRoomForName = 0.4;  // percent of the picture: readable once zoomed in

bool contains(const std::string& name, const char* part) { return name.find(part) != std::string::npos; }

// The same colours as the budget's: what computes, copies, waits and launches looks alike in both.
std::string slice_colour(const Run& run, const TimelineLane& lane, const std::string& name, std::uint32_t id) {
  if (lane.kind == LaneKind::kRanges) return stage_named(run, name) != nullptr ? stage_colour(run, name) : "s-other";
  if (lane.kind == LaneKind::kApi)
    return contains(name, "ynchronize")                         ? "b-sync"
           : contains(name, "aunch")                            ? "b-starved"
           : contains(name, "emcpy") || contains(name, "emset") ? "b-copy"
                                                                : "b-host";
  if (contains(name, "memcpy") || contains(name, "memset")) return "b-copy";
  return fmt::format("k-{}", id % 4);
}

std::string slice_markup(const Run& run, const Timeline& timeline, const TimelineLane& lane, const TimelineSlice& slice,
                         int top) {
  static const std::string kUnnamed = "(no name)";
  const std::string& name = slice.name < timeline.names.size() ? timeline.names[slice.name] : kUnnamed;
  const double span = static_cast<double>(timeline.end_ns - timeline.start_ns);
  const double from = std::clamp(100 * static_cast<double>(slice.start_ns - timeline.start_ns) / span, 0.0, 100.0);
  const double to =
      std::clamp(100 * static_cast<double>(slice.start_ns + slice.duration_ns - timeline.start_ns) / span, from, 100.0);
  std::string tip =
      fmt::format("{}: {} ({} ns) at {}", short_kernel_name(name), time_text(static_cast<double>(slice.duration_ns)),
                  slice.duration_ns, time_text(static_cast<double>(slice.start_ns - timeline.start_ns)));
  if (slice.merged > 1) tip += fmt::format("; stands for {} neighbours", slice.merged);
  const std::string colour = slice_colour(run, lane, name, slice.name);
  const double width = std::max(to - from, 0.01);
  if (width < kRoomForName)
    return fmt::format(
        "<rect class=\"{}\" x=\"{:.4f}%\" y=\"{}\" width=\"{:.4f}%\" height=\"{}\"><title>{}</title></rect>", colour,
        from, top, width, kBarPx, text(tip));
  return fmt::format(
      "<svg x=\"{:.4f}%\" y=\"{}\" width=\"{:.4f}%\" height=\"{}\"><title>{}</title><rect class=\"{}\" width=\"100%\" "
      "height=\"100%\"/><text class=\"in\" x=\"3\" y=\"13\">{}</text></svg>",
      from, top, width, kBarPx, text(tip), colour, text(cut(short_kernel_name(name), 40)));
}

}  // namespace

std::string timeline(const Run& run) {
  if (!run.timeline || run.timeline->lanes.empty() || run.timeline->end_ns <= run.timeline->start_ns)
    return section("timeline", "Timeline",
                   missing("Not captured: the run has no iteration with ranges or GPU work in it."));
  const Timeline& timeline = *run.timeline;
  const std::size_t lanes = std::min(kMaxLanes, timeline.lanes.size());
  const int height = kAxisPx + static_cast<int>(lanes) * kLanePx;
  std::string titles = "<div class=\"lanes\" aria-hidden=\"true\">", picture;
  std::size_t drawn = 0, left_out = timeline.slices_left_out;
  for (std::size_t i = 0; i < timeline.lanes.size(); ++i) {
    const TimelineLane& lane = timeline.lanes[i];
    if (i < lanes) titles += fmt::format("<span title=\"{0}\">{0}</span>", text(lane.title));
    for (const auto& slice : lane.slices) {
      if (i >= lanes || drawn >= kMaxSlices)
        ++left_out;
      else {
        picture += slice_markup(run, timeline, lane, slice, kAxisPx + static_cast<int>(i) * kLanePx);
        ++drawn;
      }
    }
  }
  const double span = static_cast<double>(timeline.end_ns - timeline.start_ns);
  std::string body = paragraph(fmt::format(
      "Shown: {}, {} from {:.6f} s of the capture.{}", timeline.what.empty() ? "one iteration" : timeline.what,
      time_text(span), static_cast<double>(timeline.start_ns) / 1e9,
      left_out > 0 ? fmt::format(" {} slices too small or too many to draw.", left_out) : ""));
  body +=
      "<div class=\"timeline\">" + titles +
      "</div><div class=\"zoom scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Timeline; plus and minus zoom\">" +
      fmt::format("<svg role=\"img\" aria-label=\"{} lanes over {}\" height=\"{}\">", lanes, time_text(span), height) +
      time_axis(span, height) + picture + "</svg></div></div>\n";
  return section("timeline", "Timeline", body);
}

}  // namespace nl::exporters::html

#include <fmt/core.h>

#include <algorithm>

#include "exporters/report/figure_text.h"
#include "exporters/report/html/html_text.h"
#include "exporters/report/html/sections.h"

namespace nl::exporters::html {
namespace {

constexpr std::size_t kMaxColumns = 200;

// Warm-up may take a hundred times as long: it must not flatten what was measured.
double scale_ns(const std::vector<Iteration>& list) {
  Ns measured = 0, all = 0;
  for (const auto& iteration : list) {
    all = std::max(all, iteration.wall_ns);
    if (!iteration.warmup) measured = std::max(measured, iteration.wall_ns);
  }
  return measured > 0 ? 1.15 * static_cast<double>(measured) : static_cast<double>(all);
}

std::string column(const Run& run, const Iteration& iteration, std::size_t number, double left, double width,
                   double scale) {
  std::string tip = fmt::format("iteration {}{}: {} ({} ns)", number, iteration.warmup ? ", warm-up" : "",
                                time_text(static_cast<double>(iteration.wall_ns)), iteration.wall_ns);
  for (const auto& [stage, ns] : iteration.stages)
    tip += fmt::format(", {} {}", stage, time_text(static_cast<double>(ns)));
  std::string out = fmt::format("<g{}><title>{}</title>", iteration.warmup ? " class=\"warmup\"" : "", text(tip));
  const double height = std::min(100.0, 100 * static_cast<double>(iteration.wall_ns) / scale);
  out += fmt::format("<rect class=\"s-idle\" x=\"{:.3f}%\" y=\"{:.3f}%\" width=\"{:.3f}%\" height=\"{:.3f}%\"/>", left,
                     100 - height, width, height);
  double foot = 100;
  for (const auto& [stage, ns] : iteration.stages) {
    if (stage == "decode_step" && iteration.stages.size() > 1) continue;  // inside decode
    const double part = std::min(std::max(0.0, 100 * static_cast<double>(ns) / scale), foot);
    foot -= part;
    out += fmt::format("<rect class=\"{}\" x=\"{:.3f}%\" y=\"{:.3f}%\" width=\"{:.3f}%\" height=\"{:.3f}%\"/>",
                       stage_colour(run, stage), left, foot, width, part);
  }
  return out + "</g>";
}

}  // namespace

std::string iterations(const Run& run) {
  const Iterations& all = run.iterations;
  if (all.count == 0 && all.rule.empty()) return {};
  std::string out =
      "<h3>Iterations</h3>" +
      paragraph(fmt::format("{} iterations, of which {} warm-up, left out of every figure here. Rule: {}.", all.count,
                            all.warmup, all.rule.empty() ? "none" : all.rule));
  const double scale = scale_ns(all.list);
  if (all.list.size() < 2 || scale <= 0) return out;
  const std::size_t shown = std::min(kMaxColumns, all.list.size());
  const double each = 100.0 / static_cast<double>(shown), width = std::min(each * 0.8, 3.2);
  out += fmt::format("<svg class=\"cols\" role=\"img\" aria-label=\"Wall time of {} iterations\">", shown);
  for (std::size_t i = 0; i < shown; ++i)
    out += column(run, all.list[i], i + 1, static_cast<double>(i) * std::min(each, 4.0), width, scale);
  out +=
      "</svg>\n<p class=\"muted small\">Wall time of each iteration, by stage; warm-up is pale and may be cut off at "
      "the top.";
  return out + (shown < all.count ? fmt::format(" The first {} of {}.</p>\n", shown, all.count) : "</p>\n");
}

}  // namespace nl::exporters::html

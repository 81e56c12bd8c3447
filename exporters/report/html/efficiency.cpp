#include <fmt/core.h>

#include <algorithm>

#include "exporters/report/counter_text.h"
#include "exporters/report/figure_text.h"
#include "exporters/report/html/html_table.h"
#include "exporters/report/html/html_text.h"
#include "exporters/report/html/sections.h"
#include "exporters/report/html/svg_bars.h"
#include "exporters/report/html/svg_roofline.h"
#include "model/words.h"

namespace nl::exporters::html {
namespace {

constexpr std::size_t kMaxPoints = 200;

std::string peaks_line(const Run& run) {
  if (!run.peaks) return missing("The peaks of the GPU are not known.");
  std::vector<std::string> roofs;
  for (const auto& [dtype, rate] : run.peaks->flops_per_s) roofs.push_back(dtype + " " + flops_rate_text(rate));
  return paragraph(fmt::format("Dense peaks of {}{}: {}; memory {}. Source: {}.", run.peaks->name,
                               run.peaks->derived ? " (derived, not from a table)" : "",
                               roofs.empty() ? "none known" : join(roofs), bytes_rate_text(run.peaks->bytes_per_s),
                               run.peaks->source)) +
         bullets(run.peaks->notes);
}

std::string bars(const Run& run) {
  std::string out;
  const auto row = [&](const std::string& stage, const char* what, const std::optional<double>& share,
                       const char* colour) {
    if (!share) return;
    const std::string tip = fmt::format("{} {}: {}", stage, what, utilisation_text(share));
    out += bar_row(fmt::format("{} <span class=\"muted\">{}</span>", text(stage), what),
                   whisker_bar(tip, *share, 0, 0, 1, colour, tip), text(utilisation_text(share)));
  };
  for (const auto& entry : run.efficiency) {
    row(entry.stage, "MFU", entry.mfu, "b-compute");
    row(entry.stage, "MBU", entry.mbu, "b-copy");
  }
  return out.empty() ? out
                     : "<div class=\"chart\">\n" + out +
                           "</div>\n<p class=\"muted small\">Share of the peak over the wall time; a full bar is the "
                           "hardware's limit.</p>\n";
}

std::string terms(const StageEfficiency& entry) {
  if (entry.terms.empty()) return {};
  Table table("Work of one window of " + entry.stage, {{"Term"}, {"Formula"}, {"FLOP", true}, {"Bytes", true}});
  for (const auto& term : entry.terms)
    table.add({text_cell(term.name),
               {fmt::format("<code>{}</code>", text(term.formula))},
               {flops_text(term.flops)},
               {bytes_text(term.bytes)}});
  table.foot({{"Sum"}, {""}, {flops_text(entry.flops)}, {bytes_text(entry.bytes)}});
  return fmt::format("<details data-print><summary>Work of one window of {}</summary>{}{}</details>\n",
                     text(entry.stage), table.markup(),
                     entry.assumptions.empty() ? "" : paragraph("Assumed: " + join(entry.assumptions, "; ") + "."));
}

Cell utilisation_cell(const std::optional<double>& share) {
  return share ? Cell(utilisation_text(share), *share) : text_cell("");
}
Cell word_cell(const std::optional<std::string>& word) { return text_cell(word.value_or("")); }
Cell word_cell(const std::optional<Bound>& bound) { return text_cell(bound ? std::string(key_of(*bound)) : ""); }

}  // namespace

std::string efficiency(const Run& run) {
  std::string body = peaks_line(run);
  if (run.efficiency.empty()) {
    body += missing(
        "MFU and MBU are not computed: the model's shape is not known. Name it with --model: a file of conf/model, or "
        "a Hugging Face config.json.");
    return section("efficiency", "How close to the hardware's limits", body + roofline(run));
  }
  Table table("MFU and MBU", {{"Stage"},
                              {"dtype"},
                              {"MFU", true},
                              {"MBU", true},
                              {"MFU, GPU busy", true},
                              {"MBU, GPU busy", true},
                              {"Achieved", true},
                              {"FLOP/B", true},
                              {"Ideal", true},
                              {"Limit"}});
  std::string details;
  for (const auto& entry : run.efficiency) {
    table.add({text_cell(entry.stage),
               text_cell(entry.dtype),
               utilisation_cell(entry.mfu),
               utilisation_cell(entry.mbu),
               utilisation_cell(entry.mfu_busy),
               utilisation_cell(entry.mbu_busy),
               {flops_rate_text(entry.flops_per_s)},
               figure_cell(entry.intensity),
               entry.ideal_ns ? time_cell(*entry.ideal_ns) : text_cell(""),
               word_cell(entry.limit)});
    if (!entry.note.empty()) details += paragraph(entry.stage + ": " + entry.note);
    details += terms(entry);
  }
  return section("efficiency", "How close to the hardware's limits",
                 body + bars(run) + table.markup() + details + roofline(run));
}

std::string roofline(const Run& run) {
  const std::string picture = roofline_picture(run);
  if (picture.empty() && run.roofline.points.empty() && run.roofline.notes.empty()) return {};
  std::string body = "<h3 id=\"roofline\">Roofline</h3>\n" + picture;
  const std::string by = run.kernels ? measured_by(*run.kernels) : std::string();
  Table table("Launches that " + (by.empty() ? "ncu" : by) + " measured", {{"#", true},
                                                                           {"Kernel"},
                                                                           {"Stage"},
                                                                           {"FLOP/B", true},
                                                                           {"Achieved", true},
                                                                           {"Roof", true},
                                                                           {"of roof", true},
                                                                           {"Precision"},
                                                                           {"Bound by"},
                                                                           {"Margin", true},
                                                                           {"Time", true}});
  table.sortable();
  const std::size_t shown = std::min(kMaxPoints, run.roofline.points.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const RooflinePoint& point = run.roofline.points[i];
    table.add({count_cell(i + 1),
               name_cell(point.kernel),
               word_cell(point.stage),
               figure_cell(point.intensity),
               {flops_rate_text(point.flops_per_s), point.flops_per_s},
               {flops_rate_text(point.roof_flops_per_s), point.roof_flops_per_s},
               share_cell(point.roof_share),
               text_cell(point.precision),
               word_cell(point.bound_by),
               point.margin ? Cell(fmt::format("{:.0f} points", *point.margin), *point.margin) : text_cell(""),
               time_cell(static_cast<double>(point.duration_ns))});
  }
  if (!table.empty()) body += table.markup();
  if (shown < run.roofline.points.size())
    body += paragraph(fmt::format("{} more launches in run.json.", run.roofline.points.size() - shown));
  return body + bullets(run.roofline.notes);
}

}  // namespace nl::exporters::html

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "exporters/detail/detail_json.h"
#include "exporters/report/html/html.h"
#include "exporters/report/reports.h"
#include "exporters/report/sections/sections.h"
#include "exporters/report/text/budget_bins.h"
#include "exporters/report/text/figure_text.h"
#include "exporters/report/text/links.h"
#include "exporters/report/text/markdown.h"
#include "exporters/report/text/run_text.h"
#include "model/glossary.h"
#include "model/stage.h"
#include "model/words.h"

namespace nl::exporters {
namespace {

using nlohmann::ordered_json;

enum class Medium : bool { kText, kPage };

// A page begins with pictures and links, a text with its sentences.
report::Document report_document(const Run& run, Medium medium) {
  using namespace report;
  const std::string title = run.name.empty() ? run.run_id : run.name;
  Document out{title.empty() ? "Run" : title, std::string(key_of(run.status)), facts(run), overview(run)};
  if (medium == Medium::kPage) out.sections = {first_screen(run), words(run)};
  else out.sections = {summary(run)};
  for (const auto section : {findings,  what_if,  serving,  measurement, stages,      budgets, step_time,   recurring_gaps,
                             host_code, evidence, timeline, activity,    efficiency,  session, operators,   layers,
                             kernels,   api,      overhead, energy,      abstentions, capture, environment, import_stats})
    out.sections.push_back(section(run));
  return out;
}

ordered_json counters_of(const report::KernelRow& row) {
  ordered_json out = ordered_json::array();
  for (const auto& column : report::counter_columns())
    if (const std::string value = column.read(row).text.spans.front().text; value != kNoValue)
      out.push_back({{"title", column.head.title}, {"value", value}});
  return out;
}

std::string proof_of(const NcuSample& sample) {
  std::string proof = fmt::format("{} measured launch {}", key_of(sample.measured_by), sample.ncu_id);
  std::string match(key_of(sample.matched_by));
  std::replace(match.begin(), match.end(), '_', ' ');
  if (sample.matched_by != KernelMatch::kNone) proof += fmt::format(", matched by {}, grid and block", match);
  if (sample.nsys_calls > 0)
    proof += fmt::format("; in the trace {} with a median of {}", plural(sample.nsys_calls, "launch", "launches"),
                         time_text(static_cast<double>(sample.nsys_median_ns)));
  if (sample.ncu_duration_ns) proof += fmt::format("; measured {}", time_text(static_cast<double>(*sample.ncu_duration_ns)));
  if (sample.durations_agree) proof += *sample.durations_agree ? "; the durations agree" : "; the durations do not agree";
  return proof;
}

// The point of the launch that its counters are of.
ordered_json roofline_of(const Run& run, const KernelEntry& kernel, const NcuSample* sample) {
  const auto& points = run.roofline.points;
  for (std::size_t i = 0; sample != nullptr && i < std::min(report::kListedPoints, points.size()); ++i)
    if (points[i].kernel == kernel.name && points[i].ncu_id == sample->ncu_id) return report::roofline_id(i);
  return nullptr;
}

ordered_json kernels_of(const Run& run) {
  ordered_json out = ordered_json::array();
  if (!run.kernels) return out;
  for (const WorkingKernel& each : report::listed_kernels(run)) {
    const report::KernelRow row = report::kernel_row(run, each);
    const KernelEntry& kernel = row.kernel;
    const NcuSample* sample = row.sample;
    out.push_back({{"id", report::kernel_id(each.index)},
                   {"name", html::plain(kernel.name)},
                   {"short", html::plain(readable_kernel_name(kernel.name))},
                   {"counters", counters_of(row)},
                   {"proof", sample == nullptr ? ordered_json() : ordered_json(proof_of(*sample))},
                   {"roofline", roofline_of(run, kernel, sample)},
                   {"note", sample == nullptr && kernel.ncu_note ? ordered_json(text_of(*kernel.ncu_note)) : ordered_json()}});
  }
  return out;
}

ordered_json bins_of() {
  ordered_json out = ordered_json::array();
  for (const BudgetBinKey& bin : kBudgetBinKeys)
    for (const report::BudgetBin& shown : report::kBudgetBins)
      if (shown.time == bin.time_ns)
        out.push_back({{"key", bin.key}, {"title", shown.label}, {"text", shown.meaning}, {"colour", fmt::format("b-{}", shown.key)}});
  return out;
}

// The table is written for docs/glossary.md: `aten::mm` is code there and [rules.md](rules.md) a link. A tip has no such marks.
std::string without_marks(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t end = text[i] == '[' ? text.find(']', i) : std::string_view::npos;
    const std::size_t close = end < text.size() - 1 && text[end + 1] == '(' ? text.find(')', end) : std::string_view::npos;
    if (close != std::string_view::npos) {
      out += text.substr(i + 1, end - i - 1);
      i = close;
    } else if (text[i] != '`') {
      out += text[i];
    }
  }
  return out;
}

// By term, and by every other name that it goes by.
ordered_json glossary_of() {
  ordered_json out = ordered_json::object();
  for (const GlossaryEntry& entry : glossary()) {
    const std::string text = without_marks(glossary_text(entry));
    out[std::string(entry.term)] = text;
    for (std::string_view rest = entry.names; !rest.empty();) {
      const std::size_t end = std::min(rest.find('|'), rest.size());
      out[std::string(rest.substr(0, end))] = text;
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return out;
}

// By name of the timeline, its place in the list of kernels; kNone: no kernel is called so. Launch configurations are not known.
std::vector<std::uint32_t> put_kernels(const Run& run, Detail& detail) {
  std::unordered_map<std::string_view, KernelClass> kinds;
  if (run.kernels)
    for (const KernelEntry& kernel : *run.kernels) kinds.try_emplace(kernel.name, kernel.kind);
  std::vector<std::uint32_t> out(detail.names.size(), kNone);
  for (std::uint32_t i = 0; i < out.size(); ++i) {
    const auto found = kinds.find(detail.names[i]);
    if (found == kinds.end()) continue;
    out[i] = static_cast<std::uint32_t>(detail.kernels.size());
    detail.kernels.push_back({i, found->second, {0, 0, 0}, {0, 0, 0}, 0, 0});
  }
  return out;
}

// The run's one-iteration picture as the bytes of a detail file, for bundles that have none.
std::string detail_of_timeline(const Run& run) {
  if (!run.timeline) return {};
  const Timeline& timeline = *run.timeline;
  Detail detail;
  detail.timeline_only = true;
  detail.slices_left_out = timeline.slices_left_out;
  detail.start_ns = timeline.start_ns;
  detail.end_ns = timeline.end_ns;
  detail.names = timeline.names;
  const std::vector<std::uint32_t> kernels = put_kernels(run, detail);
  DetailWindow& window = detail.windows.emplace_back();
  window.start_ns = timeline.start_ns;
  window.end_ns = timeline.end_ns;
  for (const TimelineLane& lane : timeline.lanes) {
    DetailSlices& slices = window.lanes.emplace_back();
    slices.lane = static_cast<std::uint32_t>(detail.lanes.size());
    detail.lanes.push_back({lane.kind, lane.title, 0, 0, 0, 0});
    for (const TimelineSlice& slice : lane.slices) {
      DetailSlice& added = slices.slices.emplace_back(DetailSlice{slice.start_ns, slice.duration_ns, slice.name});
      if (lane.kind == LaneKind::kGpu && slice.name < kernels.size()) added.kernel = kernels[slice.name];
      added.merged = slice.merged;
    }
  }
  return detail_file(detail);
}

// In JSON a '<' stands in strings only, and nothing of a page begins without one.
std::string safe_in_page(const std::string& json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) c == '<' ? out += "\\u003c" : out += c;
  return out;
}

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

std::string report_markdown(const Run& run) { return markdown(report_document(run, Medium::kText)); }

std::string report_html(const Run& run, const PageParts& parts) {
  const std::string detail = parts.detail.empty() ? detail_of_timeline(run) : parts.detail;
  return html::page(
      report_document(run, Medium::kPage), "nl-stage " + run.software.nl_stage_version + " · run.json has every figure of this page",
      {{"detail-data", "application/gzip", base64(detail)}, {"page-data", "application/json", page_data(run, parts.trace_file)}});
}

std::string page_data(const Run& run, const std::string& trace_file) {
  const ordered_json data = {{"kernels", kernels_of(run)},
                             {"bins", bins_of()},
                             {"glossary", glossary_of()},
                             {"trace_file", trace_file.empty() ? ordered_json() : ordered_json(trace_file)}};
  return safe_in_page(data.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
}

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

#include "exporters/report/text/links.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

namespace nl::exporters::report {
namespace {

// The number in "/kernels/2/ncu/0" behind "/kernels/"; nothing where the pointer goes elsewhere.
std::optional<std::size_t> index_after(std::string_view pointer, std::string_view list) {
  if (!pointer.starts_with(list)) return std::nullopt;
  const std::string_view rest = pointer.substr(list.size());
  std::size_t index = 0;
  const auto [end, failed] = std::from_chars(rest.data(), rest.data() + rest.size(), index);
  const bool whole = failed == std::errc() && (end == rest.data() + rest.size() || *end == '/');
  return whole ? std::optional(index) : std::nullopt;
}

bool is_listed(const Run& run, std::size_t kernel) {
  const auto listed = listed_kernels(run);
  return std::any_of(listed.begin(), listed.end(), [&](const WorkingKernel& each) { return each.index == kernel; });
}

}  // namespace

std::vector<WorkingKernel> listed_kernels(const Run& run) {
  std::vector<WorkingKernel> list = working_kernels(run).list;
  if (list.size() > kListedKernels) list.resize(kListedKernels);
  return list;
}

// An id has no spaces in it, and a link no marks that mean something.
std::string stage_id(std::string_view stage) {
  std::string id = "stage-";
  for (const char c : stage) id += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' ? c : '-';
  return id;
}

std::string kernel_id(std::size_t index) { return fmt::format("kernel-{}", index + 1); }
std::string operator_id(std::size_t index) { return fmt::format("operator-{}", index + 1); }
std::string roofline_id(std::size_t index) { return fmt::format("roofline-{}", index + 1); }
std::string finding_id(std::size_t index) { return fmt::format("finding-{}", index + 1); }

std::string link_to(const Run& run, std::string_view pointer) {
  if (const auto stage = index_after(pointer, "/stages/"); stage && *stage < run.stages.size())
    return "#" + stage_id(run.stages[*stage].name);
  if (const auto kernel = index_after(pointer, "/kernels/"); kernel && is_listed(run, *kernel)) return "#" + kernel_id(*kernel);
  if (const auto point = index_after(pointer, "/roofline/points/"); point && *point < std::min(run.roofline.points.size(), kListedPoints))
    return "#" + roofline_id(*point);
  if (const auto entry = index_after(pointer, "/operators/0/entries/");
      entry && !run.operators.empty() && *entry < std::min(run.operators[0].entries.size(), kListedOperators))
    return "#" + operator_id(*entry);
  if (const auto stage = index_after(pointer, "/efficiency/"); stage && *stage < run.efficiency.size())
    return "#" + stage_id(run.efficiency[*stage].stage);
  return {};
}

bool shows_timeline(const Run& run) {
  return run.timeline && !run.timeline->lanes.empty() && run.timeline->end_ns > run.timeline->start_ns;
}

std::string link_to_moment(const Run& run, const FindingEvidence& evidence) {
  if (!evidence.window_start_ns || !evidence.window_end_ns || !shows_timeline(run)) return {};
  return fmt::format("#t={},{}", *evidence.window_start_ns, *evidence.window_end_ns);
}

}  // namespace nl::exporters::report

#include "exporters/report/text/links.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <utility>

#include "exporters/report/text/run_text.h"

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

// An id has no spaces in it, and a link no marks that mean something.
std::string id_of(const char* what, std::string_view stage) {
  std::string id = fmt::format("{}-", what);
  for (const char c : stage) id += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' ? c : '-';
  return id;
}

// What a page shows of a stage beside its row, by the part of the pointer behind it: "budget", "gaps/0".
std::string part_of_stage(const Run& run, const StageEntry& stage, std::string_view part) {
  const std::string_view field = part.substr(0, part.find('/'));
  if ((field == "budget" || field == "launch_waits") && stage.budget) return budget_id(stage.name);
  if (field == "activity" && stage.activity && stage.gpu_busy_ns) return gpu_time_id(stage.name);
  if (field == "host_code" && shows_host_code(run, stage)) return host_code_id(stage.name);
  if (field == "gaps" && shows_gaps(run, stage)) return gap_id(stage.name, index_after(part, "gaps/").value_or(0));
  if ((field == "counters" || field == "sampling") && shows_counters(stage)) return counters_id(stage.name);
  return stage_id(stage.name);
}

std::string link_to_stage(const Run& run, std::size_t index, std::string_view pointer) {
  const std::string self = fmt::format("/stages/{}", index);
  const std::string_view part = pointer.size() > self.size() ? pointer.substr(self.size() + 1) : std::string_view();
  return "#" + part_of_stage(run, run.stages[index], part);
}

// What stands for the run as a whole. A page always has these sections.
std::string link_to_section(const Run& run, std::string_view pointer) {
  static constexpr std::pair<std::string_view, const char*> kSections[] = {{"/stages", "#stages"},       {"/latency", "#stages"},
                                                                           {"/iterations", "#stages"},   {"/coverage", "#coverage"},
                                                                           {"/kernels", "#kernels"},     {"/perturbation", "#perturbation"},
                                                                           {"/energy", "#energy"},       {"/import_stats", "#import"},
                                                                           {"/operators", "#operators"}, {"/operator_steps", "#operators"}};
  if (pointer == "/phases" && !run.phases.phases.empty()) return "#phases";
  if (pointer.starts_with("/iterations") && shows_iterations(run)) return "#iterations";
  for (const auto& [part, link] : kSections)
    if (pointer == part || (pointer.starts_with(part) && pointer[part.size()] == '/')) return link;
  return {};
}

// The row of the kernel, which may be that of another GPU.
std::optional<std::size_t> row_of(const Run& run, std::size_t kernel) {
  if (!run.kernels || kernel >= run.kernels->size()) return std::nullopt;
  const KernelEntry& wanted = (*run.kernels)[kernel];
  std::optional<std::size_t> other;
  for (const WorkingKernel& each : listed_kernels(run)) {
    const KernelEntry& shown = (*run.kernels)[each.index];
    if (each.index == kernel) return kernel;
    if (!other && each.gpus > 1 && shown.name == wanted.name && shown.device != wanted.device) other = each.index;
  }
  return other;
}

}  // namespace

std::vector<WorkingKernel> listed_kernels(const Run& run) {
  std::vector<WorkingKernel> list = working_kernels(run).list;
  if (list.size() > kListedKernels) list.resize(kListedKernels);
  return list;
}

std::string stage_id(std::string_view stage) { return id_of("stage", stage); }
std::string budget_id(std::string_view stage) { return id_of("budget", stage); }
std::string gpu_time_id(std::string_view stage) { return id_of("gpu-time", stage); }
std::string counters_id(std::string_view stage) { return id_of("counters", stage); }
std::string host_code_id(std::string_view stage) { return id_of("host-code", stage); }
std::string gap_id(std::string_view stage, std::size_t index) { return fmt::format("{}-{}", id_of("gap", stage), index + 1); }

std::string limits_id(std::string_view stage) { return id_of("limits", stage); }
std::string kernel_id(std::size_t index) { return fmt::format("kernel-{}", index + 1); }
std::string operator_id(std::size_t index) { return fmt::format("operator-{}", index + 1); }
std::string roofline_id(std::size_t index) { return fmt::format("roofline-{}", index + 1); }
std::string finding_id(std::size_t index) { return fmt::format("finding-{}", index + 1); }

std::string link_to(const Run& run, std::string_view pointer) {
  if (const auto stage = index_after(pointer, "/stages/"); stage && *stage < run.stages.size()) return link_to_stage(run, *stage, pointer);
  if (const auto kernel = index_after(pointer, "/kernels/"))
    if (const auto row = row_of(run, *kernel)) return "#" + kernel_id(*row);
  if (const auto point = index_after(pointer, "/roofline/points/"); point && *point < std::min(run.roofline.points.size(), kListedPoints))
    return "#" + roofline_id(*point);
  if (const auto entry = index_after(pointer, "/operators/0/entries/");
      entry && !run.operators.empty() && *entry < std::min(run.operators[0].entries.size(), kListedOperators))
    return "#" + operator_id(*entry);
  if (const auto stage = index_after(pointer, "/efficiency/"); stage && *stage < run.efficiency.size())
    return "#" + limits_id(run.efficiency[*stage].stage);
  return link_to_section(run, pointer);
}

bool shows_timeline(const Run& run) {
  return run.timeline && !run.timeline->lanes.empty() && run.timeline->end_ns > run.timeline->start_ns;
}

std::string link_to_moment(const Run& run, Ns start_ns, Ns end_ns) {
  return shows_timeline(run) && end_ns > start_ns ? fmt::format("#t={},{}", start_ns, end_ns) : "";
}

std::string link_to_moment(const Run& run, const FindingEvidence& evidence) {
  return evidence.window_start_ns && evidence.window_end_ns ? link_to_moment(run, *evidence.window_start_ns, *evidence.window_end_ns) : "";
}

// What is true of every window is best seen in the one of median length. Evidence names the longest one, which need not be like the others.
std::string link_to_moment(const Run& run, const Finding& finding) {
  const std::optional<MedianStep>& step = run.median_step;
  if (step && finding.scope == RuleScope::kStage && finding.subject == step->stage)
    return link_to_moment(run, step->start_ns, step->start_ns + step->wall_ns);
  for (const FindingEvidence& evidence : finding.evidence)
    if (std::string link = link_to_moment(run, evidence); !link.empty()) return link;
  return {};
}

}  // namespace nl::exporters::report

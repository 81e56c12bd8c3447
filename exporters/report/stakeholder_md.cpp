#include <fmt/core.h>

#include <algorithm>

#include "exporters/report/reports.h"
#include "exporters/report/sections/executive_summary.h"
#include "exporters/report/sections/sections.h"
#include "exporters/report/text/markdown.h"
#include "exporters/report/text/run_text.h"
#include "model/glossary.h"
#include "model/run_metrics.h"
#include "model/words.h"

namespace nl::exporters {
namespace {

using namespace report;

constexpr std::size_t kTopRows = 5;

std::string about(const Run& run, const Finding& finding) {
  Finding brief = finding;
  if (finding.scope == RuleScope::kKernel) brief.subject = short_kernel_name(finding.subject);
  return scope_text(run, brief);
}

Text overlaps(const Run& run, const Recommendation& recommendation) {
  Text out;
  for (const Finding* other : recommendation.also) {
    out += Text(out.empty() ? "" : ", ") + code(other->rule);
    if (other->subject != recommendation.finding->subject) out += Text(" of " + about(run, *other));
    if (other->gain_share) out += Text(" (" + share_text(other->gain_share) + ")");
  }
  return out;
}

Section actions(const Run& run) {
  Section out{"", "", "Actions"};
  List list = action_list(run, true);
  if (list.items.empty()) {
    out.blocks = {Paragraph{"None. " + no_advice(run)}};
    return out;
  }
  const bool several = list.items.size() > 1;
  out.blocks = {std::move(list)};
  if (several) add(out.blocks, Paragraph{"Ordered by possible saving. Savings overlap; do not add them."});
  if (!run.abstentions.empty())
    out.blocks.emplace_back(Paragraph{plural(run.abstentions.size(), "rule was not evaluated", "rules were not evaluated") +
                                      " for lack of data; report.md names the commands that capture it."});
  return out;
}

Cell ms_cell(bool known, double ns) { return known ? ms_text(ns) : kNoValue; }

// A figure of which only the mean is known has no Std. What is missing is said in one line.
Section aggregates(const Run& run) {
  Table table{"Aggregates", {{"Metric"}, {"Mean", kRight}, {"Std", kRight}}};
  std::vector<std::string> unknown;
  const std::string label = source_label(run);
  const auto figure = [&](const std::string& what, const std::string& mean, Cell std = kNoValue) {
    if (mean == kNoValue) unknown.push_back(what);
    else table.rows.push_back({what, mean, std::move(std)});
  };
  const auto times = [&](const Headline& headline) {
    if (headline.unprofiled) figure(headline.what + ", unprofiled (ms)", ms_text(*headline.unprofiled));
    if (const TimeSummary* time = headline.times)
      figure(headline.what + ", traced (ms)", ms_text(time->mean_ns), ms_cell(time->count > 1, time->stddev_ns));
    else figure(headline.what + " (ms)", kNoValue);
  };
  if (has_iterations(run)) {
    figure("Iteration, unprofiled (ms)", ms_text(run.session->unprofiled.mean_ns),
           ms_cell(run.session->unprofiled.count > 1, run.session->unprofiled.stddev_ns));
    if (const TimeSummary& profiled = run.session->profiled; profiled.count > 0)
      figure("Iteration, profiled (ms)", ms_text(profiled.mean_ns), ms_cell(profiled.count > 1, profiled.stddev_ns));
  } else if (const StageEntry* unit = generates(run) ? nullptr : unit_stage(run); unit != nullptr) {
    const auto bare = unprofiled_ns(run, *unit);
    if (bare) figure("Time per " + unit_noun(run) + label + ", unprofiled (ms)", ms_text(*bare));
    figure("Time per " + unit_noun(run) + label + ", traced (ms)", ms_text(unit->wall.mean_ns),
           ms_cell(unit->wall.count > 1, unit->wall.stddev_ns));
  } else if (generates(run)) {
    times(first_token(run));
    times(per_token(run));
    const Headline rate = output_rate(run);
    if (rate.unprofiled) figure(rate.what + ", unprofiled", figure_text(rate.unprofiled));
    figure(rate.what + (rate.traced ? ", traced" : ""), figure_text(rate.traced));
  }
  std::optional<double> busy;
  if (const auto stage = main_stage(run); stage && stage->budget)
    busy = ratio(static_cast<double>(stage->budget->gpu_compute_ns), static_cast<double>(stage->budget->wall_ns));
  figure("GPU computing, longest stage" + label, share_text(busy));
  bool energy = !generates(run);
  for (const auto& stage : run.energy.stages)
    if (energy && stage.stage == run.workload.verdict.unit_stage && stage.joules_per_window)
      figure("Energy per " + unit_noun(run) + " (J)", figure_text(stage.joules_per_window));
  for (const auto& stage : run.energy.stages)
    if (stage.joules_per_token && generates(run))
      figure(figure_title("joules_per_token") + ", " + stage_title(run, stage.stage) + " (J)", figure_text(stage.joules_per_token)),
          energy = true;
  if (!energy && !has_iterations(run)) unknown.push_back(figure_title("joules_per_token") + " (J)");
  Section out{"", "", "Aggregates"};
  add(out.blocks, std::move(table));
  if (!unknown.empty()) add(out.blocks, Paragraph{"Not captured: " + join(unknown, "; ") + "."});
  return out;
}

Section timings(const Run& run) {
  Section out{"", "", "Per-Stage Timings (ms)"};
  if (run.stages.empty()) {
    out.blocks = {Paragraph{"No stage is marked in this capture. " + fix_of({Code::kNoStages})}};
    return out;
  }
  Table table{"Stages", {{"Stage"}, {"Mean", kRight}, {"Std", kRight}}};
  for (const auto& stage : run.stages)
    table.rows.push_back({stage_title(run, stage.name), ms_cell(stage.wall.count > 0, stage.wall.mean_ns),
                          ms_cell(stage.wall.count > 1, stage.wall.stddev_ns)});
  out.blocks = {table};
  if (run.iterations.warmup > 0)
    add(out.blocks, Paragraph{"Warm-up is left out: " + (run.iterations.rule.empty() ? "by rule" : run.iterations.rule) + "."});
  return out;
}

Section mfu(const Run& run) {
  Section out{"", "", "MFU"};
  if (run.efficiency.empty()) {
    out.blocks = {Paragraph{"Not computed: the model's shape or the GPU's peak is not known."}};
    return out;
  }
  Table table{"MFU", {{"Scope"}, {"MFU", kRight}, {"MBU", kRight}}};
  const auto whole = [&](const char* key) { return figure_value(run, key); };
  if (whole("mfu") || whole("mbu"))
    table.rows.push_back({generates(run) ? "the model: prefill and decode by their times" : "the model", utilisation_text(whole("mfu")),
                          utilisation_text(whole("mbu"))});
  for (const auto& entry : run.efficiency)
    table.rows.push_back({stage_title(run, entry.stage), utilisation_text(entry.mfu), utilisation_text(entry.mbu)});
  out.blocks = {table};
  add(out.blocks, notes(efficiency_notes(run, true)));
  add(out.blocks,
      Paragraph{std::string("MFU is the share of the GPU's peak arithmetic that the model's own work uses, MBU that of its memory rate.") +
                (generates(run) ? " Memory limits decoding, so a low MFU is usual there." : "")});
  if (run.peaks && run.peaks->derived) add(out.blocks, Paragraph{"The peak is estimated from the GPU's clock; no data sheet was used."});
  return out;
}

Item takeaway(const Run& run, const StageEntry& stage) {
  std::string text = stage.wall.count > 0 ? rough_time(stage.wall.mean_ns) + " on average" : "no complete window";
  if (stage.tokens_per_s && generates(run)) text += fmt::format(", {} tokens per second", rough_count(*stage.tokens_per_s));
  if (stage.budget && stage.budget->wall_ns > 0) {
    const auto share = [&](Ns ns) { return rough_share(static_cast<double>(ns) / static_cast<double>(stage.budget->wall_ns)); };
    text += fmt::format("; the GPU computes for {} of it and waits for its next work for {}", share(stage.budget->gpu_compute_ns),
                        share(stage.budget->launch_wait_ns()));
  }
  if (const std::string host = host_clause(stage); !host.empty() && !told_by_its_parts(run, stage)) text += "; " + host;
  if (const StageEfficiency* entry = efficiency_of(run, stage.name); entry != nullptr && entry->ideal_ns && entry->limit)
    text += fmt::format("; at the hardware's limit ({}) it takes {}", key_of(*entry->limit), rough_time(*entry->ideal_ns));
  return {strong(stage_title(run, stage.name)) + Text(": " + text + ".")};
}

// How busy the longest stage keeps what the GPU is bought for; empty where nothing of it was measured.
std::string busy_units(const Run& run) {
  const auto main = main_stage(run);
  const StageEntry* stage = main ? stage_named(run, main->name) : nullptr;
  if (stage == nullptr) return {};
  const bool counted = stage->counters && stage->counters->windows > 0;
  const std::optional<double> none;
  const auto& memory = counted ? stage->counters->values[Metric::kDram] : stage->sampling ? stage->sampling->values[Metric::kDram] : none;
  const auto& matrix = counted           ? stage->counters->values[Metric::kTensor]
                       : stage->sampling ? stage->sampling->values[Metric::kTensor]
                                         : none;
  std::vector<std::string> parts;
  if (memory) parts.push_back(fmt::format("the memory at {} of its peak rate", rough_share(*memory / 100)));
  if (matrix)  // counted, it is a share of the SMs' active cycles
    parts.push_back(fmt::format("the matrix units for {} of the {}", rough_share(*matrix / 100), counted ? "computing time" : "time"));
  if (parts.empty()) return {};
  return sentence(
      fmt::format("{} uses {} (GPU {})", plain_stage(run, stage->name), join(parts, " and "), counted ? "counters" : "samples"));
}

Section takeaways(const Run& run) {
  Section out{"", "", "Stage Takeaways"};
  List list;
  bool gpu = false;
  for (const auto& stage : run.stages) {
    list.items.push_back(takeaway(run, stage));
    gpu = gpu || stage.budget.has_value();
  }
  if (list.items.empty()) add(out.blocks, Paragraph{"None: no stage is marked."});
  const bool any = !list.items.empty();
  add(out.blocks, std::move(list));
  if (any && !gpu) add(out.blocks, Paragraph{"GPU work in the stages: not captured."});
  if (any) add(out.blocks, Paragraph{busy_units(run)});
  return out;
}

Section top_operators(const Run& run) {
  Section out{"", "", "Top Operators"};
  const OperatorTable* source = main_operators(run);
  if (source == nullptr) {
    out.blocks = {not_captured(run.operators_note, "the capture holds no operators")};
    return out;
  }
  Table table{"Operators", {{"Operator"}, {"GPU ms", kRight}, {"Host ms", kRight}, {"Calls", kRight}}};
  for (std::size_t i = 0; i < std::min(kTopRows, source->entries.size()); ++i) {
    const OperatorEntry& op = source->entries[i];
    table.rows.push_back({op.name, ms_cell(op.cuda_self_ns.has_value(), static_cast<double>(op.cuda_self_ns.value_or(0))),
                          ms_cell(op.host_time_known, static_cast<double>(op.self_ns)), count_cell(op.calls)});
  }
  out.blocks = {table};
  return out;
}

Section top_kernels(const Run& run) {
  Section out{"", "", "Top Kernels"};
  if (!run.kernels || run.kernels->empty()) {
    out.blocks = {no_kernels(run)};
    return out;
  }
  const WorkingKernels working = working_kernels(run);
  std::vector<KernelRow> rows;
  for (std::size_t i = 0; i < std::min(kTopRows, working.list.size()); ++i) rows.push_back(kernel_row(run, working.list[i]));
  auto columns = picked(kernel_columns(run), {{"GPU ms", "total", ms_text}, {"Share", "share"}, {"Calls", "calls"}, {"GPU", "gpu"}});
  columns.insert(columns.begin(),
                 ColumnOf<KernelRow>{{"Kernel"}, [](const KernelRow& row) { return Text(row.kernel.name, Inline::kShortName); }});
  if (!several_gpus(*run.kernels)) columns.pop_back();
  add(out.blocks, Paragraph{working_kernels_note(run, working)});
  add(out.blocks, table_of("Kernels", columns, rows));
  return out;
}

// For those who look something up: what the sentences above leave out.
Section appendix(const Run& run) {
  Section out{"", "", "Appendix"};
  Table table{"The findings behind the actions",
              {{"Action", kRight}, {"Rule"}, {"About"}, {"Severity"}, {"Confidence", kRight}, {"Overlaps with"}}};
  for (const auto& each : recommendations(run, kMostActions)) {
    const Finding& finding = *each.finding;
    table.rows.push_back({std::to_string(table.rows.size() + 1), Cell(code(finding.rule)), about(run, finding),
                          std::string(key_of(finding.severity)), fmt::format("{:.0f} %", finding.confidence * 100),
                          Cell(overlaps(run, each))});
  }
  add(out.blocks, std::move(table));
  List terms;
  using Terms = std::vector<const char*>;
  for (const char* term : generates(run) ? Terms{"token", "prefill", "decode", "MFU", "MBU"} : Terms{"MFU", "MBU"})
    if (const GlossaryEntry* entry = glossary_entry(term)) terms.items.push_back({strong(term) + Text(": " + glossary_text(*entry))});
  add(out.blocks, std::move(terms));
  Table names{"Kernel names", {{"Kernel", kRight}, {"Full name"}}};
  const WorkingKernels working = working_kernels(run);
  for (std::size_t i = 0; i < std::min(kTopRows, working.list.size()); ++i)
    names.rows.push_back({std::to_string(i + 1), Cell(code((*run.kernels)[working.list[i].index].name))});
  add(out.blocks, std::move(names));
  add(out.blocks, Paragraph{(run.run_id.empty() ? Text() : Text("Run ") + code(run.run_id) + Text(". ")) +
                            Text("run.json has every figure of this page.")});
  return out;
}

}  // namespace

std::string stakeholder_markdown(const Run& run) {
  const std::string title = run.name.empty() ? run.run_id : run.name;
  Document document{(title.empty() ? "Run" : title) + ": summary", "", {}, {notes(executive_summary(run))}};
  for (const auto section : {actions, setting, aggregates, timings, mfu, takeaways, top_operators, top_kernels, appendix})
    document.sections.push_back(section(run));
  return markdown(document);
}

}  // namespace nl::exporters

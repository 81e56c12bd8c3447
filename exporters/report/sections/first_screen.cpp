#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "exporters/report/sections/executive_summary.h"
#include "exporters/report/sections/sections.h"
#include "exporters/report/text/budget_bins.h"
#include "exporters/report/text/links.h"
#include "exporters/report/text/operator_text.h"
#include "exporters/report/text/prediction_text.h"
#include "exporters/report/text/run_text.h"
#include "exporters/report/text/step_strip.h"

// What a page shows before its words: where the time of the median step goes, what is predicted of it, and what to do.
namespace nl::exporters::report {
namespace {

constexpr double kDiffersBy = 0.01;   // of a window: by so much a bin of the median one differs from that of all
constexpr double kTracerSays = 0.02;  // of a window: a smaller part of the tracer is not said
constexpr std::size_t kMostTypes = 5;

// The prediction of this stage, where there is one that makes it shorter.
const Prediction* predicted_for(const Run& run, const std::string& stage) {
  if (!run.what_if || run.what_if->stage != stage || run.what_if->sequence.empty() || !run.what_if->then) return nullptr;
  const Prediction& last = run.what_if->sequence.back();
  return last.refused ? nullptr : &last;
}

// "All 124 together: GPU compute 7.9 %, launch-starved 59.2 %." Where they are as the median one, its bar says it.
std::string all_windows_text(const MedianStep& step, const StageEntry& stage) {
  if (!step.budget || !stage.budget || step.windows < 2) return {};
  std::vector<std::string> parts;
  double most = 0;
  for (const BudgetBin& bin : kBudgetBins) {
    const double here = part_of(*step.budget.*bin.time, step.budget->wall_ns).value_or(0);
    const double all = part_of(*stage.budget.*bin.time, stage.budget->wall_ns).value_or(0);
    most = std::max(most, std::abs(here - all));
    if (all >= kDiffersBy) parts.push_back(fmt::format("{} {}", bin.label, share_text(all)));
  }
  return most < kDiffersBy ? "" : fmt::format(" All {} together: {}.", count_text(step.windows), join(parts));
}

Paragraph step_caption(const Run& run, const MedianStep& step) {
  const std::string title = stage_title(run, step.stage);
  Paragraph out{muted(fmt::format("{} of median length of {} measured, as captured.", title, count_text(step.windows))), Role::kCaption};
  if (const StageEntry* stage = stage_named(run, step.stage); stage != nullptr) out.text += muted(all_windows_text(step, *stage));
  if (step.gpus_left_out > 0) out.text += muted(fmt::format(" {} not drawn.", plural(step.gpus_left_out, "more GPU is", "more GPUs are")));
  if (const std::string moment = link_to_moment(run, step.start_ns, step.start_ns + step.wall_ns); !moment.empty())
    out.text += Text(" ") + Text("Show it in the timeline", Inline::kPlain, moment) + Text(".");
  if (step.budget) out.text += Text(" ") + Text("All stages", Inline::kPlain, "#budget") + Text(".");
  return out;
}

Paragraph predicted_caption(const Prediction& predicted) {
  std::string text = fmt::format("Predicted by a replay of the trace, after {}", changes_text(predicted));
  if (predicted.unperturbed_ns < (1 - kTracerSays) * predicted.measured_ns)
    text += fmt::format("; without the profiler it takes {} now", time_text(predicted.unperturbed_ns));
  text += predicted.ceiling ? ". The length is the least that is possible." : ". The line is the interval.";
  return {muted(text + " ") + Text("What if", Inline::kPlain, "#what-if") + Text("."), Role::kCaption};
}

void add_predicted(const Run& run, const std::string& stage, StripChart& chart) {
  if (const Prediction* predicted = predicted_for(run, stage); predicted != nullptr)
    add_window(chart, "predicted", *run.what_if->then, predicted);
}

void add_step_picture(const Run& run, const MedianStep& step, Section& out) {
  out.title = "The median " + stage_title(run, step.stage);
  StripChart chart;
  add_step(chart, "median", step);
  add_predicted(run, step.stage, chart);
  out.blocks.emplace_back(Figure(std::move(chart)));
  if (step.budget) out.blocks.emplace_back(budget_legend({&*step.budget}));
  if (!step.host.empty()) out.blocks.emplace_back(host_legend());
  out.blocks.emplace_back(step_caption(run, step));
  if (const Prediction* predicted = predicted_for(run, step.stage); predicted != nullptr)
    out.blocks.emplace_back(predicted_caption(*predicted));
}

// Of a run.json before 3.8: what a replay made of the step.
void add_replayed_picture(const Run& run, Section& out) {
  const std::string title = stage_title(run, run.what_if->stage);
  out.title = "The median " + title;
  StripChart chart;
  add_window(chart, "now", *run.what_if->now);
  add_predicted(run, run.what_if->stage, chart);
  out.blocks = {Figure(std::move(chart)), replay_legend(), caption(title + " of median length, without the tracer's part.")};
}

// Of a capture without GPU work: the stages of the median iteration, as they follow each other.
void add_iteration_picture(const Run& run, Section& out) {
  const Timeline& timeline = *run.timeline;
  const auto length_ns = static_cast<double>(timeline.end_ns - timeline.start_ns);
  StripChart chart{length_ns, "Stages of " + timeline.what, {{"stages", time_text(length_ns), length_ns, {}}}};
  Legend legend{{}, false, "Stages"};
  for (const TimelineLane& lane : timeline.lanes) {
    if (lane.kind != LaneKind::kRanges) continue;
    StripChart::Lane drawn{lane.title, {}};
    for (const TimelineSlice& slice : lane.slices) {
      const std::string& name = timeline.names[slice.name];
      if (stage_named(run, name) == nullptr) continue;
      const auto at_ns = static_cast<double>(slice.start_ns - timeline.start_ns), took_ns = static_cast<double>(slice.duration_ns);
      const std::string colour = stage_colour(run, name), title = stage_title(run, name);
      drawn.parts.push_back(
          {at_ns, at_ns + took_ns, colour, fmt::format("{}: {}, from {}", title, time_text(took_ns), time_text(at_ns)), title});
      const bool known = std::any_of(legend.entries.begin(), legend.entries.end(), [&](const auto& each) { return each.name == title; });
      if (!known) legend.entries.push_back({colour, title, ""});
    }
    if (!drawn.parts.empty()) chart.strips[0].lanes.push_back(std::move(drawn));
  }
  if (chart.strips[0].lanes.empty()) return;
  out.title = "The median iteration";
  out.blocks = {Figure(std::move(chart)), std::move(legend),
                caption(timeline.what + ". The capture holds no GPU work, so there is no budget of the GPU.")};
}

// Of a model file: its operators by type.
void add_operator_picture(const OperatorStep& step, Section& out) {
  const std::vector<TypeTime> types = times_by_type(step);
  Ns all_ns = 0;
  for (const TypeTime& type : types) all_ns += type.own_ns;
  if (all_ns <= 0) return;
  const auto whole_ns = static_cast<double>(all_ns);
  Bar bar{"", "", {}, whole_ns, "", "Operators of one iteration: " + time_text(whole_ns)};
  Legend legend{{}, false, "Operators"};
  Ns rest_ns = all_ns;
  const auto put = [&](const std::string& colour, const std::string& name, Ns ns) {
    const std::string share = share_text(part_of(ns, all_ns));
    bar.segments.push_back(
        {static_cast<double>(ns), colour, fmt::format("{}: {}, {}", name, time_text(static_cast<double>(ns)), share), share});
    bar.spoken += fmt::format(", {} {}", name, share);
    legend.entries.push_back({colour, name, share});
  };
  for (std::size_t i = 0; i < std::min(kMostTypes, types.size()); ++i) {
    put(fmt::format("s-{}", i), std::string(key_of(types[i].type)), types[i].own_ns);
    rest_ns -= types[i].own_ns;
  }
  if (rest_ns > 0) put("s-other", "other operators", rest_ns);
  out.title = fmt::format("Operators of one {}", step.stage.empty() ? "iteration" : step.stage);
  BarChart chart;
  chart.bars.push_back(std::move(bar));
  out.blocks = {Figure(std::move(chart)), std::move(legend), caption("Own time of the operators of one iteration, by type.")};
}

void add_picture(const Run& run, Section& out) {
  const bool drawn = run.median_step && (run.median_step->budget || !run.median_step->host.empty());
  if (drawn) return add_step_picture(run, *run.median_step, out);
  if (run.what_if && run.what_if->now && run.what_if->now->length_ns > 0) return add_replayed_picture(run, out);
  if (const OperatorStep* step = model_step(run); step != nullptr) add_operator_picture(*step, out);
  if (out.blocks.empty() && run.timeline && run.timeline->end_ns > run.timeline->start_ns) add_iteration_picture(run, out);
  if (out.blocks.empty()) out.blocks = {missing("No step to draw: the capture has no stage with a measured window.")};
}

// What the finding is about, where it is no moment: the row of its kernel or operator.
std::string subject_link(const Run& run, const Finding& finding) {
  if (finding.scope != RuleScope::kKernel && finding.scope != RuleScope::kOperator) return {};
  for (const FindingEvidence& each : finding.evidence)
    if (const std::string link = link_to(run, each.reference); !link.empty()) return link;
  return {};
}

void add_link(Text& text, const char* words, const std::string& target) {
  if (!target.empty()) text += Text(" · ") + Text(words, Inline::kPlain, target);
}

// Each with its finding and the moment that shows it. What has no moment of its own is in every step: then it is the median one.
List linked_actions(const Run& run) {
  List list{{}, true};
  for (const Recommendation& each : recommendations(run, kMostActions)) {
    const Finding& finding = *each.finding;
    const std::string action = action_text(run, finding), own = link_to_moment(run, finding);
    Text item = strong(sentence(action.empty() ? "Fix " + finding.rule : action)) + Text(" " + worth_sentence(run, finding) + " ");
    const auto index = static_cast<std::size_t>(&finding - run.findings.data());
    item += Text(fmt::format("Finding {}", index + 1), Inline::kPlain, "#" + finding_id(index));
    if (!own.empty()) add_link(item, "its moment", own);
    else if (run.median_step)
      add_link(item, "the median step",
               link_to_moment(run, run.median_step->start_ns, run.median_step->start_ns + run.median_step->wall_ns));
    add_link(item, finding.scope == RuleScope::kKernel ? "its kernel" : "its operator", subject_link(run, finding));
    list.items.push_back({std::move(item)});
  }
  return list;
}

}  // namespace

Section first_screen(const Run& run) {
  Section out{"first", "Median step", "The median step", {}, true};
  add_picture(run, out);
  const List actions = linked_actions(run);
  if (actions.items.empty()) {
    add(out.blocks, Paragraph{no_advice(run)});
  } else {
    out.blocks.emplace_back(Heading{"Actions, by what they save. Savings overlap; do not add them."});
    out.blocks.emplace_back(actions);
  }
  for (Block& block : headline_tiles(run)) out.blocks.push_back(std::move(block));
  return out;
}

}  // namespace nl::exporters::report

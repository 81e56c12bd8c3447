#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "exporters/report/sections/sections.h"
#include "exporters/report/text/prediction_text.h"
#include "exporters/report/text/run_text.h"
#include "exporters/report/text/step_strip.h"

namespace nl::exporters::report {
namespace {

void add_strips(const Run& run, Blocks& blocks) {
  const WhatIf& result = *run.what_if;
  const std::string stage = stage_title(run, result.stage);
  StripChart chart;
  chart.label = "One " + stage;
  if (result.now) add_window(chart, "now", *result.now);
  if (result.then && !result.sequence.empty()) add_window(chart, "after", *result.then);
  if (chart.strips.empty()) return;
  const bool both = chart.strips.size() > 1;
  blocks.emplace_back(Figure(std::move(chart)));
  blocks.emplace_back(replay_legend());
  blocks.emplace_back(caption(both ? fmt::format("One {} of median length without the tracer's part, and the same one after {}.", stage,
                                                 changes_text(result.sequence.back()))
                                   : fmt::format("One {} of median length, without the tracer's part.", stage)));
}

Bar whole_window(const char* name, double ns, double whole_ns, const std::string& figure) {
  return {name, "", {{ns, "w-side", fmt::format("{}: {}", name, figure)}}, whole_ns, figure, fmt::format("{}: {}", name, figure)};
}

// From now to what is left: each bar begins where the last one ended. The line at the end is the interval.
BarChart sequence_chart(const std::vector<Prediction>& sequence) {
  const double now_ns = sequence.front().unperturbed_ns;
  const Prediction& last = sequence.back();
  double whole_ns = std::max(now_ns, last.ceiling ? 0 : last.high_ns);
  for (const Prediction& each : sequence) whole_ns = std::max(whole_ns, each.predicted_ns);
  BarChart chart;
  chart.bars.push_back(whole_window("now", now_ns, whole_ns, time_text(now_ns)));
  double before_ns = now_ns;
  for (const Prediction& each : sequence) {
    const std::string name = each.changes.empty() ? changes_text(each) : each.changes.back();
    const double change_ns = each.predicted_ns - before_ns;
    const std::string figure = (change_ns <= 0 ? "−" : "+") + time_text(std::abs(change_ns)), tip = name + ": " + figure;
    chart.bars.push_back(
        {name,
         "",
         {{std::min(before_ns, each.predicted_ns), "w-gap"}, {std::abs(change_ns), change_ns <= 0 ? "w-less" : "w-more", tip}},
         whole_ns,
         figure,
         tip});
    before_ns = each.predicted_ns;
  }
  chart.bars.push_back(whole_window("after all", last.predicted_ns, whole_ns, time_text(last.predicted_ns)));
  chart.bars.back().detail = predicted_interval(last);  // beside the figure it would make this bar shorter than the others
  chart.bars.back().spoken += fmt::format(" ({})", predicted_interval(last));
  if (!last.ceiling) {
    chart.bars.back().tick = last.low_ns;
    chart.bars.back().far = last.high_ns;
  }
  return chart;
}

// Each stage with the tracer, without its part, and unprofiled; empty where the tracer's part is not known.
Table stage_table(const Run& run) {
  Table table{"Stages without the profiler",
              texts({"Stage"}) + numbers({"Traced, ms", "Without the tracer, ms", "Interval, ms", "Unprofiled, ms"})};
  bool any = false;
  for (const Prediction& each : run.what_if->stages) {
    const StageEntry* stage = stage_named(run, each.stage);
    const auto bare = stage != nullptr ? unprofiled_ns(run, *stage) : std::nullopt;
    any = any || bare || each.unperturbed_ns < 0.98 * each.measured_ns;
    table.rows.push_back({stage_title(run, each.stage), ms_text(each.measured_ns), ms_text(each.predicted_ns),
                          fmt::format("{} to {}", ms_text(each.low_ns), ms_text(each.high_ns)), bare ? ms_text(*bare) : kNoValue});
  }
  if (!any) table.rows.clear();
  return table;
}

}  // namespace

Section what_if(const Run& run) {
  Section out{"what-if", "What if", "What a change would bring"};
  if (!run.what_if) return out;
  const WhatIf& result = *run.what_if;
  if (const std::string lead = what_if_lead(result, stage_title(run, result.stage)); !lead.empty())
    out.blocks = {Paragraph{lead}, Paragraph{replay_text(result)}};
  if (Table stages = stage_table(run); !stages.rows.empty()) add(out.blocks, std::move(stages));
  add_strips(run, out.blocks);
  std::vector<Prediction> made = result.predictions, sequence = result.sequence;
  for (auto* list : {&made, &sequence}) std::erase_if(*list, [](const Prediction& each) { return each.refused.has_value(); });
  add(out.blocks, prediction_table(made));
  if (result.predictions.empty()) add(out.blocks, Paragraph{kNoChangeSaves});
  if (!sequence.empty()) {
    if (sequence.size() > 1) add(out.blocks, Paragraph{sequence_text(sequence)});
    out.blocks.emplace_back(Figure(sequence_chart(sequence)));
  }
  if (List list = assumption_list(made); !list.items.empty()) {
    add(out.blocks, Paragraph{"The predictions take for granted:"});
    add(out.blocks, std::move(list));
  }
  add(out.blocks, Paragraph{refusals_text(result.predictions)});
  return out;
}

}  // namespace nl::exporters::report

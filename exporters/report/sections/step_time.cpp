#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "exporters/report/sections/sections.h"
#include "exporters/report/text/run_text.h"
#include "model/words.h"

namespace nl::exporters::report {
namespace {

struct KindTime {
  KernelClass kind = KernelClass::kOther;
  double time_ns = 0, calls = 0;  // of one window
};

constexpr std::array<const char*, kKernelClasses> kKindTexts = {"matrix multiplication", "attention",       "elementwise",
                                                                "copies in kernels",     "KV cache writes", "reductions",
                                                                "normalisation",         "communication",   "other kernels"};

// What fills a cache in generation joins tensors or writes parts of them elsewhere.
const char* text_of_kind(bool generating, KernelClass kind) {
  return kind == KernelClass::kCacheCopy && !generating ? "joining and indexed writes" : kKindTexts[static_cast<std::size_t>(kind)];
}
std::string colour_of_kind(KernelClass kind) { return fmt::format("k-{}", std::string(key_of(kind))); }

// What a measured window of the stage launches, most time first; nothing where no kernel tells.
std::vector<KindTime> kinds_of(const Run& run, const StageEntry& stage) {
  std::array<KindTime, kKernelClasses> sums;
  const auto windows = static_cast<double>(stage.wall.count);
  for (const KernelEntry& kernel : *run.kernels) {
    const StageLaunches* launches = launches_in(kernel, stage.name);
    if (launches == nullptr || windows <= 0) continue;
    KindTime& sum = sums[static_cast<std::size_t>(kernel.kind)];
    sum.time_ns += static_cast<double>(launches->total_ns) / windows;
    sum.calls += static_cast<double>(launches->calls) / windows;
  }
  std::vector<KindTime> kinds;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i].kind = static_cast<KernelClass>(i);
    if (sums[i].calls > 0) kinds.push_back(sums[i]);
  }
  std::stable_sort(kinds.begin(), kinds.end(), [](const KindTime& a, const KindTime& b) { return a.time_ns > b.time_ns; });
  return kinds;
}

double kinds_total(const std::vector<KindTime>& kinds) {
  double sum_ns = 0;
  for (const KindTime& kind : kinds) sum_ns += kind.time_ns;
  return sum_ns;
}

// Kernels may overlap each other, and run on after their window: then the bar is theirs, not the window's.
Bar kind_bar(const Run& run, const StageEntry& stage, const std::vector<KindTime>& kinds, bool generating) {
  const std::string title = stage_title(run, stage.name);
  const double kernels_ns = kinds_total(kinds), whole_ns = std::max(kernels_ns, stage.wall.mean_ns);
  Bar bar{title, "", {}, whole_ns, time_text(stage.wall.mean_ns), fmt::format("{}: {}", title, time_text(stage.wall.mean_ns)), 0, 0};
  for (const KindTime& kind : kinds) {
    const std::string share = share_text(ratio(kind.time_ns, whole_ns));
    bar.segments.push_back({kind.time_ns, colour_of_kind(kind.kind),
                            fmt::format("{}: {}, {}", text_of_kind(generating, kind.kind), time_text(kind.time_ns), share), share});
    bar.spoken += fmt::format(", {} {}", text_of_kind(generating, kind.kind), share);
  }
  return bar;
}

Table kind_table(const Run& run, const StageEntry& stage, const std::vector<KindTime>& kinds, bool generating) {
  const std::string title = stage_title(run, stage.name);
  Table table{
      "Kinds of kernels in a " + title,
      texts({"Kernels of one " + title}) + numbers({"Per window", "of wall", "of the kernels", "Calls"}) + numbers({"per token"}, kWide)};
  const double kernels_ns = kinds_total(kinds);
  const auto tokens = stage.tokens_per_window;
  const auto row = [&](const char* what, double time_ns, double calls) -> Row {
    return {what,
            time_cell(time_ns),
            share_cell(ratio(time_ns, stage.wall.mean_ns)),
            share_cell(ratio(time_ns, kernels_ns)),
            {fmt::format("{:.1f}", calls), calls},
            time_cell_if(tokens.value_or(0) > 0, time_ns / std::max(tokens.value_or(1), 1e-9))};
  };
  double calls = 0;
  for (const KindTime& kind : kinds) {
    table.rows.push_back(row(text_of_kind(generating, kind.kind), kind.time_ns, kind.calls));
    table.rows.back()[0].colour = colour_of_kind(kind.kind);
    table.rows.back().data = {{"kind", std::string(key_of(kind.kind))}};
    calls += kind.calls;
  }
  table.foot = {row("All kernels", kernels_ns, calls)};
  if (!generating) drop_columns(table, {"per token"});
  table.sortable = true;
  table.name = "kinds";
  return table;
}

// Decode by its steps, if it has any; each stage once.
std::vector<const StageEntry*> told_stages(const Run& run) {
  std::vector<const StageEntry*> out;
  for (const StageEntry& stage : run.stages)
    if (stage.wall.count > 0 && !told_by_its_parts(run, stage)) out.push_back(&stage);
  return out;
}

void add_kinds(const Run& run, Blocks& blocks) {
  if (!run.kernels) return;
  const bool generating = generates(run);  // which looks at every stage
  BarChart chart;
  Blocks tables;
  for (const StageEntry* stage : told_stages(run)) {
    const std::vector<KindTime> kinds = kinds_of(run, *stage);
    if (kinds.empty()) continue;
    chart.bars.push_back(kind_bar(run, *stage, kinds, generating));
    tables.emplace_back(kind_table(run, *stage, kinds, generating));
  }
  if (chart.bars.empty()) return;
  blocks.emplace_back(Paragraph{"Kernels by what they do, as their names tell; the mean of the measured windows."});
  blocks.emplace_back(Figure(std::move(chart)));
  blocks.emplace_back(caption("What is left of a bar is time without a kernel."));
  blocks.insert(blocks.end(), tables.begin(), tables.end());
}

struct Left {
  const char* what;
  double time_ns;
  const char* colour;
  std::string why;
};

// What remains of a window when one cause after the other is taken away. The roof is not a promise: it is a bound of what kernels can do.
std::vector<Left> waterfall_of(const Run& run, const StageEntry& stage) {
  std::vector<Left> left;
  const auto windows = static_cast<double>(stage.wall.count);
  if (!stage.budget || windows <= 0) return left;
  const double wall_ns = static_cast<double>(stage.budget->wall_ns) / windows;
  const double busy_ns = static_cast<double>(stage.budget->busy_ns()) / windows;
  const double fed_ns = wall_ns - static_cast<double>(stage.budget->launch_wait_ns()) / windows;
  left.push_back({"measured", wall_ns, "b-host", "the mean wall time"});
  left.push_back({"without launch waits", fed_ns, "b-starved", "as if every launch came in time"});
  left.push_back({"GPU busy", busy_ns, "b-compute", "as if the GPU were never idle"});
  const StageEfficiency* efficiency = efficiency_of(run, stage.name);
  if (efficiency != nullptr && efficiency->ideal_ns && *efficiency->ideal_ns <= busy_ns)
    left.push_back({"at the roof", *efficiency->ideal_ns, "b-copy", "as if the kernels reached the hardware's limit"});
  return left;
}

void add_waterfall(const Run& run, Blocks& blocks) {
  Table table{"What would be left",
              {{"Of one window"}, {"Case"}, {"Per window", kRight}, {"of the measured", kRight}, {"What that assumes"}}};
  BarChart chart;
  for (const StageEntry* stage : told_stages(run)) {
    const std::vector<Left> steps = waterfall_of(run, *stage);
    for (const Left& step : steps) {
      const double whole_ns = steps.front().time_ns;
      const std::string title = stage_title(run, stage->name), share = share_text(ratio(step.time_ns, whole_ns));
      chart.bars.push_back({title,
                            step.what,
                            {{step.time_ns, step.colour, fmt::format("{}: {}, {}", step.what, time_text(step.time_ns), share), share}},
                            whole_ns,
                            time_text(step.time_ns),
                            fmt::format("{}, {}: {}, {}", title, step.what, time_text(step.time_ns), share),
                            0,
                            0});
      table.rows.push_back({&step == &steps.front() ? text_cell(title) : Cell(""), step.what, time_cell(step.time_ns),
                            share_cell(ratio(step.time_ns, whole_ns)), step.why});
    }
  }
  if (table.rows.empty()) return;
  blocks.emplace_back(Heading{"From measured to the roof", "waterfall"});
  blocks.emplace_back(Figure(std::move(chart)));
  blocks.emplace_back(std::move(table));
}

}  // namespace

Section step_time(const Run& run) {
  Section out{"step", "Step", "Where a step's time goes"};
  add_kinds(run, out.blocks);
  add_waterfall(run, out.blocks);
  return out;
}

}  // namespace nl::exporters::report

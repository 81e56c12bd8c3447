#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "exporters/report/sections/sections.h"
#include "exporters/report/text/run_text.h"

namespace nl::exporters::report {
namespace {

constexpr std::size_t kMaxColumns = 200;

// The stage that a range of the timeline stands for: by its name, or by one of the spellings that it was found under.
const StageEntry* stage_of_range(const Run& run, const std::string& name) {
  if (const StageEntry* stage = stage_named(run, name); stage != nullptr) return stage;
  for (const StageEntry& stage : run.stages)
    if (std::find(stage.ranges.begin(), stage.ranges.end(), name) != stage.ranges.end()) return &stage;
  return nullptr;
}

// Where the timeline does not have it, as of decode that is derived from its steps.
StageKind usual_parent(StageKind kind) {
  switch (kind) {
    case StageKind::kPrefill:
    case StageKind::kDecode: return StageKind::kRequest;
    case StageKind::kDecodeStep: return StageKind::kDecode;
    case StageKind::kLoadData:
    case StageKind::kForward:
    case StageKind::kBackward:
    case StageKind::kOptimizer: return StageKind::kTrainStep;
    case StageKind::kDenoiseStep: return StageKind::kImage;
    default: return StageKind::kIdle;
  }
}

// Which stage lies inside which: the shortest range of another stage around most of its own, in the iteration that the timeline shows.
class Nesting {
 public:
  explicit Nesting(const Run& run) {
    std::map<std::pair<std::string, std::string>, std::size_t> votes;
    if (run.timeline) read(run, *run.timeline, votes);
    std::map<std::string, std::size_t> most;
    for (const auto& [pair, count] : votes)
      if (count > most[pair.first]) {
        most[pair.first] = count;
        parents_[pair.first] = pair.second;
      }
    for (const StageEntry& stage : run.stages) {
      if (parents_.contains(stage.name)) continue;
      const StageKind parent = usual_parent(stage_kind(stage.name));
      for (const StageEntry& other : run.stages)
        if (parent != StageKind::kIdle && stage_kind(other.name) == parent) parents_[stage.name] = other.name;
    }
  }

  // The nearest around it that this iteration has; empty: none.
  std::string parent_in(const Iteration& iteration, std::string stage) const {
    for (std::size_t depth = 0; depth < parents_.size(); ++depth) {  // a circle, which there should not be, ends as well
      const auto found = parents_.find(stage);
      if (found == parents_.end() || found->second.empty()) return {};
      stage = found->second;
      for (const auto& [name, ns] : iteration.stages)
        if (name == stage) return stage;
    }
    return {};
  }

 private:
  struct Seen {
    const std::string* thread;
    const StageEntry* stage;
    Ns start_ns, end_ns;
    bool around(const Seen& other) const {
      return *thread == *other.thread && stage != other.stage && start_ns <= other.start_ns && other.end_ns <= end_ns &&
             end_ns - start_ns > other.end_ns - other.start_ns;
    }
  };

  static void read(const Run& run, const Timeline& timeline, std::map<std::pair<std::string, std::string>, std::size_t>& votes) {
    constexpr std::size_t kMostSeen = 500;  // the first say it
    std::vector<Seen> all;
    std::map<const StageEntry*, std::size_t> seen;
    for (const TimelineLane& lane : timeline.lanes)
      for (const TimelineSlice& slice : lane.slices) {
        if (lane.kind != LaneKind::kRanges || slice.merged > 1) continue;
        if (slice.name >= timeline.names.size()) continue;  // a damaged run.json
        const StageEntry* stage = stage_of_range(run, timeline.names[slice.name]);
        if (stage == nullptr || ++seen[stage] > kMostSeen) continue;
        all.push_back({&lane.title, stage, slice.start_ns, slice.start_ns + slice.duration_ns});
      }
    for (const Seen& inner : all) {
      const Seen* nearest = nullptr;
      for (const Seen& outer : all)
        if (outer.around(inner) && (nearest == nullptr || nearest->around(outer))) nearest = &outer;
      ++votes[{inner.stage->name, nearest == nullptr ? std::string() : nearest->stage->name}];
    }
  }

  std::map<std::string, std::string> parents_;  // by stage; empty: it lies in none
};

// Warm-up may take a hundred times as long: it must not flatten what was measured.
double iteration_scale(const std::vector<Iteration>& list) {
  Ns measured = 0, all = 0;
  for (const auto& iteration : list) {
    all = std::max(all, iteration.wall_ns);
    if (!iteration.warmup) measured = std::max(measured, iteration.wall_ns);
  }
  return measured > 0 ? 1.15 * static_cast<double>(measured) : static_cast<double>(all);
}

// Its stages stand on top of each other, each without those inside it.
ColumnChart::Column iteration_column(const Run& run, const Nesting& nesting, const Iteration& iteration, std::size_t number) {
  ColumnChart::Column out;
  out.tip = fmt::format("iteration {}{}: {} ({} ns)", number, iteration.warmup ? ", warm-up" : "",
                        time_text(static_cast<double>(iteration.wall_ns)), iteration.wall_ns);
  out.faded = iteration.warmup;
  out.value = static_cast<double>(iteration.wall_ns);
  std::map<std::string, Ns> inside;
  for (const auto& [stage, ns] : iteration.stages)
    if (const std::string parent = nesting.parent_in(iteration, stage); !parent.empty()) inside[parent] += ns;
  for (const auto& [stage, ns] : iteration.stages) {
    out.tip += fmt::format(", {} {}", stage_title(run, stage), time_text(static_cast<double>(ns)));
    if (const Ns own_ns = ns - inside[stage]; own_ns > 0) out.parts.push_back({static_cast<double>(own_ns), stage_colour(run, stage)});
  }
  return out;
}

// Only of stages that the chart has, in their order. One around others is what they leave of it.
Legend stages_legend(const Run& run, const Nesting& nesting, const ColumnChart& chart, const std::vector<Iteration>& list) {
  Legend legend{{}, false, "Stages"};
  for (const StageEntry& stage : run.stages) {
    const std::string colour = stage_colour(run, stage.name);
    const bool drawn = std::any_of(chart.columns.begin(), chart.columns.end(), [&](const auto& column) {
      return std::any_of(column.parts.begin(), column.parts.end(), [&](const Segment& part) { return part.colour == colour; });
    });
    const bool around = std::any_of(list.begin(), list.end(), [&](const Iteration& iteration) {
      return std::any_of(iteration.stages.begin(), iteration.stages.end(),
                         [&](const auto& each) { return nesting.parent_in(iteration, each.first) == stage.name; });
    });
    if (drawn) legend.entries.push_back({colour, stage_title(run, stage.name), around ? "outside of those inside it" : ""});
  }
  legend.entries.push_back({"s-idle", "no stage", ""});
  return legend;
}

}  // namespace

Blocks iterations(const Run& run) {
  const Iterations& all = run.iterations;
  ColumnChart chart;
  chart.scale = iteration_scale(all.list);
  if (!shows_iterations(run) || chart.scale <= 0) return {};
  const std::size_t shown = std::min(kMaxColumns, all.list.size());
  chart.label = "Wall time of " + plural(shown, "iteration");
  chart.unit = "iteration";
  const Nesting nesting(run);
  for (std::size_t i = 0; i < shown; ++i) chart.columns.push_back(iteration_column(run, nesting, all.list[i], i + 1));
  Legend legend = stages_legend(run, nesting, chart, all.list);
  std::string text = "Wall time of each iteration, by stage.";
  if (std::any_of(chart.columns.begin(), chart.columns.end(), [](const auto& column) { return column.faded; })) text += " Warm-up is pale.";
  if (std::any_of(chart.columns.begin(), chart.columns.end(), [&](const auto& column) { return column.value > chart.scale; }))
    text += " Columns that reach the top are longer than the axis.";
  if (shown < all.count) text += fmt::format(" The first {} of {}.", shown, all.count);
  return {Heading{"Iterations", "iterations"}, Figure(std::move(chart)), std::move(legend), caption(text)};
}

}  // namespace nl::exporters::report

#include "exporters/report/text/step_strip.h"

#include <fmt/core.h>

#include <algorithm>

#include "exporters/report/text/budget_bins.h"
#include "exporters/report/text/figure_text.h"
#include "exporters/report/text/prediction_text.h"

namespace nl::exporters::report {
namespace {

struct StripKind {
  const char* colour;
  const char* name;
};

StripKind strip_kind(Binding what) {
  switch (what) {
    case Binding::kGpu: return {"b-compute", "GPU works"};
    case Binding::kHostCode: return {"b-host", "host runs its code"};
    case Binding::kLaunches: return {"b-latency", "host launches"};
    case Binding::kWaits: return {"b-sync", "host waits"};
  }
  return {"", ""};
}

StripChart::Part strip_part(double start_ns, double end_ns, const std::string& colour, const char* name) {
  return {start_ns, end_ns, colour, fmt::format("{} for {}, from {}", name, time_text(end_ns - start_ns), time_text(start_ns))};
}

StripChart::Lane strip_lane(const char* title, const std::vector<StripPart>& parts) {
  StripChart::Lane lane{title, {}};
  for (const StripPart& part : parts)
    lane.parts.push_back(strip_part(part.start_ns, part.end_ns, strip_kind(part.what).colour, strip_kind(part.what).name));
  return lane;
}

// "2.30 ms: GPU works 20 %, host runs its code 40 %": for those who hear it.
std::string strip_shares(const WindowStrip& strip) {
  std::string text = time_text(strip.length_ns) + ":";
  const char* between = " ";
  for (const Binding what : {Binding::kGpu, Binding::kHostCode, Binding::kLaunches, Binding::kWaits}) {
    double sum_ns = 0;
    for (const auto* parts : {&strip.host, &strip.gpu})
      for (const StripPart& part : *parts)
        if (part.what == what) sum_ns += part.end_ns - part.start_ns;
    if (sum_ns <= 0) continue;
    text += fmt::format("{}{} {}", between, strip_kind(what).name, share_text(ratio(sum_ns, strip.length_ns)));
    between = ", ";
  }
  return text;
}

const BudgetBin& shown_bin(nl::BudgetBin bin) {
  const Ns Budget::* time = kBudgetBinKeys[static_cast<std::size_t>(bin)].time_ns;
  return *std::find_if(kBudgetBins.begin(), kBudgetBins.end(), [&](const BudgetBin& each) { return each.time == time; });
}

std::string bin_colour(const BudgetBin& bin) { return std::string("b-") + bin.key; }

// What follows each other without a change is one part: `end_ns` and `kinds` fill the window.
template <class Kind, class Describe>
StripChart::Lane filled_lane(std::string title, const std::vector<Ns>& end_ns, const std::vector<Kind>& kinds, Describe describe) {
  StripChart::Lane lane{std::move(title), {}};
  double start_ns = 0;
  for (std::size_t i = 0; i < std::min(end_ns.size(), kinds.size()); ++i) {
    const auto until_ns = static_cast<double>(end_ns[i]);
    const auto [colour, name] = describe(kinds[i]);
    lane.parts.push_back(strip_part(start_ns, until_ns, colour, name));
    start_ns = until_ns;
  }
  return lane;
}

StripChart::Lane gpu_lane(std::string title, const StepGpu& gpu) {
  return filled_lane(std::move(title), gpu.end_ns, gpu.bins, [](nl::BudgetBin bin) {
    const BudgetBin& shown = shown_bin(bin);
    return std::pair(bin_colour(shown), shown.label);
  });
}

StripChart::Lane budget_lane(const Budget& budget) {
  StripChart::Lane lane{"budget", {}};
  double at_ns = 0;
  for (const BudgetBin& bin : kBudgetBins) {
    const auto ns = static_cast<double>(budget.*bin.time);
    if (ns <= 0) continue;
    const auto share = ratio(ns, static_cast<double>(budget.wall_ns));
    lane.parts.push_back({at_ns, at_ns + ns, bin_colour(bin), fmt::format("{}: {}, {}", bin.label, time_text(ns), share_text(share)),
                          fmt::format("{:.0f} %", share.value_or(0) * 100)});
    at_ns += ns;
  }
  return lane;
}

std::string budget_shares(const Budget& budget) {
  std::string text;
  for (const BudgetBin& bin : kBudgetBins)
    if (budget.*bin.time > 0)
      text += fmt::format("{} {} {}", text.empty() ? "" : ",", bin.label, share_text(part_of(budget.*bin.time, budget.wall_ns)));
  return text;
}

void add_strip(StripChart& chart, StripChart::Strip strip, const std::string& spoken) {
  chart.span_ns = std::max({chart.span_ns, strip.length_ns, strip.high_ns});
  chart.label += fmt::format("{}{} {}", chart.label.empty() ? "" : "; ", strip.title, spoken);
  chart.strips.push_back(std::move(strip));
}

}  // namespace

void add_step(StripChart& chart, const std::string& title, const MedianStep& step) {
  const auto length_ns = static_cast<double>(step.wall_ns);
  StripChart::Strip strip{title, time_text(length_ns), length_ns, {}};
  if (!step.host.empty())
    strip.lanes.push_back(filled_lane("host", step.host_end_ns, step.host,
                                      [](Binding what) { return std::pair(std::string(strip_kind(what).colour), strip_kind(what).name); }));
  for (const StepGpu& gpu : step.gpus)
    strip.lanes.push_back(gpu_lane(step.gpus.size() > 1 ? fmt::format("GPU {}", gpu.device) : "GPU", gpu));
  if (step.budget) strip.lanes.push_back(budget_lane(*step.budget));
  add_strip(chart, std::move(strip), time_text(length_ns) + (step.budget ? ":" + budget_shares(*step.budget) : ""));
}

void add_window(StripChart& chart, const std::string& title, const WindowStrip& window, const Prediction* predicted) {
  if (!(window.length_ns > 0)) return;
  StripChart::Strip strip{
      title, time_text(window.length_ns), window.length_ns, {strip_lane("host", window.host), strip_lane("GPU", window.gpu)}};
  std::string spoken = strip_shares(window);
  if (predicted != nullptr) {
    strip.figure = fmt::format("{} ({})", time_text(predicted->predicted_ns), predicted_interval(*predicted));
    if (!predicted->ceiling) strip.low_ns = predicted->low_ns, strip.high_ns = predicted->high_ns;
    spoken = strip.figure + "; " + spoken;
  }
  add_strip(chart, std::move(strip), spoken);
}

Legend budget_legend(const std::vector<const Budget*>& budgets) {
  Legend legend{{}, false, "GPU"};
  for (const BudgetBin& bin : kBudgetBins) {
    const bool any = std::any_of(budgets.begin(), budgets.end(), [&](const Budget* budget) { return budget->*bin.time > 0; });
    if (!any) continue;
    const std::string share = budgets.size() == 1 ? share_text(part_of(budgets[0]->*bin.time, budgets[0]->wall_ns)) : "";
    legend.entries.push_back({bin_colour(bin), bin.label, share});
  }
  return legend;
}

Legend host_legend() {
  Legend legend{{}, false, "Host"};
  for (const Binding what : {Binding::kHostCode, Binding::kLaunches, Binding::kWaits})
    legend.entries.push_back({strip_kind(what).colour, strip_kind(what).name + std::string("host ").size(), ""});
  return legend;
}

Legend replay_legend() {
  Legend legend{{}, false};
  for (const Binding what : {Binding::kHostCode, Binding::kLaunches, Binding::kWaits, Binding::kGpu})
    legend.entries.push_back({strip_kind(what).colour, strip_kind(what).name, ""});
  return legend;
}

}  // namespace nl::exporters::report

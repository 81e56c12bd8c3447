#include "exporters/consistency/consistency.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "exporters/report/sections/executive_summary.h"
#include "exporters/report/text/figure_text.h"
#include "exporters/run_json/run_json.h"
#include "model/headline.h"

namespace nl::exporters {
namespace {

using nlohmann::json;
using namespace nlohmann::literals;

// Times are whole nanoseconds, and means over GPUs are rounded one by one.
constexpr double kRoundingNs = 64, kRounding = 1e-6;

bool above(double part, double whole) { return part > whole * (1 + kRounding) + kRoundingNs; }
bool apart(double a, double b) { return above(a, b) || above(b, a); }

class FigureCheck {
 public:
  FigureCheck(const Run& run, std::vector<Contradiction>& out) : run_(run), out_(out) {}

  void check() {
    for (std::size_t i = 0; i < run_.stages.size(); ++i) check_stage(run_.stages[i], fmt::format("/stages/{}", i));
    check_phases();
    if (run_.kernels)
      for (std::size_t i = 0; i < run_.kernels->size(); ++i) check_kernel((*run_.kernels)[i], fmt::format("/kernels/{}", i));
    for (std::size_t i = 0; i < run_.findings.size(); ++i) check_saving(run_.findings[i], fmt::format("/findings/{}", i));
    if (!run_.workload.verdict.unit_stage.empty() && stage_named(run_, run_.workload.verdict.unit_stage) == nullptr)
      say("/workload/unit_stage", "names a stage that is not there");
    if (run_.what_if) check_what_if(*run_.what_if);
    if (run_.median_step) check_step(*run_.median_step);
  }

 private:
  void say(std::string where, std::string what) { out_.push_back({std::move(where), std::move(what)}); }

  void not_above(const std::string& where, const char* part, double part_ns, const char* whole, double whole_ns) {
    if (above(part_ns, whole_ns)) say(where, fmt::format("{} ({:.0f} ns) is more than {} ({:.0f} ns)", part, part_ns, whole, whole_ns));
  }
  void equal(const std::string& where, const char* one, double one_ns, const char* other, double other_ns) {
    if (apart(one_ns, other_ns)) say(where, fmt::format("{} ({:.0f} ns) differs from {} ({:.0f} ns)", one, one_ns, other, other_ns));
  }

  void check_times(const TimeSummary& time, const std::string& where) {
    if (time.count == 0) return;
    const auto total_ns = static_cast<double>(time.total_ns), count = static_cast<double>(time.count);
    if (apart(time.mean_ns * count, total_ns) && std::abs(time.mean_ns * count - total_ns) > count)
      say(where, "the mean times the count differs from the total");
    not_above(where, "the shortest", static_cast<double>(time.min_ns), "the median", time.median_ns);
    not_above(where, "the median", time.median_ns, "the longest", static_cast<double>(time.max_ns));
    for (const auto& [name, value] :
         {std::pair("the 90th percentile", time.p90_ns), {"the 95th percentile", time.p95_ns}, {"the 99th percentile", time.p99_ns}})
      if (value) not_above(where, name, static_cast<double>(*value), "the longest", static_cast<double>(time.max_ns));
  }

  void check_budget(const Budget& budget, const std::string& where) {
    equal(where, "the sum of the parts", static_cast<double>(budget.sum_ns()), "the whole", static_cast<double>(budget.wall_ns));
  }

  void check_stage(const StageEntry& stage, const std::string& where) {
    check_times(stage.wall, where);
    if (!stage.budget) return;
    check_budget(*stage.budget, where + "/budget");
    const auto busy_ns = static_cast<double>(stage.budget->busy_ns()), wall_ns = static_cast<double>(stage.budget->wall_ns);
    if (stage.foreign_gpu_ns)
      not_above(where, "work launched elsewhere", static_cast<double>(*stage.foreign_gpu_ns), "the GPU's busy time", busy_ns);
    double idle_ns = 0;
    for (std::size_t i = 0; i < stage.gaps.size(); ++i) {
      const StageGap& gap = stage.gaps[i];
      const std::string place = fmt::format("{}/gaps/{}", where, i);
      check_budget(gap.budget, place + "/budget");
      not_above(place, "time without launches", static_cast<double>(gap.not_launching_ns), "the gap",
                static_cast<double>(gap.budget.wall_ns));
      if (wall_ns > 0 && std::abs(gap.wall_share - std::min(1.0, static_cast<double>(gap.budget.wall_ns) / wall_ns)) > 0.005)
        say(place, "the share differs from the gap's time divided by that of the stage");
      idle_ns += static_cast<double>(gap.budget.wall_ns);
    }
    not_above(where, "the gaps together", idle_ns, "the GPU's idle time", wall_ns - busy_ns);
  }

  void check_phases() {
    if (run_.phases.phases.empty()) return;
    double sum_ns = 0;
    for (std::size_t i = 0; i < run_.phases.phases.size(); ++i) {
      const Phase& phase = run_.phases.phases[i];
      sum_ns += static_cast<double>(phase.wall_ns);
      if (phase.budget) check_budget(*phase.budget, fmt::format("/phases/phases/{}/budget", i));
    }
    equal("/phases", "the sum of the phases", sum_ns, "the measured span", static_cast<double>(run_.phases.span_ns));
  }

  void check_kernel(const KernelEntry& kernel, const std::string& where) {
    check_times(kernel.time, where);
    for (const auto* splits : {&kernel.stages, &kernel.innermost}) {
      double in_stages_ns = 0;
      for (const StageSplit& split : *splits) in_stages_ns += static_cast<double>(split.total_ns);
      not_above(where, "the time in all stages", in_stages_ns, "the kernel's time", static_cast<double>(kernel.time.total_ns));
    }
    if (kernel.graph_calls > kernel.time.count) say(where, "more calls in CUDA graphs than calls");
  }

  // A predicted saving is one of the unprofiled window, which another process may have taken longer for than the traced one.
  double window_saved_from(const Finding& finding, const StageEntry& stage) const {
    if (!finding.prediction) return stage.wall.mean_ns;
    return std::max(stage.wall.mean_ns, unprofiled_ns(run_, stage).value_or(finding.prediction->unperturbed_ns));
  }

  void check_saving(const Finding& finding, const std::string& where) {
    const StageEntry* stage = finding.scope == RuleScope::kStage ? stage_named(run_, finding.subject) : nullptr;
    if (finding.scope == RuleScope::kStage && stage == nullptr)
      say(where, fmt::format("is about \"{}\", a stage that is not there", finding.subject));
    if (stage != nullptr && finding.gain_per_window_ns && stage->wall.count > 0)
      not_above(where, "the saving of a window", *finding.gain_per_window_ns, "the window", window_saved_from(finding, *stage));
    if (finding.gain_share && *finding.gain_share > 1 + kRounding) say(where, "saves more than there is");
    if (finding.confidence < 0 || finding.confidence > 1) say(where, "has a confidence outside of 0 to 1");
    if (!finding.same_cause_as.empty() &&
        std::none_of(run_.findings.begin(), run_.findings.end(), [&](const Finding& each) { return each.rule == finding.same_cause_as; }))
      say(where, "has the cause of a finding that is not there");
    if (finding.prediction) check_prediction(*finding.prediction, where + "/prediction");
  }

  void check_prediction(const Prediction& prediction, const std::string& where) {
    if (prediction.refused) return;
    not_above(where, "the lower end of the interval", prediction.low_ns, "the prediction", prediction.predicted_ns);
    not_above(where, "the prediction", prediction.predicted_ns, "the upper end of the interval", prediction.high_ns);
  }

  // A lane that fills the step. `kinds`: how many there are.
  void check_filled(const std::vector<Ns>& end_ns, std::size_t kinds, Ns wall_ns, const std::string& where) {
    if (end_ns.size() != kinds) return say(where, "has more ends than kinds, or fewer");
    if (!end_ns.empty() && end_ns.back() != wall_ns) say(where, "does not end with the step");
    if (std::adjacent_find(end_ns.begin(), end_ns.end(), std::greater_equal<>()) != end_ns.end())
      say(where, "has parts that do not follow each other");
  }

  void check_step(const MedianStep& step) {
    const auto wall_ns = static_cast<double>(step.wall_ns);
    const StageEntry* stage = stage_named(run_, step.stage);
    if (stage == nullptr) return say("/median_step", fmt::format("is of \"{}\", a stage that is not there", step.stage));
    if (stage->series.throttled == 0) {  // else it may be one of those that the stage's figures leave out
      not_above("/median_step", "the step", wall_ns, "the longest of its stage", static_cast<double>(stage->wall.max_ns));
      not_above("/median_step", "the shortest of its stage", static_cast<double>(stage->wall.min_ns), "the step", wall_ns);
    }
    check_filled(step.host_end_ns, step.host.size(), step.wall_ns, "/median_step/host");
    for (std::size_t i = 0; i < step.gpus.size(); ++i)
      check_filled(step.gpus[i].end_ns, step.gpus[i].bins.size(), step.wall_ns, fmt::format("/median_step/gpus/{}", i));
    if (!step.budget) return;
    check_budget(*step.budget, "/median_step/budget");
    equal("/median_step/budget", "the whole", static_cast<double>(step.budget->wall_ns), "the step", wall_ns);
    if (step.gpus.size() == 1 && step.gpus_left_out == 0) check_picture(step, step.gpus[0]);
  }

  // What is drawn of a GPU has the shares of its budget, but for a cell at the end of each kind.
  void check_picture(const MedianStep& step, const StepGpu& gpu) {
    constexpr double kCells = 1.0 / 100;  // of the step: four of 400
    std::array<Ns, nl::kBudgetBins> drawn{};
    Ns start_ns = 0;
    for (std::size_t i = 0; i < std::min(gpu.end_ns.size(), gpu.bins.size()); ++i) {
      drawn[static_cast<std::size_t>(gpu.bins[i])] += gpu.end_ns[i] - start_ns;
      start_ns = gpu.end_ns[i];
    }
    for (std::size_t bin = 0; bin < nl::kBudgetBins; ++bin) {
      const auto shown_ns = static_cast<double>(drawn[bin]), told_ns = static_cast<double>((*step.budget).*kBudgetBinKeys[bin].time_ns);
      if (std::abs(shown_ns - told_ns) > kCells * static_cast<double>(step.wall_ns) + kRoundingNs)
        say("/median_step/gpus/0",
            fmt::format("{} is drawn as {:.0f} ns and told as {:.0f} ns", kBudgetBinKeys[bin].key, shown_ns, told_ns));
    }
  }

  void check_lane(const std::vector<StripPart>& parts, double length_ns, const std::string& where) {
    double end_ns = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::string place = fmt::format("{}/{}", where, i);
      not_above(place, "the end of the part before", end_ns, "the begin", parts[i].start_ns);
      not_above(place, "the begin", parts[i].start_ns, "the end", parts[i].end_ns);
      end_ns = parts[i].end_ns;
    }
    not_above(where, "the end of the last part", end_ns, "the window", length_ns);
  }

  void check_what_if(const WhatIf& what_if) {
    if (stage_named(run_, what_if.stage) == nullptr) say("/what_if/stage", "names a stage that is not there");
    for (std::size_t i = 0; i < what_if.predictions.size(); ++i)
      check_prediction(what_if.predictions[i], fmt::format("/what_if/predictions/{}", i));
    double before_ns = what_if.sequence.empty() ? 0 : what_if.sequence.front().unperturbed_ns;
    for (std::size_t i = 0; i < what_if.sequence.size(); ++i) {
      const std::string place = fmt::format("/what_if/sequence/{}", i);
      check_prediction(what_if.sequence[i], place);
      not_above(place, "the window after this change", what_if.sequence[i].predicted_ns, "the window before it", before_ns);
      before_ns = what_if.sequence[i].predicted_ns;
    }
    for (const auto& [key, strip] : {std::pair("now", &what_if.now), {"then", &what_if.then}}) {
      if (!*strip) continue;
      check_lane((*strip)->host, (*strip)->length_ns, fmt::format("/what_if/{}/host", key));
      check_lane((*strip)->gpu, (*strip)->length_ns, fmt::format("/what_if/{}/gpu", key));
    }
  }

  const Run& run_;
  std::vector<Contradiction>& out_;
};

// No sentence of a summary is about single entries of these.
constexpr std::string_view kLongLists[] = {"timeline", "activity", "operator_steps", "operators", "layers", "kernels",
                                           "api",      "ranges",   "host",           "roofline",  "what_if"};

// The numbers of run.json.
class FigureIndex {
 public:
  FigureIndex(const Run& run, const json& document) {
    for (const HeadlineFigure& figure : {first_token_figure(run), prefill_figure(run), per_token_figure(run), output_rate_figure(run)})
      for (const auto& value : {figure.traced, figure.unprofiled, figure.predicted})
        if (value) headline_.push_back(*value);
    if (run.what_if)
      for (const Prediction& stage : run.what_if->stages) figures_.insert({stage.predicted_ns, stage.low_ns, stage.high_ns});
    figures_.insert(headline_.begin(), headline_.end());
    if (const auto kwh = kwh_per_million_tokens(run)) figures_.insert(*kwh);
    for (const auto& [key, part] : document.items())
      if (std::find(std::begin(kLongLists), std::end(kLongLists), key) == std::end(kLongLists)) add(part, nullptr);
    add_stages(document);
    add_limits(document);
    add_predictions(run);
    add_operators(document);
  }

  // Whether the value stands there, or is the quotient, the sum or the rate of figures of one entry.
  bool has(double value) const { return near(figures_, value) || near(quotients_, value); }

 private:
  void add(const json& node, const json* parent) {
    if (node.is_object()) add_quotients(node, parent);
    if (node.is_structured())
      for (const json& child : node) add(child, node.is_object() ? &node : parent);
    if (node.is_array()) figures_.insert(static_cast<double>(node.size()));
    if (!node.is_number()) return;
    const double value = node.get<double>();
    figures_.insert(value);
    figures_.insert(1 - value);
    if (value != 0) figures_.insert(1e9 / value);
  }

  // What a part takes of a whole step ("the forward pass 18 ms"), and the tokens of one prompt.
  void add_stages(const json& document) {
    const json batch = document.value("/latency/batch"_json_pointer, json());
    for (const json& part : document.at("stages")) {
      for (const json& whole : document.at("stages"))
        if (whole.at("count") > 0) quotients_.insert(part.at("total_ns").get<double>() / whole.at("count").get<double>());
      if (batch.is_number() && part.at("tokens_per_window").is_number())
        quotients_.insert(part.at("tokens_per_window").get<double>() / batch.get<double>());
    }
  }

  // How far measured times are from those that the GPU's limits allow, and what a finding saves of them.
  void add_limits(const json& document) {
    std::vector<double> times = headline_;
    for (const char* part : {"latency", "stages", "perturbation"}) add_times(document.at(part), times);
    for (const json& stage : document.at("efficiency"))
      if (stage.at("ideal_ns").is_number() && stage.at("ideal_ns") > 0)
        for (const double time_ns : times) quotients_.insert(time_ns / stage.at("ideal_ns").get<double>());
    for (const json& finding : document.at("findings"))
      for (const char* gain : {"gain_ns", "gain_per_window_ns", "gain_per_token_ns"})
        if (finding.contains(gain) && finding.at(gain).is_number())
          for (const double time_ns : times)
            if (time_ns > 0) quotients_.insert(finding.at(gain).get<double>() / time_ns);
  }

  // What the change that a finding asks for saves of a window, and the ends of its interval.
  void add_predictions(const Run& run) {
    for (const Finding& finding : run.findings)
      if (finding.prediction && finding.prediction->unperturbed_ns > 0)
        for (const double then_ns : {finding.prediction->predicted_ns, finding.prediction->low_ns, finding.prediction->high_ns})
          quotients_.insert(1 - then_ns / finding.prediction->unperturbed_ns);
  }

  // What each type of operator takes of all of them.
  void add_operators(const json& document) {
    for (const json& step : document.at("operator_steps")) {
      for (const json& child : step)
        if (child.is_number()) add(child, nullptr);
      for (const char* clock : {"host_ns", "gpu_ns"}) {
        std::map<std::string, double> by_type;
        double all = 0;
        for (const json& call : step.at("calls"))
          if (call.at(clock).is_number()) {
            by_type[call.at("op_type").get<std::string>()] += call.at(clock).get<double>();
            all += call.at(clock).get<double>();
          }
        for (const auto& [type, time_ns] : by_type)
          if (all > 0) figures_.insert(time_ns / all);
      }
    }
  }

  static void add_times(const json& node, std::vector<double>& times) {
    if (node.is_structured())
      for (const json& child : node) add_times(child, times);
    else if (node.is_number()) times.push_back(node.get<double>());
  }

  // Of the numbers of an entry and of the one around it.
  void add_quotients(const json& entry, const json* around) {
    std::vector<double> own, all;
    for (const json& child : entry)
      if (child.is_number() && child.get<double>() != 0) own.push_back(child.get<double>());
    all = own;
    if (around != nullptr)
      for (const json& child : *around)
        if (child.is_number() && child.get<double>() != 0) all.push_back(child.get<double>());
    for (const double part : own)
      for (const double whole : all) {
        quotients_.insert(part / whole);
        quotients_.insert(whole / part);
        quotients_.insert(part / whole - 1);
        quotients_.insert(part + whole);
      }
  }

  static bool near(const std::set<double>& figures, double value) {
    const auto found = figures.lower_bound(value - std::abs(value) * kRounding - 1e-12);
    return found != figures.end() && *found <= value + std::abs(value) * kRounding + 1e-12;
  }

  // What reports quote first. Unprofiled times among them follow from two figures, by one definition for all reports.
  std::vector<double> headline_;
  std::set<double> figures_, quotients_;
};

void check_references(const Run& run, const json& document, std::vector<Contradiction>& out) {
  for (std::size_t i = 0; i < run.findings.size(); ++i)
    for (const FindingEvidence& evidence : run.findings[i].evidence) {
      if (evidence.reference.empty()) continue;
      bool there = false;
      try {
        there = document.contains(json::json_pointer(evidence.reference));
      } catch (const json::exception&) {  // not a pointer at all
      }
      if (!there) out.push_back({fmt::format("/findings/{}", i), fmt::format("refers to {}, which is not there", evidence.reference)});
    }
}

bool has_text(const std::string& sentence, const std::string& text) { return sentence.find(text) != std::string::npos; }

// What the summary says, with the figures in it.
class SummaryCheck {
 public:
  SummaryCheck(const Run& run, std::vector<Contradiction>& out) : run_(run), sentences_(report::executive_summary(run)), out_(out) {}

  void check_figures(const FigureIndex& index) {
    for (const ToldFigure& figure : log_.told()) {
      const auto told =
          std::find_if(sentences_.begin(), sentences_.end(), [&](const std::string& each) { return has_text(each, figure.text); });
      if (told != sentences_.end() && !index.has(figure.value))
        out_.push_back({*told, fmt::format("\"{}\" ({}) stands nowhere in run.json", figure.text, figure.value)});
    }
  }

  // A reader who finds "30 steps of 114 ms" and then "saves 74 of 117 ms per step" asks which it is. One sentence may have both and say so, and so may one
  // that tells the median by what it is.
  void check_one_time() {
    for (std::size_t i = 0; i < run_.stages.size(); ++i) {
      const std::string mean = text_of(run_.stages[i].wall.mean_ns), median = text_of(run_.stages[i].wall.median_ns);
      if (mean.empty() || median.empty() || mean == median) continue;
      const auto says_so = [&](const std::string& each) {
        return (has_text(each, mean) && has_text(each, median)) || has_text(each, report::usual_step_text(median));
      };
      if (std::none_of(sentences_.begin(), sentences_.end(), says_so))
        out_.push_back({fmt::format("/stages/{}", i), fmt::format("the summary gives its mean ({}) and its median ({})", mean, median)});
    }
  }

 private:
  std::string text_of(double value) const {
    const auto told = std::find_if(log_.told().begin(), log_.told().end(), [&](const ToldFigure& each) { return each.value == value; });
    return told != log_.told().end() ? told->text : std::string();
  }

  const Run& run_;
  const FigureLog log_;  // of the sentences, which are made after it
  const std::vector<std::string> sentences_;
  std::vector<Contradiction>& out_;
};

}  // namespace

std::vector<Contradiction> contradictions(const Run& run) {
  std::vector<Contradiction> out;
  FigureCheck(run, out).check();
  const json document = json::parse(run_to_json(run));
  check_references(run, document, out);
  SummaryCheck summary(run, out);
  summary.check_figures(FigureIndex(run, document));
  summary.check_one_time();
  return out;
}

}  // namespace nl::exporters

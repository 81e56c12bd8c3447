#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "exporters/report/compare/compare.h"
#include "exporters/report/text/budget_bins.h"
#include "exporters/report/text/figure_text.h"
#include "model/comparison.h"
#include "model/run_metrics.h"
#include "model/stage.h"

namespace nl::exporters::report {
namespace {

constexpr std::size_t kTextRows = 25;

// Markdown shows the first rows, a page all of them.
void cut_text(Table& table) {
  if (table.rows.size() <= kTextRows) return;
  table.filter = true;
  table.text_rows = kTextRows;
  table.text_note = "compare.json has the others.";
}

Cell estimate_cell(const CompareLine& line, const std::optional<CompareEstimate>& side) {
  if (!side) return kNoValue;
  std::string tip;
  if (side->low && side->high)
    tip = fmt::format("{} to {}, {} samples", estimate_text(line, *side->low), estimate_text(line, *side->high), side->samples);
  return Cell(estimate_text(line, side->median), side->median, tip);
}

Cell change_cell(const CompareLine& line) {
  if (!line.change) return kNoValue;
  return Cell(change_text(*line.change), CompareChange::relative(line.change->log_ratio));
}

Cell interval_cell(const CompareLine& line) {
  if (!line.change || !line.change->low || !line.change->high) return kNoValue;
  const std::string interval = fmt::format("{} … {}", signed_percent(CompareChange::relative(*line.change->low)),
                                           signed_percent(CompareChange::relative(*line.change->high)));
  return Cell(interval, *line.change->high - *line.change->low, confidence_text(*line.change) + " interval");
}

Cell verdict_cell(const CompareLine& line) {
  const bool told = line.verdict == CompareVerdict::kImproved || line.verdict == CompareVerdict::kRegressed;
  const std::string word(key_of(line.verdict));
  Cell cell(told ? strong(word) : Text(word));
  cell.tip = verdict_reason(line.reason);
  return cell;
}

// The counter of a kernel begins with its name, which may be very long.
Text subject_of(const CompareLine& line) {
  if (line.kernel.empty()) return subject_text(line);
  Text text(line.kernel, Inline::kName);
  text += ": " + line.key;
  return text;
}

Table lines_table(const char* label, const std::vector<CompareLine>& lines) {
  Table table{label, {{"What"}, {"Stage"}, {"A", kRight}, {"B", kRight}, {"Change", kRight}, {"Interval", kRight}, {"Verdict"}, {"Why"}}};
  for (const CompareLine& line : lines)
    table.rows.push_back({subject_of(line), line.stage.empty() ? std::string(kNoValue) : line.stage, estimate_cell(line, line.a),
                          estimate_cell(line, line.b), change_cell(line), interval_cell(line), verdict_cell(line),
                          verdict_reason(line.reason)});
  table.sortable = true;
  cut_text(table);
  return table;
}

// `what`: of which the table's figures are, where its lines do not say.
Section lines_section(const char* id, const char* title, const CompareSection& section, const char* what = nullptr) {
  Section out{id, title, title};
  if (section.note && !section.lines.empty())
    out.blocks = {Paragraph{sentence(verdict_reason(*section.note))}, lines_table(title, section.lines)};
  else if (section.missing || section.lines.empty())
    out.blocks = {Paragraph{sentence(verdict_reason(section.missing.value_or(LineReason::kNotCaptured))), Role::kMissing}};
  else out.blocks = {lines_table(title, section.lines)};
  if (what != nullptr && !section.lines.empty()) out.blocks.insert(out.blocks.begin(), Paragraph{what});
  return out;
}

Text kernel_names(const std::vector<ComparedKernel>& kernels) {
  Text out;
  for (const ComparedKernel& kernel : kernels) {
    if (!out.empty()) out += " + ";
    out += Text(kernel.name, Inline::kName);
  }
  return out.empty() ? Text(kNoValue) : out;
}

std::string pairing_text(const KernelPair& pair) {
  switch (pair.paired_by) {
    case KernelPairing::kNone: return kNoValue;
    case KernelPairing::kExact: return "same name";
    case KernelPairing::kStructure: return "operator, layer and position";
    case KernelPairing::kRoot: return "same function, other template arguments";
    case KernelPairing::kTokens: return "words of the name";
    case KernelPairing::kShape: return "operator and shapes";
    case KernelPairing::kRank: return "rank alone; unfit for tuning";
  }
  return {};
}

Table pairs_of(const StageKernels& kernels) {
  // A narrow terminal drops the last texts first: the verdict stands before how the pair was found.
  Table table{"Kernels of " + kernels.stage, texts({"Kernel in A", "Kernel in B"}) + numbers({"A per window", "B per window", "Change"}) +
                                                 texts({"Verdict", "Relation", "Paired by"}) + texts({"Why"}, kWide)};
  for (const KernelPair& pair : kernels.pairs)
    table.rows.push_back(
        {kernel_names(pair.a),
         pair.a.size() == 1 && pair.b.size() == 1 && pair.a[0].name == pair.b[0].name ? Text("the same") : kernel_names(pair.b),
         estimate_cell(pair.line, pair.line.a), estimate_cell(pair.line, pair.line.b), change_cell(pair.line), verdict_cell(pair.line),
         std::string(key_of(pair.relation)), pairing_text(pair), verdict_reason(pair.line.reason)});
  table.sortable = true;
  cut_text(table);
  return table;
}

std::string not_tested(const StageKernels& kernels) {
  return kernels.why_not == LineReason::kStageUndecided ? "Whether this stage changed is undecided: its kernels were not tested. "
                                                        : "This stage did not change: its kernels were not tested. ";
}

Section kernels_section(const Comparison& comparison) {
  Section out{"kernels", "Kernels", "Kernels"};
  if (comparison.kernels_missing || comparison.kernels.empty()) {
    out.blocks = {Paragraph{sentence(verdict_reason(comparison.kernels_missing.value_or(LineReason::kNotCaptured))), Role::kMissing}};
    return out;
  }
  for (const StageKernels& kernels : comparison.kernels) {
    const std::string shares = fmt::format("Pairs hold {} of A's kernel time and {} of B's.", share_text(kernels.paired_share_a),
                                           share_text(kernels.paired_share_b));
    out.blocks.push_back(Heading{kernels.stage});
    out.blocks.push_back(Paragraph{(kernels.entered ? "" : not_tested(kernels)) + shares});
    out.blocks.push_back(pairs_of(kernels));
  }
  return out;
}

// What differs, as it is read before two values.
std::string_view difference_words(DifferenceCode code) {
  switch (code) {
    case DifferenceCode::kGpu: return "GPU";
    case DifferenceCode::kGpuCount: return "number of GPUs";
    case DifferenceCode::kClocks: return "GPU clock";
    case DifferenceCode::kPowerLimit: return "power limit";
    case DifferenceCode::kThrottling: return "throttling";
    case DifferenceCode::kDriver: return "driver";
    case DifferenceCode::kCpu: return "CPU";
    case DifferenceCode::kVersion: return "version of";
    case DifferenceCode::kBackend: return "backend";
    case DifferenceCode::kModel: return "model";
    case DifferenceCode::kPrecision: return "precision";
    case DifferenceCode::kBatch: return "batch size";
    case DifferenceCode::kTokens: return "tokens per window of";
    case DifferenceCode::kWarmup: return "warm-up iterations";
    case DifferenceCode::kCaptureMode: return "capture mode";
    case DifferenceCode::kStageSource: return "source of the stage";
    case DifferenceCode::kOverhead: return "profiling overhead of";
    case DifferenceCode::kRunStatus: return "status of a run";
    case DifferenceCode::kNoCommonStage: return "stages: none is on both sides";
    case DifferenceCode::kNoStage: return "no unit of work is marked or found";
    case DifferenceCode::kCommand: return "command";
    case DifferenceCode::kMixedSide: return "runs of one side differ in";
    case DifferenceCode::kInputs: return "inputs of the model";
    case DifferenceCode::kKernels: return "other kernels:";
    case DifferenceCode::kLoad: return "load of the server";
  }
  return "";
}

}  // namespace

std::vector<Section> line_sections(const Comparison& comparison) {
  return {lines_section("headline", "Latency and rate", comparison.headline),
          lines_section("stages", "Stages", comparison.stages),
          lines_section("budget", "Where the time went", comparison.budget),
          kernels_section(comparison),
          lines_section("operators", "Operators", comparison.operators),
          lines_section("layers", "Layers", comparison.layers),
          lines_section("api", "CUDA calls", comparison.api, "Mean time of one call, over the whole capture."),
          lines_section("nsys", "Counters sampled over time", comparison.nsys_counters),
          lines_section("ncu", "Counters of kernels and stages", comparison.ncu_counters),
          lines_section("efficiency", "MFU and MBU", comparison.efficiency),
          lines_section("energy", "Energy", comparison.energy),
          lines_section("host", "Host code while the GPU waited", comparison.host_code)};
}

Section comparability_section(const Comparison& comparison) {
  Section out{"comparability", "Comparable?", "Can they be compared?"};
  const Comparability& comparability = comparison.comparability;
  std::string text = fmt::format("Score {:.2f} of 1", comparability.score);
  if (comparability.refused) text += ": refused";
  if (comparability.forced) text += ": compared because that was asked for";
  out.blocks = {Paragraph{text + (comparability.differences.empty() ? "; nothing differs that should not." : ".")}};
  if (comparability.differences.empty()) return out;
  Table table{"Differences", {{"Severity"}, {"What differs"}}};
  for (const Difference& difference : comparability.differences)
    table.rows.push_back({std::string(key_of(difference.severity)), difference_text(difference)});
  out.blocks.push_back(std::move(table));
  return out;
}

std::string verdict_reason(LineReason reason) {
  switch (reason) {
    case LineReason::kDecided: return "beyond the minimum effect";
    case LineReason::kNoDifference: return "exactly the same";
    case LineReason::kBelowMinimum: return "too small to matter";
    case LineReason::kAtMinimum: return "it changed, perhaps by less than the minimum effect";
    case LineReason::kTooNoisy: return "too noisy: it may have changed or not";
    case LineReason::kDrift: return "the runs drift over time, and the sides were captured one after the other";
    case LineReason::kBlockOrder: return "the sides were captured one after the other: a drift cannot be ruled out";
    case LineReason::kFewRuns: return "one run a side: two runs of one build may differ as much";
    case LineReason::kStageUnchanged: return "not tested: its stage did not change";
    case LineReason::kStageUndecided: return "not tested: its stage is undecided";
    case LineReason::kNoCommonKernel: return "no common kernel was measured";
    case LineReason::kOnlyInA: return "only in A";
    case LineReason::kOnlyInB: return "only in B";
    case LineReason::kNotCaptured: return "not captured";
    case LineReason::kNotCapturedA: return "not captured in A";
    case LineReason::kNotCapturedB: return "not captured in B";
    case LineReason::kNotComparable: return "not comparable";
    case LineReason::kOtherTokens: return "not comparable: its windows have different numbers of tokens";
    case LineReason::kRunsOn: return "not comparable: it ends before its GPU work does";
    case LineReason::kRankOnly: return "paired by rank alone: a guess";
    case LineReason::kNoDirection: return "neither more nor less is better";
  }
  return "";
}

std::string confidence_text(const CompareChange& change) {
  return fmt::format("{:.4g} %", 100 * std::floor(1000 * change.confidence.value_or(0.95) + 0.5) / 1000);
}

std::string change_text(const CompareChange& change) { return signed_percent(CompareChange::relative(change.log_ratio)); }

std::string estimate_text(const CompareLine& line, double value) {
  if (line.figure == CompareFigure::kCounter) return metric_text(line.key, value);
  const RunMetricInfo* info = find_compared(key_of(line.figure));
  if ((info != nullptr ? measured_unit(info->unit) : line.unit) == MetricUnit::kNanoseconds) return time_text(value);
  if (info != nullptr && info->unit == FigureUnit::kUtilisation) return utilisation_text(value);
  return figure_text(value, std::string(info != nullptr ? key_of(info->unit) : key_of(line.unit)).c_str());
}

std::string subject_text(const CompareLine& line) {
  switch (line.figure) {
    case CompareFigure::kBin: return bin_label(line.key);
    case CompareFigure::kWall: return "window";  // the column beside it names the stage
    case CompareFigure::kUnprofiledWall: return "window, unprofiled";
    case CompareFigure::kGpuWork: return "GPU work";
    case CompareFigure::kGpuBusy: return "GPU busy";
    case CompareFigure::kHostTime: return line.key + ", host time";
    case CompareFigure::kGpuTime: return line.key + ", GPU time";
    case CompareFigure::kCalls: return line.key + ", calls";
    case CompareFigure::kPower: return "mean power";
    default: break;
  }
  const RunMetricInfo* info = find_compared(key_of(line.figure));
  return info != nullptr ? uncapitalised(std::string(info->title)) : line.key;
}

std::string bin_label(const std::string& key) {
  for (const BudgetBinKey& bin : kBudgetBinKeys)
    for (const BudgetBin& drawn : kBudgetBins)
      if (key == bin.key && drawn.time == bin.time_ns) return drawn.label;
  return key;
}

std::string function_name(std::string_view kernel) {
  std::string given(kernel);
  for (const std::string_view unnamed : {"(anonymous namespace)::", "<unnamed>::"})
    for (std::size_t at; (at = given.find(unnamed)) != std::string::npos;) given.erase(at, unnamed.size());
  std::string_view name = std::string_view(given).substr(0, given.find_first_of("<("));
  if (const std::size_t space = name.rfind(' '); space != std::string_view::npos) name.remove_prefix(space + 1);
  if (const std::size_t colon = name.rfind(':'); colon != std::string_view::npos) name.remove_prefix(colon + 1);
  return std::string(name.empty() ? kernel : name);
}

std::string difference_text(const Difference& difference) {
  std::string text(difference_words(difference.code));
  if (!difference.subject.empty()) text += " " + difference.subject;
  if (difference.a.empty() && difference.b.empty()) return text;
  const auto value = [](const std::string& side) { return side.empty() ? "not known" : side; };
  return fmt::format("{}: {} and {}", text, value(difference.a), value(difference.b));
}

}  // namespace nl::exporters::report

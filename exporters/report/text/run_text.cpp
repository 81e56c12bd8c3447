#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "exporters/report/text/figure_text.h"
#include "exporters/report/text/prediction_text.h"
#include "exporters/report/text/run_text.h"
#include "model/words.h"

namespace nl::exporters::report {
namespace {

constexpr std::size_t kTopStalls = 3;

std::string exact_ns(double ns) {
  const double whole = std::round(std::abs(ns));
  if (!(whole < 9e18)) return {};
  return (ns < 0 ? "-" : "") + count_text(static_cast<std::uint64_t>(whole)) + " ns";
}

template <class List, class Of>
auto* found_in(List& list, const Of& matches) {
  const auto found = std::find_if(list.begin(), list.end(), matches);
  return found == list.end() ? nullptr : &*found;
}

std::string hidden_graphs_note(const Run& run) {
  if (run.coverage.graph_only_share.value_or(0) <= 0) return "";
  return fmt::format("Shares are of all computing; {} of it is in CUDA graphs whose kernels are not visible.",
                     share_text(run.coverage.graph_only_share));
}

constexpr std::size_t kLongFunction = 100;  // a C++ function can have a name of kilobytes

// Samples tell no more than this.
std::string rough_part(double share) {
  if (share >= 0.9) return "nearly all";
  if (share >= 0.7) return "about three quarters";
  if (share >= 0.6) return "about two thirds";
  if (share >= 0.42) return "about half";
  if (share >= 0.29) return "about a third";
  if (share >= 0.2) return "about a quarter";
  return "less than a quarter";
}

struct FunctionTime {
  const HostLine* line = nullptr;  // the one of its lines with the most samples
  std::uint64_t samples = 0;
};

// "check.<locals>.<lambda>" is a part of check, which a reader looks for.
std::string named_function(std::string name) {
  constexpr std::string_view kInside = ".<locals>.<";
  for (std::size_t at = name.rfind(kInside); name.ends_with('>') && at != std::string::npos; at = name.rfind(kInside)) name.resize(at);
  return name;
}

// Lines come by their samples, so the first of a function is its largest.
FunctionTime main_function(const HostCode& code, HostWork kind) {
  std::map<std::pair<std::string, std::string>, FunctionTime> functions;
  FunctionTime most;
  for (const HostLine& line : code.lines) {
    if (line.kind != kind) continue;
    FunctionTime& function = functions[{line.frame.file, named_function(line.frame.function)}];
    if (function.line == nullptr) function.line = &line;
    function.samples += line.samples;
    if (function.samples > most.samples) most = function;
  }
  return most;
}

// A native function without a symbol, which readers note in brackets, tells only its library, often the profiler's own.
bool has_name(const HostFrame& frame) { return !frame.function.empty() && frame.function.front() != '('; }

}  // namespace

std::string status_sentence(RunStatus status) {
  switch (status) {
    case RunStatus::kComplete: return "complete: everything planned was captured";
    case RunStatus::kPartial: return "partial: usable, but something planned is missing";
    case RunStatus::kInterrupted: return "interrupted: the run ended early, what was captured is kept";
    case RunStatus::kFailed: return "failed: the workload or the capture failed, what was captured is kept";
  }
  return "";
}

std::string scope_text(const Run& run, const Finding& finding) {
  if (finding.scope == RuleScope::kRun) return "the run";
  const std::string subject = finding.scope == RuleScope::kStage ? stage_title(run, finding.subject) : finding.subject;
  return std::string(key_of(finding.scope)) + (subject.empty() ? "" : " " + subject);
}

const Prediction* prediction_of(const Finding& finding) {
  return finding.prediction && !finding.prediction->refused ? &*finding.prediction : nullptr;
}

std::string gain_text(const Finding& finding) {
  if (const Prediction* prediction = prediction_of(finding); prediction != nullptr) {
    const std::string times = saving_times_text(*prediction);
    return saving_text(*prediction) + (times.empty() ? "" : ": " + times);
  }
  std::string out;
  if (finding.gain_ns) out = "saves at most " + time_text(*finding.gain_ns);
  if (finding.gain_share) out += (out.empty() ? "saves at most " : ", ") + share_text(finding.gain_share) + " of the measured time";
  const bool token = finding.gain_per_token_ns.has_value();
  const auto& each = token ? finding.gain_per_token_ns : finding.gain_per_window_ns;
  if (each && !out.empty())
    out += fmt::format(", {} per {}{}", time_text(*each), token ? "token" : "window", finding.gain_unprofiled ? " unprofiled" : "");
  return out;
}

std::string title_of(const Finding& finding) { return finding.message.empty() ? finding.rule : finding.message; }

const Finding* whole_of(const Run& run, const Finding& finding) {
  for (std::size_t i = 0; i < run.findings.size() && !finding.part_of.empty(); ++i)
    if (finding.part_of == fmt::format("/findings/{}", i)) return &run.findings[i];
  if (!finding.part_of.empty() || finding.same_cause_as.empty()) return nullptr;
  // Until format 3.4 only the rule is known: the nearest before it is the one. Different kernels have different causes.
  const bool of_stages = finding.scope == RuleScope::kRun || finding.scope == RuleScope::kStage;
  const Finding* nearest = nullptr;
  for (const Finding& each : run.findings) {
    if (&each == &finding) break;
    const bool same = of_stages || each.subject == finding.subject;
    if (same && each.rule == finding.same_cause_as && each.same_cause_as.empty()) nearest = &each;
  }
  return nearest;
}

std::string source_label(const Run& run) {
  const StageEntry* found = found_in(run.stages, [](const StageEntry& stage) { return stage.source != StageSource::kMarked; });
  return found == nullptr ? "" : fmt::format(" ({})", key_of(found->source));
}

std::string stage_title(const Run& run, const std::string& name) {
  const StageEntry* stage = stage_named(run, name);
  return stage == nullptr ? name : nl::stage_title(*stage);
}

bool told_by_its_parts(const Run& run, const StageEntry& stage) {
  const auto has = [&](StageKind kind) { return stage_named(run, key_of(kind)) != nullptr; };
  const StageKind kind = stage_kind(stage.name);
  if (kind == StageKind::kRequest) return has(StageKind::kPrefill) || has(StageKind::kDecode);
  return kind == StageKind::kDecode && has(StageKind::kDecodeStep);
}

bool shows_host_code(const Run& run, const StageEntry& stage) { return enough_samples(stage) && !told_by_its_parts(run, stage); }

bool shows_gaps(const Run& run, const StageEntry& stage) {
  constexpr double kWorthTelling = 0.05;  // of a stage's wall: its idle time
  if (!stage.budget || stage.gaps.empty() || told_by_its_parts(run, stage)) return false;
  const bool recurs = stage.gaps.front().kind == GapKind::kRecurring;
  double share = 0;
  for (const StageGap& gap : stage.gaps) share += gap.wall_share;
  return recurs && share > kWorthTelling;
}

bool shows_counters(const StageEntry& stage) {
  return (stage.counters && stage.counters->windows > 0) || (stage.sampling && stage.sampling->samples > 0);
}

bool shows_iterations(const Run& run) {
  return run.iterations.list.size() > 1 &&
         std::any_of(run.iterations.list.begin(), run.iterations.list.end(), [](const Iteration& each) { return each.wall_ns > 0; });
}

const StageEntry* step_stage(const Run& run) {
  const StageEntry* most = nullptr;
  for (const StageKind kind : {StageKind::kDecodeStep, StageKind::kDecode})
    for (const StageEntry& stage : run.stages)
      if (stage_kind(stage.name) == kind && stage.wall.count > 0) return &stage;
  for (const StageEntry& stage : run.stages)
    if (stage.wall.count > 0 && (most == nullptr || stage.wall.count > most->wall.count)) most = &stage;
  return most;
}

const StageEntry* unit_stage(const Run& run) {
  const StageEntry* unit = stage_named(run, run.workload.verdict.unit_stage);
  return unit != nullptr && unit->wall.count > 0 ? unit : nullptr;
}

std::string unit_noun(const Run& run) { return stage_noun(run.workload.verdict.unit_stage); }

std::string units_noun(const Run& run) { return stages_noun(run.workload.verdict.unit_stage); }

std::string unit_verb(const Run& run) {
  switch (run.workload.verdict.kind) {
    case WorkloadKind::kTraining:
    case WorkloadKind::kDiffusion:
    case WorkloadKind::kCollective: return "takes";
    case WorkloadKind::kEncoding: return "computes";
    default: return "repeats";
  }
}

const StageLaunches* launches_in(const KernelEntry& kernel, const std::string& stage) {
  static thread_local std::size_t next = 0;  // kernels list the stages in one order
  return found_from(kernel.measured, next, [&](const StageLaunches& launches) { return launches.stage == stage; });
}

const StageEfficiency* efficiency_of(const Run& run, const std::string& stage) {
  static thread_local std::size_t next = 0;
  return found_from(run.efficiency, next, [&](const StageEfficiency& entry) { return entry.stage == stage; });
}

std::string stage_colour(const Run& run, const std::string& stage) {
  const StageEntry* found = stage_named(run, stage);
  const std::size_t at = found == nullptr ? run.stages.size() : static_cast<std::size_t>(found - run.stages.data());
  return fmt::format("s-{}", at % 6);
}

const OperatorTable* main_operators(const Run& run) {
  const OperatorTable* best = nullptr;
  for (const auto& table : run.operators)
    if (!table.entries.empty() && (best == nullptr || table.gpu_share.value_or(-1) > best->gpu_share.value_or(-1))) best = &table;
  return best;
}

const NcuSample* main_sample(const KernelEntry& kernel) {
  const auto time = [](const NcuSample& sample) {
    return static_cast<double>(sample.nsys_median_ns) * static_cast<double>(sample.nsys_calls);
  };
  const auto found =
      std::max_element(kernel.ncu.begin(), kernel.ncu.end(), [&](const NcuSample& a, const NcuSample& b) { return time(a) < time(b); });
  return found == kernel.ncu.end() ? nullptr : &*found;
}

std::vector<std::string> efficiency_notes(const Run& run, bool without_mfu) {
  std::vector<std::pair<std::string, std::string>> reasons;  // the note, and its stages
  for (const auto& entry : run.efficiency) {
    if (entry.note.empty() || (without_mfu && entry.mfu)) continue;
    const auto known = std::find_if(reasons.begin(), reasons.end(), [&](const auto& reason) { return reason.first == entry.note; });
    if (known == reasons.end()) reasons.emplace_back(entry.note, entry.stage);
    else known->second += ", " + entry.stage;
  }
  std::vector<std::string> lines;
  for (const auto& [note, stages] : reasons) lines.push_back(stages + ": " + note);
  return lines;
}

std::vector<const MetricInfo*> columns_of(MetricPlace place) {
  std::vector<const MetricInfo*> columns;
  for (const MetricInfo& metric : metrics_of(place))
    if (!metric.title.empty()) columns.push_back(&metric);
  return columns;
}

Room room_of(const MetricInfo& metric) { return metric.metric == Metric::kSm || metric.metric == Metric::kDram ? kAlways : kWide; }

Cell metric_cell(MetricUnit unit, const std::optional<double>& value) {
  switch (unit) {
    case MetricUnit::kPercent: return percent_cell(value);
    case MetricUnit::kBytes: return bytes_text(value);
    case MetricUnit::kBytesPerSecond: return bytes_rate_text(value);
    default: return figure_cell(value);
  }
}

bool by_cupti(const NcuSample& sample) { return sample.measured_by == Meter::kCupti; }

std::string measured_by(const std::vector<KernelEntry>& kernels) {
  bool ncu = false, cupti = false;
  for (const auto& kernel : kernels)
    for (const auto& sample : kernel.ncu) (by_cupti(sample) ? cupti : ncu) = true;
  return ncu && cupti ? "ncu and CUPTI" : cupti ? "CUPTI" : ncu ? "ncu" : "";
}

Text kernel_name(const std::string& name) { return Text(name.empty() ? "(no name)" : name, Inline::kName); }

std::string stalls_text(const KernelEntry& kernel) {
  std::vector<std::string> words;
  for (const auto& stall : kernel.stalls)
    if (!stall.issued() && words.size() < kTopStalls) words.push_back(fmt::format("{} {:.0f} %", stall.reason, stall.share * 100));
  return words.empty() ? kNoValue : join(words);
}

bool any_stalls(const std::vector<KernelEntry>& kernels) {
  return std::any_of(kernels.begin(), kernels.end(), [](const KernelEntry& kernel) { return !kernel.stalls.empty(); });
}

std::string kernel_times_note(const Run& run) {
  std::vector<std::string> sentences;
  if (run.iterations.warmup > 0)
    sentences.push_back(fmt::format("Times are of the whole capture, with the warm-up of {} of {}.", run.iterations.warmup,
                                    plural(run.iterations.count, "iteration")));
  if (const std::string hidden = hidden_graphs_note(run); !hidden.empty()) sentences.push_back(hidden);
  return join(sentences, " ");
}

std::string working_kernels_note(const Run& run, const WorkingKernels& working) {
  if (!working.measured) return kernel_times_note(run);
  std::vector<std::string> sentences;
  if (working.left_out > 0)
    sentences.push_back(fmt::format("{} only in warm-up or outside of the measured windows {} left out: {} in all.",
                                    plural(working.left_out, "kernel that runs", "kernels that run"), working.left_out == 1 ? "is" : "are",
                                    time_text(static_cast<double>(working.left_out_ns))));
  if (const std::string hidden = hidden_graphs_note(run); !hidden.empty()) sentences.push_back(hidden);
  return join(sentences, " ");
}

std::string graph_capture_text(const std::optional<double>& unjoined_share) {
  if (!unjoined_share) return "";
  if (*unjoined_share == 0) return "Kernels of CUDA graphs count where they were captured, all of them.";
  return fmt::format("Kernels of CUDA graphs count where they were captured; for {} of their time that is not known.",
                     share_text(unjoined_share));
}

std::string split_text(const std::vector<std::pair<std::string, Ns>>& parts, Ns whole) {
  std::vector<std::string> words;
  for (const auto& [name, ns] : parts)
    if (whole > 0) words.push_back(fmt::format("{} {:.0f} %", name, 100.0 * static_cast<double>(ns) / static_cast<double>(whole)));
  return words.empty() ? kNoValue : join(words);
}

std::string split_text(const KernelEntry& kernel) {
  std::vector<std::pair<std::string, Ns>> parts;
  for (const auto& split : kernel.innermost.empty() ? kernel.stages : kernel.innermost) parts.emplace_back(split.stage, split.total_ns);
  return split_text(parts, kernel.time.total_ns);
}

Cell text_cell(const std::string& plain) { return plain.empty() ? Cell(kNoValue) : Cell(plain); }
Cell word_cell(const std::optional<std::string>& word) { return text_cell(word.value_or("")); }
Cell bound_cell(const std::optional<Bound>& bound, const std::optional<MemoryLevel>& memory) {
  if (bound != Bound::kMemory || !memory) return key_cell(bound);
  return fmt::format("memory ({})", *memory == MemoryLevel::kL1 ? "L1" : *memory == MemoryLevel::kL2 ? "L2" : "DRAM");
}
Cell code_cell(const std::string& plain) { return plain.empty() ? Cell(kNoValue) : Cell(code(plain)); }
Cell time_cell(double ns) { return {time_text(ns), ns, exact_ns(ns)}; }
Cell time_cell(const std::optional<Ns>& ns) { return ns ? time_cell(static_cast<double>(*ns)) : Cell(kNoValue); }
Cell time_cell_if(bool known, double ns) { return known ? time_cell(ns) : Cell(kNoValue); }
Cell count_cell(std::uint64_t count) { return {count_text(count), static_cast<double>(count)}; }
Cell share_cell(const std::optional<double>& share) { return {share_text(share), share}; }
Cell utilisation_cell(const std::optional<double>& share) { return {utilisation_text(share), share}; }
Cell percent_cell(const std::optional<double>& percent) { return {percent_text(percent), percent}; }
Cell figure_cell(const std::optional<double>& value, const char* unit) { return {figure_text(value, unit), value}; }

Paragraph missing(Text text) { return {std::move(text), Role::kMissing}; }

Paragraph not_captured(const std::string& why, const char* otherwise, const char* what) {
  const std::string reason = why.empty() ? otherwise : why;
  return missing(sentence(reason.empty() ? std::string(what) : std::string(what) + ": " + reason));
}

Paragraph not_captured(const std::optional<Remark>& why, const char* otherwise, const char* what) {
  return why ? missing(std::string(what) + ". " + text_of(*why)) : not_captured("", otherwise, what);
}

Paragraph caption(std::string text) { return {Text(std::move(text)), Role::kCaption}; }

std::string runs_on_text(const Run& run) {
  std::vector<std::string> names;
  for (const StageEntry& stage : run.stages)
    if (stage.wall.count > 0 && stage.runs_on()) names.push_back(stage_title(run, stage.name));
  return names.empty()
             ? ""
             : fmt::format("Ranges of {} end before the GPU work that they launched: nothing in them waits for it.", join_and(names));
}

List notes(const std::vector<std::string>& plain) {
  List list;
  for (const auto& note : plain) list.items.push_back({note});
  return list;
}

List notes(const std::vector<Remark>& remarks) {
  List list;
  for (const Remark& remark : remarks) list.items.push_back({line_of(remark)});
  return list;
}

void drop_columns(Table& table, std::initializer_list<std::string_view> titles) {
  for (const std::string_view title : titles) {
    const auto found =
        std::find_if(table.columns.begin(), table.columns.end(), [&](const Column& column) { return column.title == title; });
    if (found == table.columns.end()) continue;
    const auto place = found - table.columns.begin();
    table.columns.erase(found);
    for (std::vector<Row>* rows : {&table.rows, &table.foot})
      for (Row& row : *rows)
        if (place < static_cast<std::ptrdiff_t>(row.size())) row.erase(row.begin() + place);
  }
}

void add(Blocks& blocks, Paragraph paragraph) {
  if (!paragraph.text.empty()) blocks.emplace_back(std::move(paragraph));
}
void add(Blocks& blocks, List list) {
  if (!list.items.empty()) blocks.emplace_back(std::move(list));
}
void add(Blocks& blocks, Table table) {
  if (!table.rows.empty()) blocks.emplace_back(std::move(table));
}

bool enough_samples(const StageEntry& stage) { return stage.host_code && stage.host_code->samples >= kMinHostSamples; }

std::string function_text(const HostFrame& frame) {
  if (frame.function.empty()) return "(no name)";
  return frame.function.size() <= kLongFunction ? frame.function : cut(frame.function, kLongFunction) + "…";
}

std::string frame_text(const HostFrame& frame) {
  const std::string place = place_text(frame), function = function_text(frame);
  return place.empty() ? function : fmt::format("{} ({})", function, place);
}

std::string host_clause(const StageEntry& stage) {
  if (!enough_samples(stage) || stage.host_code->kinds.empty()) return {};
  const HostCode& code = *stage.host_code;
  const auto kind = std::max_element(code.kinds.begin(), code.kinds.end(),
                                     [](const HostWorkTime& a, const HostWorkTime& b) { return a.samples < b.samples; });
  const std::string part = rough_part(static_cast<double>(kind->samples) / static_cast<double>(code.samples));
  const FunctionTime function = main_function(code, kind->kind);
  std::string out = fmt::format("{} of the wait is {}", part, host_work_text(kind->kind));
  if (function.line == nullptr || !has_name(function.line->frame)) return out;
  HostFrame frame = function.line->frame;
  frame.function = named_function(frame.function);
  return out + fmt::format(", {} {}", 2 * function.samples > kind->samples ? "mostly" : "most often", frame_text(frame));
}

std::string work_colour(HostWork kind) { return "w-" + std::string(key_of(kind)); }

}  // namespace nl::exporters::report

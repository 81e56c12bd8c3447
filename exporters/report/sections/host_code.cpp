#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "exporters/report/sections/sections.h"
#include "exporters/report/text/links.h"
#include "exporters/report/text/run_text.h"
#include "model/words.h"

namespace nl::exporters::report {
namespace {

constexpr double kWorthALook = 0.05;  // of a stage's wall: a shorter wait without samples is passed over
constexpr double kNamedShare = 0.05;  // of the wait: kinds of code with less are not named in the sentence
constexpr std::size_t kTextLines = 10, kPageRows = 50;

// Of one GPU, as the budget counts it; a stage without one has what was sampled.
Ns wait_of(const StageEntry& stage) { return stage.budget ? stage.budget->launch_starved_ns : stage.host_code->waited_ns; }

std::optional<double> each_window(const StageEntry& stage, double ns) { return ratio(ns, static_cast<double>(stage.wall.count)); }

bool waits_long(const StageEntry& stage) {
  return !stage.budget || part_of(stage.budget->launch_starved_ns, stage.budget->wall_ns).value_or(0) > kWorthALook;
}

bool left_out(const Run& run, const StageEntry& stage) {
  if (!stage.host_code || told_by_its_parts(run, stage)) return true;
  return !shows_host_code(run, stage) && (wait_of(stage) <= 0 || !waits_long(stage));
}

std::string_view sampled_text(HostSampler sampler) {
  switch (sampler) {
    case HostSampler::kPython: return "Python stacks were sampled";
    case HostSampler::kNsys: return "nsys sampled the CPU's stacks";
    case HostSampler::kPerf: return "Native stacks were sampled";
    case HostSampler::kNone: break;
  }
  return "";
}

// nl-stage samples native stacks from outside: what it takes is not the process' own time.
std::string cost_text(const HostStacks& host) {
  const std::string share = share_text(host.cost_share);
  return host.sampler == HostSampler::kPerf ? fmt::format("reading them kept {} of one processor busy", share)
                                            : fmt::format("taking the samples took {} of the process' time", share);
}

std::string sampler_text(const Run& run) {
  if (!run.host || run.host->sampler == HostSampler::kNone) return {};
  const HostStacks& host = *run.host;
  std::string out = fmt::format(" {} every {}; {}.", sampled_text(host.sampler), rough_time(static_cast<double>(host.period_ns)),
                                host.cost_share ? cost_text(host) : "what that cost was not measured");
  if (host.lost > 0) out += fmt::format(" {} of {} were lost.", count_text(host.lost), plural(host.samples + host.lost, "sample"));
  return out;
}

// "The GPU is launch-starved 62.1 % of the time, 2.41 ms per window. Meanwhile the host runs: …"
std::string wait_text(const StageEntry& stage) {
  const double wait = static_cast<double>(wait_of(stage));
  const std::string each = time_text(each_window(stage, wait).value_or(wait));
  if (!stage.budget) return fmt::format("The GPU is launch-starved for {} per window.", each);
  return fmt::format("The GPU is launch-starved {} of the time, {} per window.", share_text(part_of(wait_of(stage), stage.budget->wall_ns)),
                     each);
}

std::vector<HostWorkTime> kinds_by_samples(const HostCode& code) {
  std::vector<HostWorkTime> kinds = code.kinds;
  std::stable_sort(kinds.begin(), kinds.end(), [](const HostWorkTime& a, const HostWorkTime& b) { return a.samples > b.samples; });
  return kinds;
}

double share_of(const HostCode& code, std::uint64_t samples) {
  return ratio(static_cast<double>(samples), static_cast<double>(code.samples)).value_or(0);
}

std::string kinds_text(const HostCode& code) {
  std::vector<std::string> parts;
  for (const HostWorkTime& kind : kinds_by_samples(code))
    if (const double share = share_of(code, kind.samples); share >= kNamedShare || parts.empty())
      parts.push_back(fmt::format("{} {}", host_work_text(kind.kind), share_text(share)));
  return parts.empty() ? "" : fmt::format(" Meanwhile the host runs: {}.", join(parts));
}

// Where one function, or one line of it, has most of the samples.
std::string function_sentence(const HostCode& code) {
  if (!code.blame || !code.blame->function) return {};
  return fmt::format(" Most of it is in {}.", blame_text(*code.blame));
}

// Half the width of the 95 % interval of a share of one half, in points: no share is less certain.
std::string certainty_text(const HostCode& code) {
  return fmt::format(" {} fall into this wait, so a share is certain to about ±{:.0f} points.", plural(code.samples, "sample"),
                     std::ceil(196 * std::sqrt(0.25 / static_cast<double>(code.samples))));
}

Bar kinds_bar(const StageEntry& stage) {
  const HostCode& code = *stage.host_code;
  Bar bar{"", "", {}, static_cast<double>(code.samples), "", "What the host runs", 0, 0};
  for (const HostWorkTime& kind : kinds_by_samples(code)) {
    const std::string share = share_text(share_of(code, kind.samples)), name(host_work_text(kind.kind));
    bar.segments.push_back({static_cast<double>(kind.samples), work_colour(kind.kind),
                            fmt::format("{}: {}, {} of the wait", name, plural(kind.samples, "sample"), share), share});
    bar.spoken += fmt::format(", {} {}", name, share);
  }
  return bar;
}

// Every kind that a picture shows, those of callers too.
Legend kinds_legend(const Run& run, const HostCode& code) {
  bool shown[kHostWorks] = {};
  for (const HostWorkTime& kind : code.kinds) shown[static_cast<std::size_t>(kind.kind)] = true;
  if (run.host)
    for (const StackFrame& frame : run.host->frames) shown[static_cast<std::size_t>(frame.kind)] = true;
  Legend legend{{}, false};
  for (std::size_t i = 0; i < kHostWorks; ++i)
    if (const auto kind = static_cast<HostWork>(i); shown[i])
      legend.entries.push_back({work_colour(kind), std::string(host_work_text(kind)), ""});
  return legend;
}

Cell place_cell(const HostFrame& frame) {
  Cell cell = code_cell(place_text(frame));
  cell.tip = frame.file;
  return cell;
}

Cell kind_cell(HostWork kind) {
  Cell cell = std::string(host_work_text(kind));
  cell.colour = work_colour(kind);
  return cell;
}

// Rounded: samples tell no more.
Cell sampled_cell(const StageEntry& stage, double ns) {
  const auto each = each_window(stage, ns);
  return each ? Cell(rough_time(*each), *each) : Cell(kNoValue);
}

Cell wait_cell(const StageEntry& stage, std::uint64_t samples) {
  return sampled_cell(stage, share_of(*stage.host_code, samples) * static_cast<double>(wait_of(stage)));
}

Table cut_for_text(Table table, std::size_t all, const char* one) {
  table.text_rows = kTextLines;
  if (all > kTextLines) table.text_note = fmt::format("{} in all: report.html has more.", plural(all, one));
  return table;
}

template <class Entry>
std::span<const Entry> first_rows(const std::vector<Entry>& list) {
  return std::span(list).first(std::min(list.size(), kPageRows));
}

Table lines_table(const StageEntry& stage) {
  Table table{"Lines that the host runs", texts({"Function", "Line"}) + numbers({"Samples", "of the wait", "per window"}) +
                                              texts({"Kind", "Module"}) + texts({"Source"}, kWide)};
  table.sortable = true;
  for (const HostLine& line : first_rows(stage.host_code->lines))
    table.rows.push_back({code_cell(function_text(line.frame)), place_cell(line.frame), count_cell(line.samples),
                          share_cell(share_of(*stage.host_code, line.samples)), wait_cell(stage, line.samples), kind_cell(line.kind),
                          text_cell(line.frame.module), code_cell(line.frame.source)});
  return cut_for_text(std::move(table), stage.host_code->lines.size(), "line");
}

Table functions_table(const StageEntry& stage) {
  Table table{"Functions with what they call", texts({"Function", "Begins at"}) + numbers({"Samples", "of the wait"}) +
                                                   numbers({"of the wait, itself"}, kWide) + numbers({"per window"}) +
                                                   texts({"Kind", "Module"})};
  table.sortable = true;
  for (const HostLine& each : first_rows(stage.host_code->functions))
    table.rows.push_back({code_cell(function_text(each.frame)), place_cell(each.frame), count_cell(each.samples_inside),
                          share_cell(share_of(*stage.host_code, each.samples_inside)), share_cell(share_of(*stage.host_code, each.samples)),
                          wait_cell(stage, each.samples_inside), kind_cell(each.kind), text_cell(each.frame.module)});
  return cut_for_text(std::move(table), stage.host_code->functions.size(), "function");
}

Table syncs_table(const StageEntry& stage) {
  Table table{"Lines that wait for the GPU", {{"Function"}, {"Line"}, {"Source"}, {"Samples", kRight}, {"per window", kRight}}};
  for (const SyncLine& sync : first_rows(stage.host_code->syncs))
    table.rows.push_back({code_cell(function_text(sync.frame)), place_cell(sync.frame), code_cell(sync.frame.source),
                          count_cell(sync.samples),
                          sync.time_ns ? sampled_cell(stage, static_cast<double>(*sync.time_ns)) : Cell(kNoValue)});
  return cut_for_text(std::move(table), stage.host_code->syncs.size(), "line");
}

// Times of several GPUs' waits stand added up beside waited_ns, so only shares of that are shown.
Table os_calls_table(const StageEntry& stage) {
  Table table{"Calls of the operating system", {{"Call"}, {"Times", kRight}, {"Mean", kRight}, {"of the wait", kRight}}};
  for (const WaitCall& call : first_rows(stage.host_code->os_calls))
    table.rows.push_back(
        {code_cell(call.name), count_cell(call.count),
         time_cell_if(call.count > 0, ratio(static_cast<double>(call.time_ns), static_cast<double>(call.count)).value_or(0)),
         share_cell(part_of(call.time_ns, stage.host_code->waited_ns))});
  return cut_for_text(std::move(table), stage.host_code->os_calls.size(), "call");
}

void add_fold(Blocks& blocks, const char* title, Table table) {
  if (!table.rows.empty()) blocks.emplace_back(Fold{title, {std::move(table)}});
}

std::string collections_text(const HostCode& code) {
  if (code.collections == 0) return {};
  const std::string times = time_text(static_cast<double>(code.collection_ns)),
                    share = share_text(part_of(code.collection_ns, code.waited_ns));
  return fmt::format("{} into this wait, for {} ({} of it).",
                     plural(code.collections, "garbage collection falls", "garbage collections fall"), times, share);
}

void add_stage(const Run& run, const StageEntry& stage, Blocks& blocks) {
  const HostCode& code = *stage.host_code;
  blocks.emplace_back(Heading{stage_title(run, stage.name), host_code_id(stage.name)});
  blocks.emplace_back(Paragraph{wait_text(stage) + kinds_text(code) + function_sentence(code) + certainty_text(code)});
  BarChart chart;
  chart.bars.push_back(kinds_bar(stage));
  blocks.emplace_back(Figure(std::move(chart)));
  blocks.emplace_back(kinds_legend(run, code));
  if (FlameChart flames = flame_graph(run, stage); !flames.frames.empty()) blocks.emplace_back(Figure(std::move(flames)));
  add(blocks, lines_table(stage));
  add(blocks, Paragraph{collections_text(code)});
  add_fold(blocks, "Functions, with what they call", functions_table(stage));
  add_fold(blocks, "Lines that wait for the GPU, in the whole stage", syncs_table(stage));
  add_fold(blocks, "Calls of the operating system in this wait", os_calls_table(stage));
}

// Too few samples: which stages, and what would give more.
Text too_few_text(const Run& run, const std::vector<const StageEntry*>& stages) {
  std::vector<std::string> parts;
  for (const StageEntry* stage : stages) parts.push_back(fmt::format("{} ({})", stage_title(run, stage->name), stage->host_code->samples));
  Text out = fmt::format("Fewer than {} samples fall into the wait of {}: too few to say what the host ran.", kMinHostSamples, join(parts));
  if (run.host && (run.host->sampler == HostSampler::kPython || run.host->sampler == HostSampler::kPerf))
    out += Text(" More requests give more, and so does ") + code("--set mark.host_samples_hz=499") + Text(".");
  return out;
}

}  // namespace

Section host_code(const Run& run) {
  Section out{"host", "Host code", "Host code while the GPU waited"};
  std::vector<const StageEntry*> too_few;
  for (const auto& stage : run.stages) {
    if (left_out(run, stage)) continue;
    if (shows_host_code(run, stage)) add_stage(run, stage, out.blocks);
    else too_few.push_back(&stage);
  }
  if (!out.blocks.empty())
    out.blocks.insert(
        out.blocks.begin(),
        Paragraph{"What the launching threads ran while the GPU was idle and waited for its next launch." + sampler_text(run)});
  if (!too_few.empty()) out.blocks.emplace_back(missing(too_few_text(run, too_few)));
  return out;
}

}  // namespace nl::exporters::report

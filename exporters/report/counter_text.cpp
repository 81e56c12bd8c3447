#include "exporters/report/counter_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "exporters/report/figure_text.h"

namespace nl::exporters {
namespace {

constexpr const char* kCount = "nl-stage run --config cupti -- ./your_workload";
constexpr const char* kSample = "nl-stage run --config sampling -- ./your_workload";
constexpr double kWantedShare = 0.01;  // of the shortest stage: within it, what is said of its windows holds

bool saw_gpu(const Run& run) { return run.kernels.has_value() || !run.hardware.gpus.empty(); }

bool measured(const StageCounters& counters) { return counters.windows > 0; }

CounterRow counted(const StageEntry& stage) {
  const StageCounters& c = *stage.counters;
  return {stage.name,
          c.measured_by.empty() ? kNoValue : c.measured_by,
          count_text(c.windows),
          c.duration_ns ? time_text(*c.duration_ns) : kNoValue,
          bytes_text(c.dram_read_bytes),
          bytes_text(c.dram_write_bytes),
          c.dram_pct,
          c.sm_active_pct,
          c.tensor_pct,
          c.occupancy_pct};
}

CounterRow sampled(const StageEntry& stage) {
  const StageSampling& s = *stage.sampling;
  return {stage.name,
          fmt::format("sampled, {} samples", count_text(s.samples)),
          kNoValue,
          kNoValue,
          bytes_rate_text(s.dram_read_bytes_per_s),
          bytes_rate_text(s.dram_write_bytes_per_s),
          s.dram_pct,
          s.sm_active_pct,
          s.tensor_pct,
          s.occupancy_pct};
}

std::string unended(std::string text) {
  if (!text.empty() && text.back() == '.') text.pop_back();
  return text;
}

// The collector's notes of trouble begin with what was not done.
constexpr std::string_view kNotCounted = "counters are not measured: ", kNotSampled = "activity is not sampled: ";

// Why the collector did not, where it says so; else the command that would.
Remark undone(const Run& run, std::string_view beginning, const char* what, const char* command) {
  const auto& missing = run.provenance.counters_missing;
  const bool refused = missing && (missing->code == Code::kCountersDenied || missing->code == Code::kCountersBusy || missing->code == Code::kCountersFailed);
  if (refused && beginning == kNotCounted) return {fmt::format("{}: {}", what, missing->what), {}};
  for (const std::string& note : run.import_stats.notes)
    if (note.rfind(beginning, 0) == 0) return {fmt::format("{}: {}.", what, unended(note.substr(beginning.size()))), {}};
  return {std::string(what) + ".", command};
}

std::string reason(const std::string& note) {
  return unended(note.rfind(kNotCounted, 0) == 0 ? note.substr(kNotCounted.size()) : note);
}

Remark remark_on(const std::vector<std::string>& stages, bool measured, const std::string& note) {
  if (measured) return {fmt::format("{}: {}.", join(stages), reason(note)), {}};
  if (note.empty()) return {fmt::format("{}: counters not measured.", join(stages)), kCount};
  return {fmt::format("{}: counters not measured: {}.", join(stages), reason(note)), {}};
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// As ClockBounds::consistent(): else no one error explains both, and the larger is the least that there is.
bool bounds_agree(const ClockFit& clock) {
  if (!clock.launch_slack_ns || !clock.wait_slack_ns) return true;
  return static_cast<double>(*clock.launch_slack_ns) + static_cast<double>(*clock.wait_slack_ns) >= 0;  // a run.json may say anything
}

std::string one_sided(Ns launch_slack_ns) {
  const std::string time = time_text(std::abs(static_cast<double>(launch_slack_ns)));
  const std::string said = launch_slack_ns < 0 ? fmt::format("early against the CPU's by at least {}; by how much more", time)
                                               : fmt::format("late against the CPU's by at most {}; by how much they may be early", time);
  return fmt::format("The GPU's times are {} is not known: no call in the capture is known to wait for work that was traced.", said);
}

}  // namespace

std::vector<CounterRow> counter_rows(const Run& run) {
  std::vector<CounterRow> rows;
  for (const auto& stage : run.stages) {
    if (stage.counters && measured(*stage.counters)) rows.push_back(counted(stage));
    if (stage.sampling && stage.sampling->samples > 0) rows.push_back(sampled(stage));
  }
  return rows;
}

std::vector<Remark> counter_remarks(const Run& run) {
  struct Group {  // stages of which one thing is to be said
    bool measured;
    std::string note;
    std::vector<std::string> stages;
  };
  std::vector<Group> groups;
  bool any_counters = false, any_samples = !run.activity.empty();
  for (const auto& stage : run.stages) {
    any_samples = any_samples || stage.sampling.has_value();
    any_counters = any_counters || stage.counters.has_value();
    if (!stage.counters || (measured(*stage.counters) && stage.counters->note.empty())) continue;
    const Group mine{measured(*stage.counters), stage.counters->note, {}};
    auto found = std::find_if(groups.begin(), groups.end(), [&](const Group& group) { return group.measured == mine.measured && group.note == mine.note; });
    if (found == groups.end()) found = groups.insert(groups.end(), mine);
    found->stages.push_back(stage.name);
  }
  std::vector<Remark> out;
  for (const Group& group : groups) out.push_back(remark_on(group.stages, group.measured, group.note));
  if (!saw_gpu(run) || run.stages.empty()) return out;
  if (!any_counters) out.push_back(undone(run, kNotCounted, "The GPU's counters of each stage: not measured", kCount));
  if (!any_samples) out.push_back(undone(run, kNotSampled, "The GPU's activity over time: not sampled", kSample));
  return out;
}

std::optional<Remark> activity_remark(const Run& run) {
  if (!run.activity.empty() || !saw_gpu(run)) return std::nullopt;
  return undone(run, kNotSampled, "Not sampled", kSample);
}

std::string clock_text(const Run& run) {
  const ClockFit& clock = run.clock;
  const bool at_most = bounds_agree(clock);
  std::string text;
  if (clock.error_ns) {
    text = fmt::format("The times of CPU and GPU are apart by at {} {}", at_most ? "most" : "least", optional_time_text(clock.error_ns));
    if (clock.share_of_shortest_stage)
      text += fmt::format(", {} of the shortest stage{}{}", share_text(clock.share_of_shortest_stage),
                          clock.shortest_stage.empty() ? "" : ", " + clock.shortest_stage,
                          clock.shortest_stage_ns ? fmt::format(" ({})", time_text(*clock.shortest_stage_ns)) : "");
    text += at_most ? "." : ", and no one offset of the clocks explains all of it.";
    if (clock.share_of_shortest_stage.value_or(0) > kWantedShare)
      text += fmt::format(" That is more than {}: a gap between a call and its kernel may be off by as much{}.",
                          share_text(kWantedShare), at_most ? "" : " or more");
  } else if (clock.launch_slack_ns) {
    text = one_sided(*clock.launch_slack_ns);
  } else if (run.kernels && !run.kernels->empty()) {
    text = "How far the times of CPU and GPU are apart is not known.";
  }
  if (clock.contradictions > 0)
    text += fmt::format("{}{} kernels start before their launch, or end after a wait for them has returned.",
                        text.empty() ? "" : " ", count_text(clock.contradictions));
  return text;
}

std::string measured_by(const std::vector<KernelEntry>& kernels) {
  bool ncu = false, cupti = false;
  for (const auto& kernel : kernels)
    for (const auto& sample : kernel.ncu) (sample.measured_by == "CUPTI" ? cupti : ncu) = true;
  return ncu && cupti ? "ncu and CUPTI" : cupti ? "CUPTI" : ncu ? "ncu" : "";
}

std::string stalls_text(const KernelEntry& kernel) {
  std::vector<std::string> words;
  for (const auto& stall : kernel.stalls)
    if (stall.reason != "selected" && words.size() < kTopStalls)  // that one issued
      words.push_back(fmt::format("{} {:.0f} %", stall.reason, stall.share * 100));
  return words.empty() ? kNoValue : join(words);
}

bool any_stalls(const std::vector<KernelEntry>& kernels) {
  return std::any_of(kernels.begin(), kernels.end(), [](const KernelEntry& kernel) { return !kernel.stalls.empty(); });
}

std::uint64_t stall_samples(const KernelEntry& kernel) {
  std::uint64_t samples = 0;
  for (const auto& stall : kernel.stalls) samples += stall.samples;
  return samples;
}

const char* metric_unit(std::string_view metric) {
  if (contains(metric, ".pct")) return "%";
  const bool bytes = contains(metric, "bytes");
  if (metric.ends_with(".per_second")) return bytes ? "bytes/s" : contains(metric, "cycles") ? "Hz" : "1/s";
  if (contains(metric, ".per_") || contains(metric, ".ratio")) return "";
  return bytes ? "bytes" : contains(metric, "time_duration") ? "ns" : "";
}

std::string metric_text(std::string_view metric, double value) {
  const std::string_view unit = metric_unit(metric);
  if (unit == "%") return fmt::format("{:.1f} %", value);
  if (unit == "bytes/s") return bytes_rate_text(value);
  if (unit == "Hz") return hertz_text(value);
  return unit == "bytes" ? bytes_text(value) : unit == "ns" ? time_text(value) : figure_text(value);
}

}  // namespace nl::exporters

#include <fmt/core.h>

#include <optional>

#include "exporters/report/sections/sections.h"
#include "exporters/report/text/run_text.h"
#include "model/words.h"

namespace nl::exporters::report {
namespace {

constexpr double kWorthTelling = 0.05;  // of a stage's wall
constexpr std::size_t kRows = 4, kCalls = 3;
constexpr double kShownShare = 0.005;

bool told(const StageEntry& stage) {
  return stage.launch_waits && stage.budget && stage.launch_waits->wait_ns() > 0 &&
         static_cast<double>(stage.budget->launch_wait_ns()) > kWorthTelling * static_cast<double>(stage.budget->wall_ns);
}

const char* before_text(CallKind kind) {
  switch (kind) {
    case CallKind::kNone: return "nothing: it is the thread's first call";
    case CallKind::kKernelLaunch: return "a kernel launch";
    case CallKind::kGraphLaunch: return "a CUDA graph launch";
    case CallKind::kCopy: return "a copy or memset";
    case CallKind::kWait: return "a wait for the GPU";
    case CallKind::kOther: break;
  }
  return "another call";
}

const char* launch_text(CallKind kind) {
  switch (kind) {
    case CallKind::kKernelLaunch: return "kernel";
    case CallKind::kGraphLaunch: return "CUDA graph";
    case CallKind::kCopy: return "copy or memset";
    default: return "other";
  }
}

void add_rows(const Run& run, const StageEntry& stage, Table& table) {
  const LaunchWaits& waits = *stage.launch_waits;
  for (std::size_t i = 0; i < waits.late.size() && i < kRows; ++i) {
    const LateLaunches& late = waits.late[i];
    if (part_of(late.wait_ns(), waits.wait_ns()).value_or(0) < kShownShare) break;
    table.rows.push_back({text_cell(stage_title(run, stage.name)), launch_text(late.launch), before_text(late.before),
                          count_cell(late.count),
                          time_cell(ratio(static_cast<double>(late.wait_ns()), static_cast<double>(late.count)).value_or(0)),
                          share_cell(part_of(late.wait_ns(), waits.wait_ns())), share_cell(part_of(late.starved_ns, late.wait_ns())),
                          time_cell(static_cast<double>(late.longest_ns))});
  }
}

std::string calls_text(const Run& run, const StageEntry& stage) {
  const LaunchWaits& waits = *stage.launch_waits;
  const auto share = [&](Ns ns) { return part_of(ns, waits.starved_ns).value_or(0); };
  std::string text = fmt::format("{}: before late launches the launching thread is in no CUDA call {} of the time",
                                 stage_title(run, stage.name), share_text(share(waits.outside_calls_ns)));
  for (std::size_t i = 0; i < waits.calls.size() && i < kCalls; ++i)
    if (share(waits.calls[i].time_ns) >= kShownShare)
      text += fmt::format(", in {} {}", waits.calls[i].name, share_text(share(waits.calls[i].time_ns)));
  return text + ".";
}

Blocks late_blocks(const std::vector<std::string>& calls, Table table) {
  Blocks blocks;
  if (table.rows.empty()) return blocks;
  blocks.emplace_back(Heading{"Late launches"});
  blocks.emplace_back(
      Paragraph{"The GPU was idle when the launch call began. Its wait ends when the work begins; time in which the stage's "
                "thread waited for the GPU is left out."});
  blocks.emplace_back(std::move(table));
  if (!calls.empty()) blocks.emplace_back(notes(calls));
  return blocks;
}

}  // namespace

Blocks late_launches(const Run& run) {
  Table table{"Late launches",
              {{"Stage"},
               {"Late launch"},
               {"The thread's call before"},
               {"Times", kRight},
               {"Mean wait", kRight},
               {"of all such waits", kRight},
               {"before the call", kRight},
               {"Longest", kRight, kWide}}};
  std::vector<std::string> calls;
  for (const auto& stage : run.stages) {
    if (!told(stage) || told_by_its_parts(run, stage)) continue;
    add_rows(run, stage, table);
    if (stage.launch_waits->starved_ns > 0) calls.push_back(calls_text(run, stage));
  }
  return late_blocks(calls, std::move(table));
}

}  // namespace nl::exporters::report

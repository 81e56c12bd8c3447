#include "analysis/figures/workload/workload_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "analysis/figures/latency/shared_steps.h"
#include "analysis/trace/kernel_class.h"
#include "model/words.h"

namespace nl::analysis {
namespace {

// Which kind of program a stage belongs to; nothing where any may have it.
std::optional<WorkloadKind> kind_of_stage(StageKind stage) {
  switch (stage) {
    case StageKind::kPrefill:
    case StageKind::kDecode:
    case StageKind::kDecodeStep: return WorkloadKind::kGeneration;
    case StageKind::kBatch: return WorkloadKind::kEncoding;
    case StageKind::kTrainStep: return WorkloadKind::kTraining;
    case StageKind::kDenoiseStep:
    case StageKind::kImage: return WorkloadKind::kDiffusion;
    case StageKind::kStep: return WorkloadKind::kUnknown;
    default: return std::nullopt;
  }
}

Ns time_of(const StageEntry& stage) { return stage.wall.total_ns + stage.warmup_wall_ns; }
std::uint64_t windows_of(const StageEntry& stage) { return stage.wall.count + stage.warmup_windows; }

// As many steps, but for one or two, in each of several processes.
struct Ranks {
  std::size_t processes = 0;
  std::size_t steps = 0;
};
Ranks ranks_of(const StagedTrace& staged, std::uint32_t stage) {
  std::map<std::uint32_t, std::size_t> steps;
  for (const Window& window : staged.windows)
    if (window.stage == stage) ++steps[window.process];
  if (steps.size() < 2) return {};
  const auto [least, most] =
      std::minmax_element(steps.begin(), steps.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most->second - least->second <= 2 ? Ranks{steps.size(), most->second} : Ranks{};
}

// Processes that wait for each other begin their steps together: nearly all within one step of each other, first to last.
bool in_lockstep(const StagedTrace& staged, std::uint32_t stage) {
  std::map<std::uint32_t, std::vector<Ns>> starts;
  std::vector<Ns> walls;
  for (const Window& window : staged.windows) {
    if (window.stage != stage) continue;
    starts[window.process].push_back(window.start_ns);
    walls.push_back(window.wall_ns());
  }
  std::nth_element(walls.begin(), walls.begin() + static_cast<std::ptrdiff_t>(walls.size() / 2), walls.end());
  const Ns usual_ns = walls[walls.size() / 2];
  const std::vector<Ns>& first = starts.begin()->second;
  std::size_t together = 0, pairs = 0;
  for (auto other = std::next(starts.begin()); other != starts.end(); ++other)
    for (std::size_t i = 0; i < std::min(first.size(), other->second.size()); ++i, ++pairs)
      together += std::abs(first[i] - other->second[i]) <= usual_ns;
  return together * 10 >= pairs * 9;
}

bool communicates(const Trace& trace) {
  return std::any_of(trace.shapes.begin(), trace.shapes.end(),
                     [&](const KernelShape& shape) { return classify_kernel(trace.strings[shape.name]) == KernelClass::kCommunication; });
}

class KindJudge {
 public:
  KindJudge(const StagedTrace& staged, const std::vector<StageEntry>& stages, const TokenCounts& configured)
      : staged_(staged), stages_(stages), configured_(configured) {}

  WorkloadVerdict judge() {
    choose_kind();
    out_.unit_stage = unit_stage();
    const StageEntry* unit = stage(out_.unit_stage);
    if (unit == nullptr) return std::move(out_);
    out_.confidence = out_.kind == WorkloadKind::kUnknown ? 0 : unit->confidence;
    testify(*unit);
    if (out_.kind == WorkloadKind::kGeneration) look_for_requests(*unit);
    if (out_.kind == WorkloadKind::kUnknown) look_for_ranks();
    return std::move(out_);
  }

 private:
  const StageEntry* stage(std::string_view name) const {
    const auto found =
        std::find_if(stages_.begin(), stages_.end(), [&](const StageEntry& each) { return each.name == name && windows_of(each) > 0; });
    return found == stages_.end() ? nullptr : &*found;
  }
  const StageEntry* stage(StageKind kind) const { return stage(key_of(kind)); }

  // Stages of one kind lie within each other (decode and its steps): the longest tells.
  void choose_kind() {
    std::map<WorkloadKind, Ns> times;
    for (const StageEntry& each : stages_)
      if (const auto kind = kind_of_stage(stage_kind(each.name)); kind && windows_of(each) > 0)
        times[*kind] = std::max(times[*kind], time_of(each));
    const auto most = std::max_element(times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most != times.end()) out_.kind = most->first;
  }

  std::string unit_stage() const {
    using enum StageKind;
    static constexpr std::array kUnits = {kDecodeStep, kDecode, kPrefill, kTrainStep, kBatch, kDenoiseStep, kImage, kStep};
    for (const StageKind unit : kUnits)
      if (kind_of_stage(unit) == out_.kind && stage(unit) != nullptr) return std::string(key_of(unit));
    // A stage of the program's own that it does most often.
    const StageEntry* most = nullptr;
    for (const StageEntry& each : stages_)
      if (stage_kind(each.name) == kOther && windows_of(each) > 1 && (most == nullptr || windows_of(each) > windows_of(*most)))
        most = &each;
    return most == nullptr ? "" : most->name;
  }

  void testify(const StageEntry& unit) {
    switch (unit.source) {
      case StageSource::kEngine: out_.witnesses.push_back({Code::kKindByEngine}); return;
      case StageSource::kMarked: out_.witnesses.push_back({Code::kKindByStages, {marked_stages()}}); return;
      case StageSource::kInferred: break;
    }
    out_.witnesses.push_back({out_.kind == WorkloadKind::kGeneration ? Code::kKindByTokens
                              : out_.kind == WorkloadKind::kTraining ? Code::kKindByTraining
                                                                     : Code::kKindByRepetition});
  }
  std::string marked_stages() const {
    std::vector<std::string_view> names;
    for (const StageEntry& each : stages_)
      if (each.source == StageSource::kMarked && windows_of(each) > 0 && !each.derived) names.push_back(each.name);
    return fmt::format("{}", fmt::join(names, ", "));
  }

  void look_for_requests(const StageEntry& unit) {
    if (unit.source == StageSource::kEngine) out_.kind = WorkloadKind::kServing;
    const std::uint32_t requests = staged_.table.find(StageKind::kRequest);
    const std::size_t most = requests == kNone ? 0 : most_at_once(staged_, requests);
    if (most > 1) out_.witnesses.push_back({Code::kKindByRequests, {std::to_string(most)}});
    const SharedSteps shared = find_shared_steps(staged_, TokenTimeline(staged_.trace, configured_));
    if (shared.serves) out_.witnesses.push_back({Code::kKindByJoining, {std::to_string(shared.joins), std::to_string(shared.most)}});
    if (most > 1 || shared.serves) out_.kind = WorkloadKind::kServing;
  }

  void look_for_ranks() {
    const std::uint32_t unit = staged_.table.find(out_.unit_stage);
    const Ranks ranks = unit == kNone ? Ranks{} : ranks_of(staged_, unit);
    if (ranks.processes < 2 || (!communicates(staged_.trace) && !in_lockstep(staged_, unit))) return;
    out_.kind = WorkloadKind::kCollective;
    out_.confidence = stages_.empty() ? 0 : stage(out_.unit_stage)->confidence;
    out_.witnesses.push_back({Code::kKindByProcesses, {std::to_string(ranks.processes), std::to_string(ranks.steps)}});
  }

  const StagedTrace& staged_;
  const std::vector<StageEntry>& stages_;
  const TokenCounts& configured_;
  WorkloadVerdict out_;
};

}  // namespace

WorkloadVerdict workload_kind(const StagedTrace& staged, const std::vector<StageEntry>& stages, const TokenCounts& configured) {
  return KindJudge(staged, stages, configured).judge();
}

}  // namespace nl::analysis

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "analysis/verdicts/rules/fields.h"
#include "model/words.h"

namespace nl::analysis::rules {
namespace {

constexpr std::uint64_t kMinGapSamples = 4;  // of fewer no share lies above one half for sure

const LaunchWaits* waits_of(const Subject& s) { return pointer_into(s.stage().launch_waits); }

template <CallKind LateLaunches::* Call, CallKind Kind>
Value late_share(const Subject& s) {
  if (!waits_of(s)) return Value::not_captured();
  Ns sum = 0;
  for (const LateLaunches& late : waits_of(s)->late) sum += late.*Call == Kind ? late.wait_ns() : 0;
  return Value::of(sum).over(waits_of(s)->wait_ns());
}

Value call_name(const Subject& s) {
  if (!waits_of(s)) return Value::not_captured();
  return waits_of(s)->calls.empty() ? Value::none() : Value::of_text(waits_of(s)->calls.front().name);
}

Value call_share(const Subject& s) {
  if (!waits_of(s)) return Value::not_captured();
  return Value::of(waits_of(s)->calls.empty() ? 0 : waits_of(s)->calls.front().time_ns).over(waits_of(s)->starved_ns);
}

const HostCode* code_of(const Subject& s) { return pointer_into(s.stage().host_code); }

// nullptr where there are too few samples.
const HostCode* told_code(const Subject& s) {
  const auto& code = s.stage().host_code;
  return code && code->samples >= kMinHostSamples && s.budget() ? &*code : nullptr;
}

// A part of the launch-starved time, as a share of the stage's time.
Value part_of_wall(const Subject& s, double part) {
  return Value::of(part * static_cast<double>(s.budget()->launch_starved_ns)).over(s.budget()->wall_ns);
}

template <HostWork... Kinds>
Value work_share(const Subject& s) {
  const HostCode* code = told_code(s);
  if (code == nullptr) return Value::not_captured();
  std::uint64_t samples = 0;
  for (const HostWorkTime& each : code->kinds)
    if (((each.kind == Kinds) || ...)) samples += each.samples;
  return part_of_wall(s, static_cast<double>(samples) / static_cast<double>(code->samples));
}

Value garbage_share(const Subject& s) {
  const auto& code = s.stage().host_code;
  if (!s.run->host || !code || !s.budget()) return Value::not_captured();
  return code->waited_ns > 0 ? part_of_wall(s, static_cast<double>(code->collection_ns) / static_cast<double>(code->waited_ns))
                             : Value::of(0);
}

// nullptr where no line and no function stands out.
const HostBlame* named_code(const Subject& s) {
  const HostCode* code = told_code(s);
  return code != nullptr && code->blame && code->blame->function ? &*code->blame : nullptr;
}

Value host_line(const Subject& s) {
  if (told_code(s) == nullptr) return Value::not_captured();
  return named_code(s) != nullptr ? Value::of_text(named_code(s)->function->function) : Value::none();
}

const SyncLine* top_sync(const Subject& s) {
  const auto& code = s.stage().host_code;
  return code && !code->syncs.empty() && code->syncs.front().time_ns ? &code->syncs.front() : nullptr;
}

template <auto Top>
Value line_function(const Subject& s) {
  const auto* line = Top(s);
  return line != nullptr ? Value::of_text(line->frame.function) : Value::not_captured();
}

template <auto Top>
std::string line_text(const Subject& s) {
  const auto* line = Top(s);
  return line != nullptr ? fmt::format("{} ({})", line->frame.function, place_text(line->frame)) : std::string();
}

Value line_share(const Subject& s) {
  if (told_code(s) == nullptr) return Value::not_captured();
  const HostBlame* named = named_code(s);
  if (named == nullptr) return Value::none();
  const std::uint64_t samples = named->line ? named->line_samples : named->function_samples;
  return part_of_wall(s, static_cast<double>(samples) / static_cast<double>(s.stage().host_code->samples));
}

Value sync_file(const Subject& s) {
  const SyncLine* line = top_sync(s);
  return line != nullptr ? Value::of_text(line->frame.file) : Value::not_captured();
}

Value sync_line_share(const Subject& s) {
  const SyncLine* line = top_sync(s);
  return line != nullptr ? Value::of(*line->time_ns).over(s.stage().wall.total_ns) : Value::not_captured();
}

bool waits_for_processes(const StageGap& gap) { return gap.host && gap.host->kind == HostWork::kExchange; }

// The recurring gaps of a stage: first those in which the host has the most to do that is not launching. A process that waits for others
// is not the cause while one of them has work of its own.
std::vector<const StageGap*> recurring_gaps(const Subject& s) {
  std::vector<const StageGap*> out;
  for (const StageGap& gap : s.stage().gaps)
    if (gap.kind == GapKind::kRecurring) out.push_back(&gap);
  const auto later = [](const StageGap* gap) { return std::pair(waits_for_processes(*gap), -gap->not_launching_ns); };
  std::stable_sort(out.begin(), out.end(), [&](const StageGap* a, const StageGap* b) { return later(a) < later(b); });
  const auto waits = std::find_if(out.begin(), out.end(), [](const StageGap* gap) { return waits_for_processes(*gap); });
  const bool others_work = waits != out.end() && waits != out.begin() && 4 * out.front()->not_launching_ns > (*waits)->not_launching_ns;
  if (waits != out.end() && !others_work) std::rotate(out.begin(), waits, waits + 1);
  return out;
}

const StageGap* recurring_gap(const Subject& s, std::size_t place) {
  const auto gaps = recurring_gaps(s);
  return place < gaps.size() ? gaps[place] : nullptr;
}

// What other processes wait for the first gap's: at most as long as it takes, in each of their windows.
Value gap_waited(const Subject& s) {
  if (!s.budget()) return Value::not_captured();
  const auto gaps = recurring_gaps(s);
  if (gaps.empty() || waits_for_processes(*gaps.front())) return Value::of(0);
  double waits_ns = 0;
  for (const StageGap* gap : gaps)
    if (waits_for_processes(*gap)) waits_ns += static_cast<double>(gap->budget.wall_ns);
  const auto others = static_cast<double>(s.stage().wall.count - std::min(s.stage().wall.count, gaps.front()->windows));
  return Value::of(std::min(waits_ns, others * gaps.front()->mean_ns));
}

// 0 where there is no such gap.
template <std::size_t Place, auto Member>
Value gap_value(const Subject& s) {
  if (!s.budget()) return Value::not_captured();
  const StageGap* gap = recurring_gap(s, Place);
  return Value::of(gap != nullptr ? static_cast<double>(std::invoke(Member, *gap)) : 0.0);
}

Ns gap_total(const StageGap& gap) { return gap.budget.wall_ns; }
double gap_each(const StageGap& gap) {
  return gap.mean_ns * static_cast<double>(gap.windows) / static_cast<double>(std::max<std::uint64_t>(1, gap.count));
}

// nullptr where no samples say what the host does in it.
template <std::size_t Place>
const HostBlame* gap_blame(const Subject& s) {
  const StageGap* gap = recurring_gap(s, Place);
  return gap != nullptr && gap->host && gap->host->samples >= kMinGapSamples ? &*gap->host : nullptr;
}

template <std::size_t Place>
Value gap_code(const Subject& s) {
  const HostBlame* blame = gap_blame<Place>(s);
  if (blame == nullptr) return s.run->host && s.budget() ? Value::none() : Value::not_captured();
  return Value::of_text(blame->function ? std::string_view(blame->function->function) : host_work_text(blame->kind));
}

Value gap_function(const Subject& s) {
  const HostBlame* blame = gap_blame<0>(s);
  if (blame == nullptr || !blame->function) return s.run->host && s.budget() ? Value::none() : Value::not_captured();
  return Value::of_text(blame->function->function);
}

Value gap_work(const Subject& s) {
  const HostBlame* blame = gap_blame<0>(s);
  if (blame == nullptr) return s.run->host && s.budget() ? Value::none() : Value::not_captured();
  return Value::of_text(key_of(blame->kind));
}

template <std::size_t Place>
std::string gap_code_text(const Subject& s) {
  const HostBlame* blame = gap_blame<Place>(s);
  return blame != nullptr ? blame_text(*blame) : std::string();
}

Value gap_own_share(const Subject& s) {
  const HostBlame* blame = gap_blame<0>(s);
  if (blame == nullptr) return s.run->host && s.budget() ? Value::of(0) : Value::not_captured();
  return Value::of(blame->own_samples).over(blame->samples);
}

void add_gap_fields(std::vector<Field>& fields) {
  const FieldGroup add(fields, Capture::kCuda, Place::kRecurringGaps), sampled(fields, Capture::kHostStacks, Place::kRecurringGaps);
  add("gap_time", Unit::kTime,
      "the recurring gap in which the host has the most to do that is not launching: mean of the windows that have it; 0: there is none",
      gap_value<0, &StageGap::mean_ns>);
  add("gap_share", Unit::kShare, "of `total_time`: this gap", gap_value<0, &StageGap::wall_share>);
  add("gap_windows", Unit::kCount, "windows that have it", gap_value<0, &StageGap::windows>);
  add("gap_each_time", Unit::kTime, "one such gap: a window may have several", gap_value<0, gap_each>);
  add("gap_total_time", Unit::kTime, "the gap in all windows", gap_value<0, gap_total>);
  add("gap_host_time", Unit::kTime,
      "of `gap_total_time`: the host does what neither CUDA graphs nor faster launches save, such as the user's own code",
      gap_value<0, &StageGap::not_launching_ns>);
  add("gap_after_wait_time", Unit::kTime, "of `gap_total_time`: the launching thread's call before was a wait for the GPU",
      gap_value<0, &StageGap::after_wait_ns>);
  add("gap_waited_time", Unit::kTime, "beside it: other processes wait for the one that has the gap", gap_waited);
  sampled.text("gap_code", "what the host runs in it: a function, or the kind of work; in sentences with file and line", gap_code<0>,
               gap_code_text<0>);
  sampled.text("gap_function", "the function, where it is one; as `nl-stage whatif --host` takes it", gap_function);
  sampled.text("gap_work", "what kind of work that is: user, tokenizer, data_loader, logging …", gap_work);
  sampled("gap_samples", Unit::kCount, "samples in the gap", [](const Subject& s) {
    const HostBlame* blame = gap_blame<0>(s);
    return blame != nullptr ? Value::of(blame->samples) : s.run->host && s.budget() ? Value::of(0) : Value::not_captured();
  });
  sampled("gap_own_share", Unit::kShare, "of these samples: in the user's own code", gap_own_share);
  add("next_gap_time", Unit::kTime, "the next recurring gap; 0: there is none", gap_value<1, &StageGap::mean_ns>);
  sampled.text("next_gap_code", "what the host runs in that one", gap_code<1>, gap_code_text<1>);
}

void add_launch_wait_fields(std::vector<Field>& fields) {
  const FieldGroup add(fields, Capture::kCuda, Place::kLaunchWaits);
  constexpr auto kBefore = &LateLaunches::before, kLaunch = &LateLaunches::launch;
  add("late_after_wait_share", Unit::kShare, "of `launch_wait_time`: the launching thread's call before was a wait for the GPU",
      late_share<kBefore, CallKind::kWait>);
  add("late_after_copy_share", Unit::kShare, "likewise: a copy or memset", late_share<kBefore, CallKind::kCopy>);
  add("late_after_graph_share", Unit::kShare, "likewise: the launch of a CUDA graph", late_share<kBefore, CallKind::kGraphLaunch>);
  add("late_after_kernel_share", Unit::kShare, "likewise: the launch of a kernel", late_share<kBefore, CallKind::kKernelLaunch>);
  add("late_graph_share", Unit::kShare, "of `launch_wait_time`: the late launch is that of a CUDA graph",
      late_share<kLaunch, CallKind::kGraphLaunch>);
  add("starved_code_share", Unit::kShare, "of `launch_starved_time`: the launching thread is in no CUDA call", [](const Subject& s) {
    return waits_of(s) ? Value::of(waits_of(s)->outside_calls_ns).over(waits_of(s)->starved_ns) : Value::not_captured();
  });
  add("starved_call_share", Unit::kShare, "of `launch_starved_time`: it is in `starved_call`", call_share);
  add.text("starved_call", "the CUDA call that it spends most of `launch_starved_time` in", call_name);
}

void add_host_code_fields(std::vector<Field>& fields) {
  const FieldGroup add(fields, Capture::kHostStacks, Place::kHostCode);
  add("host_samples", Unit::kCount, "samples of the launching threads in `launch_starved_time`", member_of<code_of, &HostCode::samples>);
  add("host_tokenizer_share", Unit::kShare, "of `total_time`: the GPU waits for a launch, and the host tokenises",
      work_share<HostWork::kTokenizer>);
  add("host_sampling_share", Unit::kShare, "likewise: it chooses the next token, or tests for the end", work_share<HostWork::kSampling>);
  add("host_generation_share", Unit::kShare, "likewise: it is in the loop around the model", work_share<HostWork::kGeneration>);
  add("host_module_share", Unit::kShare, "likewise: it is in the model's modules or in PyTorch under them",
      work_share<HostWork::kModel, HostWork::kFramework>);
  add("host_compiler_share", Unit::kShare, "likewise: it is in torch.compile and its wrappers", work_share<HostWork::kCompiler>);
  add("host_sync_share", Unit::kShare, "likewise: it is at a line that asks the GPU for a value", work_share<HostWork::kSync>);
  add("host_data_loader_share", Unit::kShare, "likewise: it loads data", work_share<HostWork::kDataLoader>);
  add("host_server_share", Unit::kShare, "likewise: it is in an event loop, a queue or HTTP", work_share<HostWork::kServer>);
  add("host_other_share", Unit::kShare, "likewise: it is in other code of the program",
      work_share<HostWork::kOther, HostWork::kUser, HostWork::kLogging, HostWork::kJson, HostWork::kSleep, HostWork::kExchange>);
  add("host_optimizer_share", Unit::kShare, "of `total_time`: the GPU waits for a launch, and the host runs the optimizer",
      work_share<HostWork::kOptimizer>);
  add("garbage_share", Unit::kShare, "of `total_time`: the GPU waits for a launch during a garbage collection", garbage_share);
  add("garbage_collections", Unit::kCount, "of at least 50 µs, in such waits",
      [](const Subject& s) { return s.run->host ? member_of<code_of, &HostCode::collections>(s) : Value::not_captured(); });
  add.text("host_line", "the function that most samples are in, in sentences with file and line; no value where none stands out", host_line,
           [](const Subject& s) { return named_code(s) != nullptr ? blame_text(*named_code(s)) : std::string(); });
  add("host_line_share", Unit::kShare, "of `total_time`: the GPU waits for a launch, and the host is in `host_line`", line_share);
  add.text("sync_line", "the line that waits for the GPU longest, likewise", line_function<top_sync>, line_text<top_sync>);
  add.text("sync_place", "its file, in sentences with the line, as `nl-stage whatif --without-wait` takes them", sync_file,
           [](const Subject& s) { return top_sync(s) != nullptr ? place_text(top_sync(s)->frame) : std::string(); });
  add("sync_line_share", Unit::kShare, "of `total_time`: `sync_line` waits", sync_line_share);
}

}  // namespace

void add_host_fields(std::vector<Field>& fields) {
  add_launch_wait_fields(fields);
  add_host_code_fields(fields);
  add_gap_fields(fields);
}

}  // namespace nl::analysis::rules

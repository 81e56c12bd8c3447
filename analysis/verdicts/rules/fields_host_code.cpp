#include <fmt/format.h>

#include "analysis/verdicts/rules/fields.h"
#include "model/words.h"

namespace nl::analysis::rules {
namespace {

// Nothing where samples are too few to tell.
const HostCode* told_code(const Subject& s) {
  const auto& code = s.stage().host_code;
  return code && code->samples >= kMinHostSamples && s.budget() ? &*code : nullptr;
}

// Of the stage's time: the part of its launch-starved time.
Value part_of_wall(const Subject& s, double part) {
  const Budget& budget = *s.budget();
  return budget.wall_ns > 0 ? Value::of(part * static_cast<double>(budget.launch_starved_ns) / static_cast<double>(budget.wall_ns))
                            : Value::none();
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

Value garbage_collections(const Subject& s) {
  const auto& code = s.stage().host_code;
  return s.run->host && code ? Value::of(static_cast<double>(code->collections)) : Value::not_captured();
}

const HostLine* top_line(const Subject& s) {
  const HostCode* code = told_code(s);
  return code != nullptr && !code->lines.empty() ? &code->lines.front() : nullptr;
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
  const HostLine* line = top_line(s);
  if (line == nullptr) return Value::not_captured();
  return part_of_wall(s, static_cast<double>(line->samples) / static_cast<double>(s.stage().host_code->samples));
}

Value sync_line_share(const Subject& s) {
  const SyncLine* line = top_sync(s);
  if (line == nullptr) return Value::not_captured();
  const Ns wall_ns = s.stage().wall.total_ns;
  return wall_ns > 0 ? Value::of(static_cast<double>(*line->time_ns) / static_cast<double>(wall_ns)) : Value::none();
}

}  // namespace

void add_host_code_fields(std::vector<Field>& fields) {
  const auto add = [&](std::string_view name, Unit unit, std::string_view help, Value (*read)(const Subject&)) {
    fields.push_back({name, kN, unit, Capture::kHostStacks, Place::kHostCode, help, read});
  };
  const auto add_line = [&](std::string_view name, std::string_view help, Value (*read)(const Subject&),
                            std::string (*shown)(const Subject&)) {
    fields.push_back({name, Type::kText, Unit::kWords, Capture::kHostStacks, Place::kHostCode, help, read, shown});
  };
  add("host_samples", Unit::kCount, "samples of the launching threads in `launch_starved_time`", [](const Subject& s) {
    return s.stage().host_code ? Value::of(static_cast<double>(s.stage().host_code->samples)) : Value::not_captured();
  });
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
  add("host_other_share", Unit::kShare, "likewise: it is in other code of the program", work_share<HostWork::kOther>);
  add("garbage_share", Unit::kShare, "of `total_time`: the GPU waits for a launch during a garbage collection", garbage_share);
  add("garbage_collections", Unit::kCount, "of at least 50 µs, in such waits", garbage_collections);
  add_line("host_line", "the line with the most samples: its function, in sentences with file and line", line_function<top_line>,
           line_text<top_line>);
  add("host_line_share", Unit::kShare, "of `total_time`: the GPU waits for a launch, and the host is at `host_line`", line_share);
  add_line("sync_line", "the line that waits for the GPU longest, likewise", line_function<top_sync>, line_text<top_sync>);
  add("sync_line_share", Unit::kShare, "of `total_time`: `sync_line` waits", sync_line_share);
}

}  // namespace nl::analysis::rules

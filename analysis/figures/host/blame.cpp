#include "analysis/figures/host/blame.h"

#include <algorithm>
#include <array>
#include <map>

#include "analysis/statistics/confidence.h"

namespace nl::analysis {
namespace {

// Which samples lie in a garbage collection of their process.
std::vector<bool> samples_in_collections(const HostSamples& host) {
  std::vector<bool> inside(host.samples.size(), false);
  std::map<std::uint32_t, Ns> until;  // by process: the latest end of those that have begun
  std::size_t next = 0;
  for (std::size_t i = 0; i < host.samples.size(); ++i) {
    const HostSample& sample = host.samples[i];
    for (; next < host.collections.size() && host.collections[next].start_ns <= sample.time_ns; ++next) {
      Ns& end_ns = until.try_emplace(host.collections[next].pid, host.collections[next].end_ns).first->second;
      end_ns = std::max(end_ns, host.collections[next].end_ns);
    }
    const auto found = until.find(sample.pid);
    inside[i] = found != until.end() && sample.time_ns < found->second;
  }
  return inside;
}

// So many of all that chance does not explain it: more than half, whatever the samples missed.
bool is_most(std::uint64_t hits, std::uint64_t all) {
  return hits > 0 && share_95(static_cast<double>(hits), static_cast<double>(all)).low > 0.5;
}

// Functions, or lines, and in how many samples each stands.
class SampleTally {
 public:
  // Each place counts once in a sample: begin a sample, then see its places.
  void begin() { ++sample_; }
  void see(std::uint32_t place, std::size_t depth) {
    Seen& seen = places_[place];
    if (seen.sample == sample_) {
      seen.depths += static_cast<double>(depth) - seen.depth;  // recursion: the innermost counts
    } else {
      ++seen.samples;
      seen.depths += static_cast<double>(depth);
    }
    seen.sample = sample_;
    seen.depth = static_cast<double>(depth);
  }

  struct Found {
    std::uint32_t place = kNone;
    std::uint64_t samples = 0;
  };
  // Of the places that most samples have, the innermost.
  std::optional<Found> innermost(std::uint64_t all) const {
    std::optional<Found> found;
    double depth = 0;
    for (const auto& [place, seen] : places_) {
      const double mean = seen.depths / static_cast<double>(seen.samples);
      if (!is_most(seen.samples, all) || (found && mean <= depth)) continue;
      found = Found{place, seen.samples};
      depth = mean;
    }
    return found;
  }

 private:
  struct Seen {
    std::uint64_t samples = 0, sample = 0;
    double depth = 0, depths = 0;
  };
  std::map<std::uint32_t, Seen> places_;
  std::uint64_t sample_ = 0;
};

// "check.<locals>.<genexpr>", "<lambda>", "<module>": not a name that a reader would look for.
bool has_name(const HostFrame& frame) { return !frame.function.ends_with('>') && !frame.function.empty(); }

// What CUDA graphs, or launches that come faster, shorten.
bool is_launching(HostWork work) {
  switch (work) {
    case HostWork::kModel:
    case HostWork::kFramework:
    case HostWork::kCuda:
    case HostWork::kCompiler:
    case HostWork::kSampling:
    case HostWork::kSync: return true;
    default: return false;
  }
}

}  // namespace

BlameTable::BlameTable(const Trace& trace) : trace_(trace), works_(trace.host.frames), in_collection_(samples_in_collections(trace.host)) {
  std::map<HostFrame, std::uint32_t> numbers;
  for (HostFrame function : trace.host.frames) {
    origins_.push_back(origin_of(function));
    function.line = function.first_line;  // the same for all frames of one function
    function.source.clear();
    const auto [found, added] = numbers.try_emplace(function, static_cast<std::uint32_t>(functions_.size()));
    if (added) functions_.push_back(std::move(function));
    function_of_frame_.push_back(found->second);
  }
}

HostWork BlameTable::work_of_sample(std::uint32_t sample) const {
  return in_collection_[sample] ? HostWork::kGarbage : works_.of_stack(stack_of(sample));
}

std::size_t BlameTable::own_place(const Stack& stack) const {
  for (std::size_t i = stack.size(); i-- > 0;)
    if (origins_[stack[i]] == CodeOrigin::kUser) return i;
  return stack.size();
}

bool BlameTable::is_own(const Stack& stack) const {
  const std::size_t own = own_place(stack);
  if (own == stack.size() || is_module_forward(trace_.host.frames[stack[own]])) return false;
  return std::none_of(stack.begin() + static_cast<std::ptrdiff_t>(own), stack.end(),
                      [&](std::uint32_t frame) { return origins_[frame] == CodeOrigin::kFramework; });
}

std::uint32_t BlameTable::telling_frame(std::uint32_t stack) const {
  const Stack& frames = trace_.host.stacks[stack];
  return is_own(frames) ? frames[own_place(frames)] : works_.calling_frame(frames);
}

// Where the function begins that a place is in. It may call itself, or be called back by a library: a lambda in a sort has its name.
std::size_t BlameTable::outermost_of(const Stack& stack, std::size_t place) const {
  const std::uint32_t function = function_of_frame_[stack[place]];
  for (std::size_t i = place; i-- > 0;) {
    if (function_of_frame_[stack[i]] == function) place = i;
    else if (origins_[stack[i]] == CodeOrigin::kUser) break;
  }
  return place;
}

// The innermost function of the user's own code that most samples are in, of those that call each other without a framework between.
void BlameTable::name_own(std::span<const std::uint32_t> samples, HostBlame& blame) const {
  SampleTally functions;
  for (const std::uint32_t sample : samples) {
    const Stack& stack = stack_of(sample);
    if (in_collection_[sample] || !is_own(stack)) continue;
    functions.begin();
    std::size_t place = own_place(stack) + 1;
    while (place > 0 && origins_[stack[place - 1]] == CodeOrigin::kUser) --place;
    for (; place <= own_place(stack); ++place)
      if (has_name(trace_.host.frames[stack[place]])) functions.see(function_of_frame_[stack[place]], place);
  }
  const auto named = functions.innermost(blame.samples);
  if (!named) return;
  blame.function = functions_[named->place];
  blame.function_samples = named->samples;
  SampleTally lines, callers, callees;
  for (const std::uint32_t sample : samples) {
    const Stack& stack = stack_of(sample);
    if (in_collection_[sample] || !is_own(stack)) continue;
    std::size_t place = own_place(stack) + 1;
    while (place > 0 && function_of_frame_[stack[place - 1]] != named->place) --place;
    if (place == 0) continue;
    const std::size_t at = place - 1;
    lines.begin();
    lines.see(stack[at], at);
    callers.begin();
    if (const std::size_t outer = outermost_of(stack, at);
        outer > 0 && origins_[stack[outer - 1]] == CodeOrigin::kUser && has_name(trace_.host.frames[stack[outer - 1]]))
      callers.see(function_of_frame_[stack[outer - 1]], outer);
    callees.begin();
    for (std::size_t inner = at + 1; inner < stack.size(); ++inner)
      if (origins_[stack[inner]] != CodeOrigin::kUser) callees.see(function_of_frame_[stack[inner]], inner);
  }
  const auto line = lines.innermost(blame.samples);
  if (line && trace_.host.frames[line->place].line > 0) {
    blame.line = trace_.host.frames[line->place];
    blame.line_samples = line->samples;
  }
  if (const auto caller = callers.innermost(named->samples)) blame.caller = functions_[caller->place];
  if (const auto callee = callees.innermost(named->samples)) blame.callee = functions_[callee->place];
}

// The innermost function of libraries that most samples are in, of those that the user's own code calls. What PyTorch does around every
// module says nothing.
void BlameTable::name_library(std::span<const std::uint32_t> samples, HostBlame& blame) const {
  SampleTally functions, lines, callers;
  for (const std::uint32_t sample : samples) {
    if (in_collection_[sample]) continue;
    const Stack& stack = stack_of(sample);
    for (SampleTally* tally : {&functions, &lines, &callers}) tally->begin();
    const std::size_t own = own_place(stack);
    const std::size_t first = own == stack.size() ? 0 : is_module_forward(trace_.host.frames[stack[own]]) ? own : own + 1;
    for (std::size_t i = first; i < stack.size(); ++i) {
      const HostFrame& frame = trace_.host.frames[stack[i]];
      const bool plumbing = !is_native(frame) && (!works_.knows(stack[i]) || works_.of_frame(stack[i]) == HostWork::kFramework);
      const bool user = origins_[stack[i]] == CodeOrigin::kUser && !is_module_forward(frame);
      if (user || plumbing || !has_name(frame)) continue;
      functions.see(function_of_frame_[stack[i]], i);
      lines.see(stack[i], i);
    }
    if (own < stack.size() && has_name(trace_.host.frames[stack[own]])) callers.see(function_of_frame_[stack[own]], own);
  }
  const auto named = functions.innermost(blame.samples);
  if (!named) return;
  blame.function = functions_[named->place];
  blame.function_samples = named->samples;
  const auto line = lines.innermost(blame.samples);
  if (line && trace_.host.frames[line->place].line > 0 && function_of_frame_[line->place] == named->place) {
    blame.line = trace_.host.frames[line->place];
    blame.line_samples = line->samples;
  }
  if (const auto caller = callers.innermost(blame.samples); caller && caller->place != named->place)
    blame.caller = functions_[caller->place];
}

std::optional<HostBlame> BlameTable::of(std::span<const std::uint32_t> samples) const {
  if (samples.empty()) return std::nullopt;
  HostBlame blame;
  blame.samples = samples.size();
  std::array<std::uint64_t, kHostWorks> kinds = {};
  for (const std::uint32_t sample : samples) {
    ++kinds[static_cast<std::size_t>(work_of_sample(sample))];
    blame.own_samples += !in_collection_[sample] && is_own(stack_of(sample));
  }
  const auto most = std::max_element(kinds.begin(), kinds.end());
  blame.kind = static_cast<HostWork>(most - kinds.begin());
  blame.kind_samples = *most;
  if (2 * blame.own_samples >= blame.samples) name_own(samples, blame);
  else name_library(samples, blame);
  return blame;
}

std::uint64_t BlameTable::not_launching(std::span<const std::uint32_t> samples, bool own_code) const {
  return static_cast<std::uint64_t>(std::count_if(samples.begin(), samples.end(), [&](std::uint32_t sample) {
    const HostWork work = work_of_sample(sample);
    return !is_launching(work) && (own_code || work != HostWork::kUser);
  }));
}

}  // namespace nl::analysis

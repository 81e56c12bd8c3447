#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "analysis/staging/found/sources.h"
#include "analysis/staging/stage_table.h"
#include "analysis/trace/api_kind.h"
#include "analysis/trace/gpu_lanes.h"
#include "model/words.h"
#include "nvtx/names.h"

// A program that trains or calls a model marks what it calls, one after the other. Its steps and batches follow from their order.
namespace nl::analysis {
namespace {

constexpr double kPause = 4;  // times the usual distance of two calls: what comes next is not part of the same loop

struct MarkedRange {
  Ns start_ns = 0, end_ns = 0;
  std::string name;
};

// The closed ranges of the domain LLM that do not lie within each other, by thread and start.
std::map<std::uint32_t, std::vector<MarkedRange>> marked_ranges(const Trace& trace) {
  std::map<std::uint32_t, std::vector<MarkedRange>> threads;
  for (const Range& range : trace.ranges) {
    const nvtx::RangeName name = nvtx::normalise_range(trace.strings[range.domain], trace.strings[range.name]);
    if (name.domain == nvtx::kLlmDomain && !never_closed(trace, range))
      threads[range.thread].push_back({range.start_ns, range.end_ns, name.name});
  }
  for (auto& [thread, ranges] : threads)
    std::stable_sort(ranges.begin(), ranges.end(), [](const MarkedRange& a, const MarkedRange& b) {
      return std::pair(a.start_ns, -a.end_ns) < std::pair(b.start_ns, -b.end_ns);
    });
  return threads;
}

// "fit_once" of the mark "kind training function=fit_once", which the auto-marker makes; "" where it is another mark.
std::string trained_function(const Trace& trace, const Mark& mark) {
  constexpr std::string_view kTrains = "kind training function=";
  const nvtx::RangeName name = nvtx::normalise_range(trace.strings[mark.domain], trace.strings[mark.name]);
  return name.domain == nvtx::kLlmDomain && name.name.starts_with(kTrains) ? name.name.substr(kTrains.size()) : "";
}

bool is_training(const std::string& name) {
  switch (stage_kind(name)) {
    case StageKind::kLoadData:
    case StageKind::kForward:
    case StageKind::kBackward:
    case StageKind::kOptimizer: return true;
    default: return false;
  }
}

class ThreadMarks {
 public:
  ThreadMarks(const Trace& trace, std::uint32_t thread, const std::vector<MarkedRange>& ranges, FoundStages& out)
      : trace_(trace), thread_(thread), ranges_(ranges), out_(out) {
    std::vector<Ns> open;
    for (const MarkedRange& range : ranges) {
      while (!open.empty() && open.back() <= range.start_ns) open.pop_back();
      around_end_ns_.push_back(open.empty() ? std::numeric_limits<Ns>::max() : open.back());
      open.push_back(range.end_ns);
    }
  }

  void find() {
    find_train_steps();
    find_calls({std::string(nvtx::kModelCall)}, StageKind::kBatch);
    const std::size_t before = out_.stages.size();
    find_calls({std::string(key_of(StageKind::kDenoiseStep))}, StageKind::kDenoiseStep);
    find_images(before);
    std::set<std::string> functions = compiled_functions();
    for (const std::string& function : training_functions())
      if (functions.erase(function) > 0) find_calls({function}, StageKind::kTrainStep);
    find_calls(functions, StageKind::kOther);
  }

 private:
  void add(Ns start_ns, Ns end_ns, StageKind kind) { add(start_ns, end_ns, std::string(key_of(kind))); }
  void add(Ns start_ns, Ns end_ns, const std::string& name) {
    out_.stages.push_back({start_ns, std::max(start_ns, end_ns), thread_, name, {}});
  }

  // Functions that JAX compiles, which the first call of each shows. A call only hands the work over; what the program does until it calls
  // one of them again is a part of its step.
  std::set<std::string> compiled_functions() const {
    std::set<std::string> names;
    for (std::size_t i = 0; i + 1 < ranges_.size(); ++i)
      if (ranges_[i + 1].name == nvtx::kCompile && ranges_[i + 1].end_ns <= ranges_[i].end_ns &&
          stage_kind(ranges_[i].name) == StageKind::kOther)
        names.insert(ranges_[i].name);
    return names;
  }

  // Those of them that compute gradients of their parameters, as the auto-marker saw while JAX traced them.
  std::set<std::string> training_functions() const {
    std::set<std::string> names;
    for (const Mark& mark : trace_.marks)
      if (process_slot_of_thread(trace_, mark.thread) == process_slot_of_thread(trace_, thread_))
        names.insert(trained_function(trace_, mark));
    return names;
  }

  // A step lasts from its first batch of data to the first of the next one. Gradients may be added up over several batches before the
  // optimizer works. What is evaluated between two steps belongs to neither.
  void find_train_steps() {
    Ns start_ns = 0, optimized_ns = 0;
    bool open = false, worked = false, optimized = false;
    for (const MarkedRange& range : ranges_) {
      const bool trains = is_training(range.name), optimizes = stage_kind(range.name) == StageKind::kOptimizer;
      if (open && optimized && !optimizes && range.start_ns >= optimized_ns) {
        add(start_ns, trains ? range.start_ns : optimized_ns, StageKind::kTrainStep);
        open = worked = optimized = false;
      }
      if (!trains && !worked) open = false;  // the data were for it
      if (!trains) continue;
      if (!open) start_ns = range.start_ns, open = true;
      worked |= stage_kind(range.name) != StageKind::kLoadData;
      if (optimizes) optimized = true, optimized_ns = range.end_ns;
    }
    if (open && optimized) add(start_ns, optimized_ns, StageKind::kTrainStep);
  }

  // Calls of a model. One that steps of decoding follow has read their prompt; else each lasts until the next, with what the program
  // does in between.
  void find_calls(const std::set<std::string>& names, StageKind kind) {
    std::vector<std::size_t> calls;
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      if (!names.contains(ranges_[i].name)) continue;
      if (kind == StageKind::kBatch && stage_kind(next_name(i)) == StageKind::kDecodeStep)
        add(ranges_[i].start_ns, ranges_[i].end_ns, StageKind::kPrefill);
      else calls.push_back(i);
    }
    const Ns usual_ns = usual_distance(calls);
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const MarkedRange& call = ranges_[calls[i]];
      const Ns next_ns = i + 1 < calls.size() ? ranges_[calls[i + 1]].start_ns : std::numeric_limits<Ns>::max();
      const bool follows = static_cast<double>(next_ns - call.start_ns) <= kPause * static_cast<double>(usual_ns);
      const Ns latest_ns = std::min(next_ns, around_end_ns_[calls[i]]);
      const Ns end_ns = follows ? latest_ns : end_of_wait(call, std::min(latest_ns, call.end_ns + usual_ns));
      if (kind == StageKind::kOther) add(call.start_ns, end_ns, call.name);
      else add(call.start_ns, end_ns, kind);
    }
  }
  // Of a sampler written by hand: steps from one start to the next. Pipelines have ranges for their images.
  void find_images(std::size_t first_step) {
    const auto is = [&](StageKind kind) { return [kind](const MarkedRange& range) { return stage_kind(range.name) == kind; }; };
    if (std::any_of(ranges_.begin(), ranges_.end(), is(StageKind::kImage))) return;
    std::vector<std::pair<Ns, Ns>> calls;
    for (const MarkedRange& range : ranges_)
      if (is(StageKind::kDenoiseStep)(range)) calls.emplace_back(range.start_ns, range.end_ns);
    const auto [starts, by_noise] = find_image_starts(trace_, thread_, calls);
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const std::size_t last = (i + 1 < starts.size() ? starts[i + 1] : calls.size()) - 1;
      add(calls[starts[i]].first, out_.stages[first_step + last].end_ns, StageKind::kImage);
    }
    if (by_noise && !starts.empty())
      out_.notes.push_back({Code::kImagesByNoise, {std::to_string(starts.size()), std::to_string(starts[1])}});
  }
  // The next range that is not such a call: a server reads several prompts before it takes a step for all of them.
  std::string next_name(std::size_t at) const {
    for (std::size_t i = at + 1; i < ranges_.size(); ++i)
      if (ranges_[i].start_ns >= ranges_[at].end_ns && ranges_[i].name != ranges_[at].name) return ranges_[i].name;
    return {};
  }
  Ns usual_distance(const std::vector<std::size_t>& calls) const {
    std::vector<Ns> distances;
    for (std::size_t i = 0; i + 1 < calls.size(); ++i) distances.push_back(ranges_[calls[i + 1]].start_ns - ranges_[calls[i]].start_ns);
    if (distances.empty()) return 0;
    const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
    std::nth_element(distances.begin(), middle, distances.end());
    return *middle;
  }
  // Until the thread has waited for the call's work, where it does so soon.
  Ns end_of_wait(const MarkedRange& call, Ns latest_ns) const {
    ApiKinds kinds(trace_);
    const auto first =
        std::lower_bound(trace_.api_calls.begin(), trace_.api_calls.end(), std::pair(thread_, call.end_ns),
                         [](const ApiCall& api, const auto& key) { return std::pair<std::uint32_t, Ns>(api.thread, api.start_ns) < key; });
    for (auto api = first; api != trace_.api_calls.end() && api->thread == thread_ && api->start_ns < latest_ns; ++api)
      if (kinds.of(*api).waits) return api->end_ns();
    return call.end_ns;
  }

  const Trace& trace_;
  std::uint32_t thread_;
  const std::vector<MarkedRange>& ranges_;
  std::vector<Ns> around_end_ns_;  // of the shortest range around each: the image that a step is of
  FoundStages& out_;
};

}  // namespace

FoundStages stages_of_marks(const Trace& trace) {
  FoundStages out;
  out.origin = {StageSource::kMarked, 1};
  for (const auto& [thread, ranges] : marked_ranges(trace)) ThreadMarks(trace, thread, ranges, out).find();
  return out;
}

}  // namespace nl::analysis

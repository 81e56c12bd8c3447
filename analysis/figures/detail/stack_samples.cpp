#include "analysis/figures/detail/stack_samples.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "analysis/figures/detail/lane_table.h"
#include "analysis/figures/host/blame.h"

namespace nl::analysis {
namespace {

std::string without_folders(const std::string& file) { return file.substr(file.rfind('/') + 1); }

// Numbers the stacks that were asked for, as ways up one tree.
class StackTree {
 public:
  StackTree(const Trace& trace, std::size_t most_nodes)
      : trace_(trace), blame_(trace), most_nodes_(most_nodes), of_frame_(trace.host.frames.size(), kNone),
        of_stack_(trace.host.stacks.size(), kNone) {}

  std::uint32_t of(std::uint32_t stack) {
    std::uint32_t& known = of_stack_[stack];
    if (known != kNone) return known;
    const DetailStack made{node_of(trace_.host.stacks[stack]), frame_of(blame_.telling_frame(stack))};
    const auto [found, added] = numbers_.try_emplace({made.node, made.named}, static_cast<std::uint32_t>(stacks_.size()));
    if (added) stacks_.push_back(made);
    return known = found->second;
  }
  void put(DetailSamples& samples) {
    samples.frames = std::move(frames_);
    samples.nodes = std::move(nodes_);
    samples.stacks = std::move(stacks_);
  }

 private:
  std::uint32_t frame_of(std::uint32_t frame) {
    std::uint32_t& known = of_frame_[frame];
    if (known != kNone) return known;
    const HostFrame& from = trace_.host.frames[frame];
    const auto [found, added] =
        frame_numbers_.try_emplace({from.function, without_folders(from.file), from.line}, static_cast<std::uint32_t>(frames_.size()));
    if (added) frames_.push_back(found->first);
    return known = found->second;
  }
  std::uint32_t node_of(const std::vector<std::uint32_t>& stack) {
    std::uint32_t at = kNone;
    for (const std::uint32_t frame : stack) {
      const std::pair<std::uint32_t, std::uint32_t> key{at, frame_of(frame)};
      const auto found = children_.find(key);
      if (found == children_.end() && at != kNone && nodes_.size() >= most_nodes_) return at;
      if (found == children_.end()) nodes_.push_back({key.first, key.second});
      at = found != children_.end() ? found->second : static_cast<std::uint32_t>(nodes_.size() - 1);
      children_.try_emplace(key, at);
    }
    return at;
  }

  const Trace& trace_;
  const BlameTable blame_;
  const std::size_t most_nodes_;
  std::vector<std::uint32_t> of_frame_, of_stack_;
  std::map<DetailFrame, std::uint32_t> frame_numbers_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> children_, numbers_;  // by parent and frame; by node and frame
  std::vector<DetailFrame> frames_;
  std::vector<DetailStackNode> nodes_;
  std::vector<DetailStack> stacks_;
};

bool inside(const Spans& exact, Ns time_ns) {
  const auto window = first_ending_after(exact, time_ns);
  return window != exact.end() && window->first <= time_ns;
}

bool has_stack(const HostSamples& host, const HostSample& sample) {
  return sample.stack < host.stacks.size() && !host.stacks[sample.stack].empty();
}

// By process and thread; threads of the trace have a title of their own, and come first.
class SampledThreads {
 public:
  explicit SampledThreads(const Trace& trace) {
    for (std::uint32_t i = 0; i < trace.threads.size(); ++i) {
      const Thread& thread = trace.threads[i];
      if (thread.process < trace.processes.size()) add(trace.processes[thread.process].pid, thread.tid, thread_title(trace, i));
    }
  }
  DetailThreadSamples& of(const HostSample& sample) {
    const auto found = places_.find(key_of_sample(sample.pid, sample.tid));
    if (found != places_.end()) return threads_[found->second];
    return add(sample.pid, sample.tid,
               fmt::format("process {} {}thread {}", sample.pid, sample.pid == sample.tid ? "main " : "", sample.tid));
  }
  std::vector<DetailThreadSamples> take() {
    std::erase_if(threads_, [](const DetailThreadSamples& thread) { return thread.samples.empty(); });
    return std::move(threads_);
  }

 private:
  static std::uint64_t key_of_sample(std::uint32_t pid, std::uint32_t tid) { return std::uint64_t{pid} << 32 | tid; }
  DetailThreadSamples& add(std::uint32_t pid, std::uint32_t tid, std::string title) {
    const auto [found, added] = places_.try_emplace(key_of_sample(pid, tid), threads_.size());
    if (added) threads_.push_back({pid, tid, std::move(title), {}});
    return threads_[found->second];
  }

  std::unordered_map<std::uint64_t, std::size_t> places_;
  std::vector<DetailThreadSamples> threads_;
};

}  // namespace

DetailSamples listed_samples(const Trace& trace, const CaptureSpan& capture, const Spans& exact, const SampleLimits& limits) {
  DetailSamples out;
  const HostSamples& host = trace.host;
  const auto shown = [&](const HostSample& sample) {
    return sample.time_ns >= capture.start_ns && sample.time_ns < capture.end_ns && has_stack(host, sample);
  };
  std::size_t in_windows = 0;
  for (const HostSample& sample : host.samples) {
    if (!shown(sample)) continue;
    ++out.in_all;
    in_windows += inside(exact, sample.time_ns);
  }
  // Of those inside the windows none is left out, unless they alone are too many.
  const bool whole = in_windows <= limits.samples;
  const std::size_t others = out.in_all - (whole ? in_windows : 0);
  const std::size_t room = std::max<std::size_t>(1, limits.samples - (whole ? in_windows : 0));
  out.every = static_cast<std::uint32_t>(std::max<std::size_t>(1, (others + room - 1) / room));
  out.sampler = host.sampler;
  StackTree stacks(trace, limits.nodes);
  SampledThreads threads(trace);
  std::unordered_map<std::uint64_t, std::uint32_t> passed;  // by thread: each keeps its own one in `every`
  for (const HostSample& sample : host.samples) {
    if (!shown(sample)) continue;
    const bool kept = (whole && inside(exact, sample.time_ns)) || passed[std::uint64_t{sample.pid} << 32 | sample.tid]++ % out.every == 0;
    if (kept) threads.of(sample).samples.emplace_back(sample.time_ns, stacks.of(sample.stack));
  }
  stacks.put(out);
  out.threads = threads.take();
  return out;
}

}  // namespace nl::analysis

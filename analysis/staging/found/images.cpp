#include <algorithm>
#include <map>
#include <string>

#include "analysis/staging/found/sources.h"
#include "model/words.h"
#include "nvtx/names.h"

namespace nl::analysis {
namespace {

constexpr std::uint64_t kLeastNoiseBytes = 16 * 1024;  // a latent that the host drew; what else a step gets is smaller
constexpr std::size_t kFewestStepsOfImage = 3;         // of an image

// Normally distributed random numbers, as PyTorch and cuRAND name the kernels.
bool draws_noise(const std::string& name) {
  const auto has = [&](const char* word) { return name.find(word) != std::string::npos; };
  if (has("curand") || has("gen_sequenced") || has("generate_normal")) return true;
  return has("distribution_elementwise") && has("normal");
}

// When the thread puts a new latent on the GPU, in order.
std::vector<Ns> noise_times(const Trace& trace, std::uint32_t thread) {
  std::vector<bool> of_shape;
  for (const KernelShape& shape : trace.shapes) of_shape.push_back(draws_noise(trace.strings[shape.name]));
  std::vector<Ns> times;
  const auto add = [&](std::uint32_t api) {
    if (api < trace.api_calls.size() && trace.api_calls[api].thread == thread) times.push_back(trace.api_calls[api].start_ns);
  };
  for (const Kernel& kernel : trace.kernels)
    if (kernel.shape < of_shape.size() && of_shape[kernel.shape]) add(kernel.api);
  for (const MemOp& op : trace.mem_ops)
    if (op.kind == MemOpKind::kHostToDevice && op.bytes >= kLeastNoiseBytes) add(op.api);
  std::sort(times.begin(), times.end());
  return times;
}

// When the auto-marker saw the time steps start anew.
std::vector<Ns> marked_times(const Trace& trace, std::uint32_t thread) {
  std::vector<Ns> times;
  for (const Mark& mark : trace.marks) {
    if (mark.thread != thread) continue;
    const nvtx::RangeName name = nvtx::normalise_range(trace.strings[mark.domain], trace.strings[mark.name]);
    if (name.domain == nvtx::kLlmDomain && name.name == key_of(StageKind::kImage)) times.push_back(mark.time_ns);
  }
  std::sort(times.begin(), times.end());
  return times;
}

// How many of the times lie between each call and the one before it; nothing is before the first.
std::vector<std::size_t> counts_between(const std::vector<Ns>& times, const std::vector<std::pair<Ns, Ns>>& calls) {
  std::vector<std::size_t> counts(calls.size());
  for (std::size_t i = 1; i < calls.size(); ++i) {
    const auto first = std::lower_bound(times.begin(), times.end(), calls[i - 1].second);
    counts[i] = static_cast<std::size_t>(std::upper_bound(first, times.end(), calls[i].first) - first);
  }
  return counts;
}

// Of images with as many steps each. The capture may end within the last.
bool equally_long(const std::vector<std::size_t>& starts, std::size_t steps) {
  if (starts.size() < 2 || starts[1] < kFewestStepsOfImage || steps - starts.back() > starts[1]) return false;
  for (std::size_t i = 2; i < starts.size(); ++i)
    if (starts[i] - starts[i - 1] != starts[1]) return false;
  return true;
}

}  // namespace

ImageStarts find_image_starts(const Trace& trace, std::uint32_t thread, const std::vector<std::pair<Ns, Ns>>& calls) {
  ImageStarts out;
  if (calls.empty()) return out;
  const std::vector<Ns> marked = marked_times(trace, thread);
  out.by_noise = marked.empty();
  const std::vector<std::size_t> counts = counts_between(out.by_noise ? noise_times(trace, thread) : marked, calls);
  // A sampler may add noise in each step: the first step of an image comes after more of it.
  std::map<std::size_t, std::size_t> often;
  for (std::size_t i = 1; i < counts.size(); ++i) ++often[counts[i]];
  std::size_t usual = 0;
  for (const auto& [count, times] : often)
    if (out.by_noise && times * 2 > counts.size()) usual = count;
  out.first_steps.push_back(0);
  for (std::size_t i = 1; i < counts.size(); ++i)
    if (counts[i] > usual) out.first_steps.push_back(i);
  if (out.by_noise && !equally_long(out.first_steps, calls.size())) out.first_steps.clear();
  return out;
}

}  // namespace nl::analysis

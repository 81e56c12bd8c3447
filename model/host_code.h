#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/codes.h"
#include "model/time.h"

// What the host ran, as far as it was sampled: stacks, garbage collections, and what the stages' waits for
// launches fell on.
namespace nl {

// A place in the program: a line of Python, or a native function (then file is its library and line is 0).
struct HostFrame {
  std::string function;  // "Qwen3Attention.forward"
  std::string file;
  std::string module;  // "transformers.models.qwen3.modeling_qwen3"; empty: native
  std::uint32_t line = 0;
  std::uint32_t first_line = 0;  // of the function; 0: not known
  std::string source;            // the line's text, stripped; empty: not known
  friend auto operator<=>(const HostFrame&, const HostFrame&) = default;
};

struct HostSample {
  Ns time_ns = 0;
  std::uint32_t pid = 0, tid = 0;
  std::uint32_t stack = 0;  // index into HostSamples::stacks
};

struct GarbageCollection {
  Ns start_ns = 0, end_ns = 0;
  std::uint32_t pid = 0, tid = 0;
  std::uint32_t generation = 0;
};

// Times are those of the trace that they belong to.
struct HostSamples {
  HostSampler sampler = HostSampler::kNone;
  Ns period_ns = 0;                  // between two samples of one thread, as it turned out: the median
  std::optional<double> cost_share;  // of the time of its process, spent on sampling
  std::vector<HostFrame> frames;
  std::vector<std::vector<std::uint32_t>> stacks;  // of frames, outermost first
  std::vector<HostSample> samples;                 // by time
  std::vector<GarbageCollection> collections;      // by start
  std::uint64_t lost = 0;                          // samples that were not kept
};

inline constexpr std::uint64_t kMinHostSamples = 20;  // of fewer, shares are chance: counts stay, times are empty

// Whose code ran, as far as samples can say. A function or a line is named only where the 95 % interval (Wilson's) of its share of the
// samples lies above one half. A sample is of the innermost function of the user's own code in its stack: neither of the standard library
// nor of an installed package. Where there is none it is of the innermost function.
struct HostBlame {
  std::uint64_t samples = 0;
  std::uint64_t own_samples = 0;  // in the user's own code, or in a library that is not a framework called from there
  HostWork kind = HostWork::kOther;
  std::uint64_t kind_samples = 0;     // with this kind, which has the most
  std::optional<HostFrame> function;  // its line is where it begins; empty: none stands out
  std::uint64_t function_samples = 0;
  std::optional<HostFrame> line;  // of that function; empty: none stands out
  std::uint64_t line_samples = 0;
  std::optional<HostFrame> caller;  // the function of the user's own code that calls it; empty: none, or there are several
  std::optional<HostFrame> callee;  // the library's function that it is in; empty: itself, or there are several
};

// One place, and how much of a stage's wait for launches fell on it. Times are samples' shares of that wait.
struct HostLine {
  HostFrame frame;
  HostWork kind = HostWork::kOther;  // what kind of code it is, by module and source
  std::uint64_t samples = 0;         // with this line innermost
  std::uint64_t samples_inside = 0;  // with it anywhere in the stack
  std::optional<Ns> time_ns, time_inside_ns;
};

// Calls that wait for the GPU, by the line that makes them. Times are samples' shares of StageActivity::sync_call_ns.
struct SyncLine {
  HostFrame frame;
  std::uint64_t samples = 0;
  std::optional<Ns> time_ns;
};

struct HostWorkTime {
  HostWork kind = HostWork::kOther;
  std::uint64_t samples = 0;
  std::optional<Ns> time_ns;
};

// Calls of one name that a launching thread was in while a GPU waited.
struct WaitCall {
  std::string name;  // "cudaMalloc", "pthread_cond_wait"
  std::uint64_t count = 0;
  Ns time_ns = 0;  // of the wait
};

// What the launching threads of a stage ran while its GPUs waited for their next launch.
struct HostCode {
  Ns waited_ns = 0;                     // as LaunchWaits::starved_ns
  std::uint64_t samples = 0;            // that fall into it; times are waited_ns × samples ÷ this
  std::vector<HostLine> lines;          // innermost lines, most samples first
  std::vector<HostLine> functions;      // whole functions (line: where it begins), most samples_inside first
  std::vector<HostWorkTime> kinds;      // adds up to samples
  std::vector<SyncLine> syncs;          // samples inside calls that wait for the GPU, anywhere in the stage
  std::uint64_t collections = 0;        // garbage collections on these threads that overlap the wait,
  Ns collection_ns = 0;                 // and how long they do
  std::vector<WaitCall> os_calls;       // calls of the operating system on these threads in it, longest first
  std::optional<HostBlame> blame = {};  // empty: too few samples
};

// Stacks of one stage in its waits for launches, for flame graphs: frames of Run::host.frames.
struct WaitStack {
  std::string stage;
  std::vector<std::uint32_t> frames;  // outermost first
  std::uint64_t samples = 0;
};

struct StackFrame {
  HostFrame frame;
  HostWork kind = HostWork::kOther;
};

struct HostStacks {
  HostSampler sampler = HostSampler::kNone;
  Ns period_ns = 0;
  std::optional<double> cost_share;
  std::uint64_t samples = 0;  // of the whole capture
  std::uint64_t lost = 0;
  std::vector<StackFrame> frames;
  std::vector<WaitStack> stacks;  // most samples first, by stage
  std::uint64_t unlisted = 0;     // samples in waits whose stacks are not among them
};

}  // namespace nl

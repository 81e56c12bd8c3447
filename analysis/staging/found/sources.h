#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/staging/found/found.h"
#include "model/trace.h"
#include "nvtx/engine_steps.h"

namespace nl::analysis {

// The steps of the engine with the most ranges; nothing where no engine's ranges are there. Where names do not tell prefill from
// decoding, the GPU work of the steps does.
FoundStages stages_of_engine(const Trace& trace);

// The same steps with their requests.
struct EngineRound {
  Ns start_ns = 0, end_ns = 0;
  std::uint32_t thread = kNone;
  std::optional<std::uint64_t> contexts, generations;
};
std::vector<EngineRound> engine_rounds(const Trace& trace);

// What each process of an engine is for, by its name or that of one of its threads.
std::vector<Remark> notes_on_processes(const Trace& trace);

// Steps of training, batches and prefills that follow from what the workload marks: forward, backward and optimizer, calls of a model.
FoundStages stages_of_marks(const Trace& trace);

// Which steps of a diffusion are the first of an image, or of a batch of images: those before which the time steps start anew, as the
// auto-marker sees it, or noise is drawn that other steps do not draw. Empty where neither shows it.
struct ImageStarts {
  std::vector<std::size_t> first_steps;
  bool by_noise = false;
};
ImageStarts find_image_starts(const Trace& trace, std::uint32_t thread, const std::vector<std::pair<Ns, Ns>>& calls);

// The ranges that the map names; the first pattern that a name matches decides.
FoundStages stages_of_map(const Trace& trace, const StageMap& map);

// The steps of what repeats in a trace, thread by thread: prefill and steps of decoding where an embedding is looked up, a token chosen and a
// larger step comes before; steps of training where kernels show it; else plain steps. Nothing where nothing repeats; the notes say what was seen.
FoundStages infer_stages(const Trace& trace);

// The time of one process without its start-up and warm-up.
struct SteadyPart {
  Ns start_ns = 0, end_ns = 0;   // until the end of its last work on a GPU
  Ns first_work_ns = 0;          // where that work began
  std::uint32_t thread = kNone;  // that launches the most
  bool warmed_up = false;        // the start is where every kernel that matters had run once; false: the first work
};

// A kernel that runs for the first time is loaded, and often chosen or tuned before: the steady part begins where all kernels but
// for a hundredth of the time have run once. Where less than a third of the kernel time would be left, nothing is left out.
// One for each process with work on a GPU, in the order of the trace.
std::vector<SteadyPart> find_steady_parts(const Trace& trace);

}  // namespace nl::analysis

#include "analysis/verdicts/rules/fields.h"

#include "model/headline.h"
#include "model/shell.h"

namespace nl::analysis::rules {
namespace {

const char* words(Capture capture, bool generating) {
  switch (capture) {
    case Capture::kAlways: return "";
    case Capture::kStages: return "NVTX ranges of the domain LLM around the program's stages (docs/capture.md)";
    case Capture::kCuda: return "a CUDA trace (nsys or the collector)";
    case Capture::kNcu: return "kernel counters (ncu or the collector)";
    case Capture::kOperators: return "operator ranges of PyTorch";
    case Capture::kModel:
      return generating ? "the model shape, token counts and a GPU with known peaks"
                        : "the model shape, the sizes of its inputs and a GPU with known peaks";
    case Capture::kBare: return "unprofiled runs";
    case Capture::kNvml: return "power and clock samples (NVML)";
    case Capture::kIterations: return "three iterations or more, two of them after warm-up";
    case Capture::kCounters: return "stage counters (collector, CUPTI)";
    case Capture::kSampling: return "GPU activity samples (collector)";
    case Capture::kRequests: return "an engine that marks its requests and steps (docs/serving.md)";
    case Capture::kWhole: return "the whole trace: a part of it is missing";
    case Capture::kHostStacks:
      return "samples of the host's stacks in these waits, 20 or more (of a Python workload, or of a native one that the collector traces)";
  }
  return "";
}

bool needs_deep(const std::set<Capture>& captures) {
  return captures.count(Capture::kNcu) + captures.count(Capture::kBare) + captures.count(Capture::kNvml) > 0;
}

std::vector<std::string> configuration(const std::set<Capture>& captures) {
  const bool counters = captures.count(Capture::kCounters) > 0, deep = needs_deep(captures);
  const bool sampling = captures.count(Capture::kSampling) > 0;
  if (sampling && !counters && !deep) return {"--config", "sampling"};
  std::vector<std::string> words = {"--config", counters ? "cupti" : deep ? "deep" : "light"};
  if (sampling && !counters) words.insert(words.end(), {"--set", "capture.prefer=cupti"});
  if (sampling) words.insert(words.end(), {"--set", "capture.sampling_us=500"});
  return words;
}

// Why counters were asked for and did not come: the same command would meet the same refusal. Null: it might work.
const Problem* refusal(const std::set<Capture>& captures, const Run& run) {
  const auto& missing = run.provenance.counters_missing;
  if (!missing || missing->code == Code::kCountersOff) return nullptr;
  const bool by_anybody =
      missing->code == Code::kCountersDenied || missing->code == Code::kCountersBusy || missing->code == Code::kCountersFailed;
  return captures.count(Capture::kNcu) > 0 || (by_anybody && captures.count(Capture::kCounters) > 0) ? &*missing : nullptr;
}

// A shape, or what it still lacks.
void add_model(const Run& run, std::vector<std::string>& command) {
  const auto& known = run.model.attributes;
  const std::size_t before = command.size();
  using Keys = std::vector<std::string>;
  for (const std::string& key :
       generates(run) ? Keys{"batch_size", "prompt_tokens", "decode_tokens"} : Keys{"batch_size", "sequence_tokens"})
    if (!known.empty() && !known.count(key)) command.insert(command.end(), {"--set", "model." + key + "=N"});
  if (command.size() == before) command.insert(command.end(), {"--model", "MODEL.yaml"});
}

// A run samples every Python workload by itself: where there are no samples, the same command gets none either.
bool gets_no_stacks(const std::set<Capture>& captures, const Run& run) {
  return captures == std::set{Capture::kHostStacks} && !run.host && run.provenance.tracer != Tracer::kImport;
}

}  // namespace

std::string capture_reason(const std::set<Capture>& captures, const Run& run) {
  if (const Problem* refused = refusal(captures, run)) return refused->fix.empty() ? refused->what : refused->what + " " + refused->fix;
  std::string text;
  for (const Capture capture : captures)
    if (capture != Capture::kAlways) text += (text.empty() ? "needs " : ", and ") + std::string(words(capture, generates(run)));
  return text;
}

std::string capture_command(const std::set<Capture>& captures, const Run& run) {
  if (refusal(captures, run) != nullptr || gets_no_stacks(captures, run)) return {};
  std::vector<std::string> words = configuration(captures);
  if (captures.count(Capture::kOperators)) words.insert(words.end(), {"--set", "nsys.pytorch=autograd-shapes-nvtx"});
  if (captures.count(Capture::kHostStacks) && run.host) words.insert(words.end(), {"--set", "mark.host_samples_hz=199"});
  if (captures.count(Capture::kModel)) add_model(run, words);
  return run_again(std::move(words), run.workload.command, run.session.has_value());
}

}  // namespace nl::analysis::rules

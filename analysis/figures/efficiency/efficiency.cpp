#include "analysis/figures/efficiency/efficiency.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "analysis/figures/efficiency/device_peaks.h"
#include "analysis/figures/efficiency/stage_work.h"
#include "model/headline.h"
#include "model/words.h"

namespace nl::analysis {
namespace {

std::optional<double> steps_in_trace(const Run& run) {
  const StageEntry* steps = stage_named(run, "decode_step");
  if (!steps || steps->wall.count == 0) return std::nullopt;
  const auto count = static_cast<double>(steps->wall.count);
  if (const StageEntry* decode = stage_named(run, "decode"); decode && decode->wall.count > 0)
    return count / static_cast<double>(decode->wall.count);
  const std::uint64_t measured = run.iterations.count - std::min(run.iterations.count, run.iterations.warmup);
  return measured > 0 ? std::optional(count / static_cast<double>(measured)) : std::nullopt;
}

void take_steps(const Run& run, const LlmShape& shape, TokenLengths& lengths) {
  lengths.steps = steps_in_trace(run);
  if (!lengths.steps) {
    lengths.steps = shape.decode_tokens;
    if (lengths.steps) lengths.assumptions.push_back("the number of steps is model.decode_tokens; the trace has no decode_step ranges");
    return;
  }
  if (*lengths.steps != std::floor(*lengths.steps))
    lengths.assumptions.push_back(fmt::format("decode windows differ in length: {:.4g} steps on average", *lengths.steps));
  // The first token comes out of the prefill: n tokens are n or n - 1 steps.
  if (shape.decode_tokens && *shape.decode_tokens != *lengths.steps && *shape.decode_tokens - 1 != *lengths.steps)
    lengths.assumptions.push_back(
        fmt::format("the model file contradicts the trace: model.decode_tokens is {:g}, the trace has {:.4g} steps per "
                    "decode; the trace's number is used",
                    *shape.decode_tokens, *lengths.steps));
}

void take_prompt(const Run& run, const LlmShape& shape, TokenLengths& lengths) {
  lengths.prompt = shape.prompt_tokens;
  const StageEntry* prefill = stage_named(run, "prefill");
  if (!prefill || !prefill->tokens_per_window || !lengths.batch || *prefill->tokens_per_window <= 0) return;
  const double traced = *prefill->tokens_per_window / *lengths.batch;
  if (lengths.prompt && std::abs(traced - *lengths.prompt) > 0.5)
    lengths.assumptions.push_back(
        fmt::format("the model file contradicts the trace: model.prompt_tokens is {:g}, prefill has {:g} tokens at "
                    "batch {:g}; the trace's number is used",
                    *lengths.prompt, traced, *lengths.batch));
  lengths.prompt = traced;
}

void add_note(StageEfficiency& stage, std::string_view note) {
  if (!stage.note.empty()) stage.note += "; ";
  stage.note += note;
}

class StageFigures {
 public:
  StageFigures(const Run& run, const LlmShape& shape)
      : shape_(shape), lengths_(token_lengths(run, shape)), passes_per_step_(passes_per_step(run)) {}

  StageEfficiency work_of(const StageEntry& stage) {
    StageEfficiency out;
    out.stage = stage.name;
    out.dtype = shape_.compute_dtype;
    if (shape_.stage_flops.count(stage.name) + shape_.stage_bytes.count(stage.name) > 0) configured(stage.name, out);
    else by_shape(stage.name, out);
    return out;
  }

 private:
  void by_shape(const std::string& name, StageEfficiency& out) const {
    switch (const StageKind kind = stage_kind(name)) {
      case StageKind::kPrefill:
      case StageKind::kDecode:
      case StageKind::kDecodeStep: return decoder(kind, out);
      case StageKind::kVision:
      case StageKind::kVisionEncoder:
      case StageKind::kVisionTower:
      case StageKind::kProjector: return seeing(kind, out);
      case StageKind::kBatch:
      case StageKind::kDenoiseStep: return encoding(kind, out);
      case StageKind::kTrainStep:
      case StageKind::kForward:
      case StageKind::kBackward: return training(kind, out);
      default: add_note(out, fmt::format("the work of this stage is not known; set model.stage_flops.{0} and model.stage_bytes.{0}", name));
    }
  }

  void configured(const std::string& name, StageEfficiency& out) const {
    const auto flops = shape_.stage_flops.find(name), bytes = shape_.stage_bytes.find(name);
    WorkTerm term;
    term.name = "as configured";
    if (flops != shape_.stage_flops.end()) {
      out.flops = term.flops = flops->second;
      term.formula = fmt::format("model.stage_flops.{} = {:g}", name, term.flops);
    }
    if (bytes != shape_.stage_bytes.end()) {
      out.bytes = term.bytes = bytes->second;
      term.formula += fmt::format("{}model.stage_bytes.{} = {:g}", term.formula.empty() ? "" : "; ", name, term.bytes);
    }
    out.terms.push_back(std::move(term));
    out.assumptions.push_back("the work comes from the configuration, not from the model shape");
  }

  void decoder(StageKind kind, StageEfficiency& out) const {
    if (!shape_.missing.empty()) return add_note(out, missing_shape());
    std::string needed;
    const auto need = [&](bool known, const char* key) {
      if (!known) needed += fmt::format("{}model.{}", needed.empty() ? "" : " and ", key);
    };
    need(lengths_.batch.has_value(), "batch_size");
    need(lengths_.prompt.has_value(), "prompt_tokens");
    need(kind == StageKind::kPrefill || lengths_.steps.has_value(), "decode_tokens");
    if (!needed.empty()) return add_note(out, fmt::format("its number of tokens is not known; set {}", needed));
    if (kind == StageKind::kPrefill) take(prefill_work(shape_, *lengths_.batch, *lengths_.prompt), out);
    else if (kind == StageKind::kDecode) take(decode_work(shape_, *lengths_.batch, *lengths_.prompt, *lengths_.steps), out);
    else take(decode_step_work(shape_, *lengths_.batch, *lengths_.prompt, *lengths_.steps), out);
    out.assumptions.insert(out.assumptions.end(), shape_.assumptions.begin(), shape_.assumptions.end());
    out.assumptions.insert(out.assumptions.end(), lengths_.assumptions.begin(), lengths_.assumptions.end());
  }

  std::string missing_shape() const {
    std::string keys;
    for (const auto& key : shape_.missing) keys += (keys.empty() ? "" : ", ") + key;
    return fmt::format("the model shape is not known: {} {} not set; give --model a name of conf/model/llm or a Hugging Face config.json",
                       keys, shape_.missing.size() == 1 ? "is" : "are");
  }

  void seeing(StageKind kind, StageEfficiency& out) const {
    if (!lengths_.batch) return add_note(out, "the number of images is not known; set model.batch_size");
    StageWork work = kind == StageKind::kProjector ? projector_work(shape_, *lengths_.batch) : vision_work(shape_, *lengths_.batch);
    if (work.terms.empty())
      return add_note(out, kind == StageKind::kProjector
                               ? "its shape is not known; set model.projector_input_size, image_tokens and hidden_size"
                               : "its shape is not known; set model.vision_layers, vision_hidden_size and vision_patches");
    take(std::move(work), out);
  }

  void take(StageWork work, StageEfficiency& out) const {
    out.terms = std::move(work.terms);
    out.assumptions = std::move(work.assumptions);
    double flops = 0, bytes = 0;
    for (const WorkTerm& term : out.terms) flops += term.flops, bytes += term.bytes;
    out.flops = flops;
    if (dtype_bytes(shape_.weight_dtype) && dtype_bytes(shape_.kv_dtype)) out.bytes = bytes;
    else add_note(out, "the bytes are not known, because the dtype of the weights is not; set model.dtype (such as bf16)");
  }

  // Said once of all stages. The vocabulary matters only where there is a head.
  bool lacks_shape(bool head, StageEfficiency& out) const {
    if (head ? shape_.missing.empty() : shape_.layers_missing.empty()) return false;
    add_note(out, "the model shape is not known; give --model a Hugging Face config.json, or the work of each stage as model.stage_flops");
    return true;
  }

  void need(std::string& keys, bool known, const char* key) const {
    if (!known) keys += fmt::format("{}model.{}", keys.empty() ? "" : " and ", key);
  }

  void add_assumptions(StageEfficiency& out) const {
    out.assumptions.insert(out.assumptions.end(), shape_.assumptions.begin(), shape_.assumptions.end());
  }

  // A model that is called with whole sequences and keeps nothing of them. A denoising step attends to its whole latent.
  void encoding(StageKind kind, StageEfficiency& out) const {
    const bool denoising = kind == StageKind::kDenoiseStep;
    if (lacks_shape(false, out)) return;
    std::string needed;
    need(needed, !shape_.inputs.empty(), shape_.batch_size ? "sequence_tokens" : "batch_size and model.sequence_tokens");
    need(needed, shape_.causal || denoising, "attention_mask");
    if (!needed.empty()) return add_note(out, fmt::format("its work is not known; set {}, or model.stage_flops.{}", needed, out.stage));
    take(forward_work(shape_, shape_.inputs, !denoising && *shape_.causal, false), out);
    add_assumptions(out);
  }

  // The backward pass multiplies the gradients with the weights and with the activations: twice the forward pass.
  void training(StageKind kind, StageEfficiency& out) const {
    const bool wide = dtype_bytes(shape_.weight_dtype) == 4.0;  // automatic mixed precision is usual
    out.dtype = wide ? configured_compute() : shape_.compute_dtype;
    if (lacks_shape(shape_.head.value_or(true), out)) return;
    std::string needed;
    need(needed, !shape_.training.empty(), shape_.batch_size ? "sequence_tokens" : "batch_size and model.sequence_tokens");
    need(needed, shape_.causal.has_value(), "attention_mask");
    need(needed, shape_.head.has_value(), "output_head");
    if (!needed.empty()) return add_note(out, fmt::format("its work is not known; set {}, or model.stage_flops.{}", needed, out.stage));
    StageWork work = forward_work(shape_, shape_.training, *shape_.causal, *shape_.head);
    const double again = shape_.checkpointing ? 1 : 0, passes = kind == StageKind::kTrainStep ? passes_per_step_ : 1;
    const char* recomputed = shape_.checkpointing ? ", which computes the forward pass again (activation checkpointing)" : "";
    if (kind == StageKind::kBackward)
      work = repeated(std::move(work), 2 + again, 2 + again, fmt::format("the backward pass takes twice the forward pass{}", recomputed));
    if (kind == StageKind::kTrainStep)
      work = repeated(std::move(work), (3 + again) * passes, (3 + again) * passes,
                      fmt::format("{:.4g} forward and backward passes in a step: the backward pass takes twice the forward pass{}; the "
                                  "optimizer's work is left out",
                                  passes, recomputed));
    take(std::move(work), out);
    add_assumptions(out);
  }

  std::string configured_compute() const { return shape_.compute_dtype == shape_.weight_dtype ? "" : shape_.compute_dtype; }

  // Gradients may add up over several passes.
  static double passes_per_step(const Run& run) {
    const StageEntry* step = stage_named(run, key_of(StageKind::kTrainStep));
    const StageEntry* forward = stage_named(run, key_of(StageKind::kForward));
    if (step == nullptr || forward == nullptr || step->wall.count == 0 || forward->wall.count == 0) return 1;
    return static_cast<double>(forward->wall.count) / static_cast<double>(step->wall.count);
  }

  const LlmShape& shape_;
  TokenLengths lengths_;
  double passes_per_step_;
};

std::size_t working_devices(const Run& run) {
  std::set<std::int32_t> used;
  if (run.kernels)
    for (const KernelEntry& kernel : *run.kernels) used.insert(kernel.device);
  return used.size();
}

std::string why_no_device(const Run& run) {
  if (!run.kernels) return "no MFU or MBU: GPU work was not captured";
  if (run.kernels->empty()) return "no MFU or MBU: no kernel ran in the capture";
  return "no MFU or MBU: the capture does not describe the GPU";
}

void check_possible(StageEfficiency& stage) {
  // A card's clock may lie a little above the one its bandwidth is quoted at; FLOP/s peaks are not reached at all.
  const auto check = [&](const char* what, std::optional<double> share, double most) {
    if (share && *share > most)
      add_note(stage, fmt::format("{} of {:.0f} % is impossible: the model file contradicts the trace (shape, batch, length or dtype), or "
                                  "the stage's ranges do not enclose its GPU work",
                                  what, *share * 100));
  };
  check("an MFU", std::max(stage.mfu, stage.mfu_busy), 1.0);
  check("an MBU", std::max(stage.mbu, stage.mbu_busy), 1.05);
}

struct Rates {
  std::optional<double> flops_per_s, bytes_per_s;
};

Rates rates_for(const Run& run, const std::optional<DevicePeaks>& peaks, const LlmShape& shape, StageEfficiency& out) {
  if (!peaks) {
    add_note(out, why_no_device(run));
    return {};
  }
  Rates rates;
  rates.bytes_per_s = peaks->bytes_per_s;
  if (const auto found = peaks->flops_per_s.find(out.dtype); found != peaks->flops_per_s.end()) rates.flops_per_s = found->second;
  if (rates.flops_per_s || !out.flops) return rates;
  if (peaks->flops_per_s.empty()) add_note(out, peaks->notes.empty() ? "the GPU's peak FLOP/s are not known" : peaks->notes.front());
  else if (out.dtype.empty() && !shape.weight_dtype.empty())
    add_note(out, fmt::format("no MFU: the compute dtype of {} weights is not known; set model.compute_dtype (such as bf16)",
                              shape.weight_dtype));
  else if (out.dtype.empty()) add_note(out, "no MFU: the compute dtype is not known; set model.dtype (such as bf16)");
  else add_note(out, fmt::format("no MFU: the {1} peak of {0} is not known", peaks->name, out.dtype));
  return rates;
}

// Where a stage runs on, its work cannot have taken less than this.
double gpu_work_ns(const StageEntry& stage) {
  return stage.gpu_busy_ns && stage.wall.count > 0 ? static_cast<double>(*stage.gpu_busy_ns) / static_cast<double>(stage.wall.count) : 0;
}

void compare(const Run& run, const std::optional<DevicePeaks>& peaks, const LlmShape& shape, const StageEntry& stage,
             StageEfficiency& out) {
  if (!out.flops && !out.bytes) return;
  if (out.flops && out.bytes && *out.bytes > 0) out.intensity = *out.flops / *out.bytes;
  const Rates rates = rates_for(run, peaks, shape, out);
  const auto share = [](std::optional<double> work, std::optional<double> peak, double ns) -> std::optional<double> {
    if (!work || !peak || *peak <= 0 || ns <= 0) return std::nullopt;
    return *work / (ns * 1e-9 * *peak);
  };
  const double work_ns = gpu_work_ns(stage);
  const bool runs_on = stage.runs_on();
  const double wall_ns = runs_on ? work_ns : stage.wall.mean_ns;
  if (runs_on)
    add_note(out, fmt::format("its ranges end before their GPU work ({:.4g} ms of {:.4g} ms); rates are per GPU time, not wall time",
                              stage.wall.mean_ns * 1e-6, work_ns * 1e-6));
  if (wall_ns > 0 && out.flops) out.flops_per_s = *out.flops / (wall_ns * 1e-9);
  if (wall_ns <= 0) add_note(out, "no rates: its windows are empty");
  out.mfu = share(out.flops, rates.flops_per_s, wall_ns);
  out.mbu = share(out.bytes, rates.bytes_per_s, wall_ns);
  if (stage.budget && stage.budget->gpu_compute_ns > 0 && stage.wall.count > 0) {
    const double busy_ns = runs_on ? work_ns : static_cast<double>(stage.budget->gpu_compute_ns) / static_cast<double>(stage.wall.count);
    out.mfu_busy = share(out.flops, rates.flops_per_s, busy_ns);
    out.mbu_busy = share(out.bytes, rates.bytes_per_s, busy_ns);
  }
  if (rates.flops_per_s && out.flops && rates.bytes_per_s && out.bytes) {
    const double compute_ns = *out.flops / *rates.flops_per_s * 1e9;
    const double memory_ns = *out.bytes / *rates.bytes_per_s * 1e9;
    out.ideal_ns = std::max(compute_ns, memory_ns);
    out.limit = compute_ns >= memory_ns ? Bound::kCompute : Bound::kMemory;
  }
  check_possible(out);
}

}  // namespace

TokenLengths token_lengths(const Run& run, const LlmShape& shape) {
  TokenLengths lengths;
  lengths.batch = run.latency.batch ? run.latency.batch : shape.batch_size;
  take_prompt(run, shape, lengths);
  take_steps(run, shape, lengths);
  return lengths;
}

Efficiency efficiency_of(const Run& run, const std::vector<DeviceTableEntry>& table) {
  Efficiency efficiency;
  if (const Device* device = working_device(run)) efficiency.peaks = device_peaks(*device, table);
  const LlmShape shape = read_llm_shape(run.model.attributes);
  const std::size_t gpus = working_devices(run);
  StageFigures figures(run, shape);
  for (const StageEntry& stage : run.stages) {
    StageEfficiency out = figures.work_of(stage);
    compare(run, efficiency.peaks, shape, stage, out);
    if (out.flops && gpus > 1 && static_cast<double>(gpus) != shape.tensor_parallel)
      out.assumptions.push_back(
          fmt::format("{} GPUs ran kernels, but model.tensor_parallel is {:g}; the peak of one GPU is used", gpus, shape.tensor_parallel));
    efficiency.stages.push_back(std::move(out));
  }
  return efficiency;
}

}  // namespace nl::analysis

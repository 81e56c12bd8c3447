#include "orchestrator/config/keys.h"

#include <algorithm>

#include "orchestrator/config/choices.h"

namespace nl::orchestrator {
namespace {

constexpr double kMonth = 30 * 86400;

// The key's name, and a function that reaches its member: the member's type is the key's type, its initial value the default.
#define NL_KEY_AS(name, section, field) .path = name, .member = +[](Config& c) -> decltype((c.section.field)) { return c.section.field; }
#define NL_KEY(section, field) NL_KEY_AS(#section "." #field, section, field)

const std::vector<ConfigKey> kRunKeys = {
    {NL_KEY(run, mode),
     .help = "which passes there are: deep traces, measures kernels and repeats (ncu.enabled, capture.counters, perturbation.repeats); "
             "light only traces. Keys set beside or after it win. Part of the bundle's name",
     .allowed = choice_words(RunMode())},
    {NL_KEY(run, name), .help = "part of the bundle's name", .not_empty = true, .file_name = true},
    {NL_KEY(run, top_n_kernels), .help = "how many kernels are measured, by GPU time inside the stages", .least = 1, .most = 1000},
    {NL_KEY(run, budget_s),
     .help = "seconds for all passes together (--budget 3m); those that would not fit are left out: first the repetitions, then counters, "
             "then operators. The trace is always made; 0: no limit",
     .least = 0, .most = kMonth},
    {NL_KEY(run, stages), .help = "the stages whose kernels are ranked and measured", .comma_list = true},
    {NL_KEY(stages, map),
     .help = "for workloads that mark no stages: stage → regular expression that the names of its ranges match, "
             "{decode_step: \"^step \", prefill: \"^prompt\"}",
     .patterns = true},
    {NL_KEY_AS("mark.auto", mark, automatic), .help = "mark the stages of Python workloads that use transformers, vLLM or SGLang, "
                                                      "and note the model's shape, without a change to the program"},
    {NL_KEY(mark, host_samples_hz),
     .help = "how often a second stacks of the host are sampled in the tracing pass: with mark.auto those of Python workloads that use "
             "PyTorch, at no more than 1.6 % of their time; where the collector traces, those of native programs (perf_event_open). 0: off",
     .least = 0, .most = 1000},
    {NL_KEY(mark, operators),
     .help = "run a Python workload that uses PyTorch once more, to record its operators, their shapes and the model's layers; "
             "needs mark.auto"},
    {NL_KEY(mark, engine),
     .help = "an inference engine that is to mark which requests are in each step, and its own ranges (docs/engines.md); auto: whichever "
             "runs; needs mark.auto",
     .allowed = choice_words(EngineMarks())},
    {NL_KEY(analysis, warmup), .help = "iterations that do not count: auto, none, or how many of the first", .not_empty = true},
    {NL_KEY(analysis, warmup_factor),
     .help = "auto: leading iterations are warm-up while they are slower than this many times the later ones", .least = 1, .most = 1000},
    {NL_KEY(analysis, rules), .help = "files of rules for the findings, besides the shipped ones"},
    {NL_KEY(artifacts, dir), .help = "where bundles are made", .not_empty = true},
    {NL_KEY(artifacts, keep_env), .help = "keep the workload's environment values in the exported SQLite and in config.yaml"},
    {NL_KEY(artifacts, perfetto), .help = "write trace.pftrace for Perfetto's UI"},
    {NL_KEY(ledger, enabled), .help = "record the run in the ledger as it ends (docs/ledger.md)"},
    {NL_KEY(ledger, path),
     .help = "the ledger (--ledger): a file of SQLite, or postgresql://user@host/database; empty: $NL_STAGE_LEDGER, else "
             "nl-stage/ledger.sqlite in $XDG_DATA_HOME or ~/.local/share",
     .may_hold_password = true},
    {NL_KEY(ledger, keep_last),
     .help = "after recording, remove older runs than the last so many from the ledger; their bundles stay; 0: keep all", .least = 0,
     .most = 1e9},
    {NL_KEY(ledger, keep_tagged), .help = "with keep_last: runs with a tag stay and are not counted"},
    {NL_KEY(workload, command), .help = "what to profile: program and arguments"},
    {NL_KEY(workload, working_directory), .help = "where it is started; empty: where nl-stage was started"},
    {NL_KEY(workload, env), .help = "variables added to its environment"},
    {NL_KEY(workload, inputs),
     .help = "input files and folders; inputs.yaml has the size and SHA-256 of each, and a missing one is refused"},
    {NL_KEY(workload, hydra),
     .help = "a Hydra program: every pass gets its own hydra.run.dir (hydra.sweep.dir with --multirun), hydra/<pass> of the bundle"},
    {NL_KEY(workload, hydra_chdir), .help = "hydra.job.chdir of a Hydra program; keep: as the program and its own arguments have it",
     .allowed = choice_words(HydraChdir())},
    {NL_KEY(session, backend), .help = "run a model file instead of a command, by this backend (nl-stage backends, docs/adapters.md)"},
    {NL_KEY(session, model), .help = "the model file: ONNX, TorchScript, a TensorRT engine"},
    {NL_KEY(session, provider), .help = "what executes it: cpu, cuda or another that `nl-stage backends` lists; empty: the first of them"},
    {NL_KEY(session, precision), .help = "precision to run it in; model: as the file has it", .allowed = choice_words(Precision())},
    {NL_KEY(session, inputs), .help = "its inputs: random (seeded), zeros, or a .npz or .npy file of NumPy", .not_empty = true},
    {NL_KEY(session, seed), .help = "of random inputs", .least = 0, .most = 1e9},
    {NL_KEY(session, dims), .help = "sizes of dimensions that the model leaves open, [batch=1, seq=128]", .comma_list = true},
    {NL_KEY(session, shapes), .help = "inputs of a model that does not say their shapes (TorchScript), [x=2x16:float32]",
     .comma_list = true},
    {NL_KEY(session, iterations), .help = "measured iterations, once unprofiled and once profiled", .least = 1, .most = 1e6},
    {NL_KEY(session, warmup), .help = "iterations before them that do not count", .least = 0, .most = 1e6},
    {NL_KEY(session, threads), .help = "threads of one operator; 0: as the backend chooses", .least = 0, .most = 4096},
    {NL_KEY(tools, nsys), .help = "path of nsys; empty: searched"},
    {NL_KEY(tools, ncu), .help = "path of ncu; empty: searched"},
    {NL_KEY(tools, cupti), .help = "path of libcupti.so; empty: searched"},
    {NL_KEY(tools, nvml), .help = "path of libnvidia-ml.so.1; empty: searched"},
    {NL_KEY(tools, collector), .help = "path of libnl_collector.so; empty: searched"},
};

const std::vector<ConfigKey> kCaptureKeys = {
    {NL_KEY(capture, prefer),
     .help =
         "which tool traces: nsys where it is found, the collector (CUPTI) although nsys is found, or only the stages of an unprofiled run",
     .allowed = choice_words(TracePreference())},
    {NL_KEY(capture, cuda_calls), .help = "collector: which CUDA calls are recorded; work: those that start work, wait or manage memory",
     .allowed = choice_words(CudaCalls())},
    {NL_KEY(capture, cuda_graphs), .help = "collector: node shows the kernels inside CUDA graphs; graph hides them and costs less",
     .allowed = choice_words(GraphDetail())},
    {NL_KEY(capture, buffer_kb), .help = "collector: size of a buffer that CUPTI fills, in KiB", .least = 64, .most = 65536},
    {NL_KEY(capture, buffers), .help = "collector: how many buffers at most; when all are full, records are dropped and counted",
     .least = 1, .most = 1024},
    {NL_KEY(capture, flush_ms), .help = "collector: how often records are written, in ms; a killed process loses those since", .least = 10,
     .most = 60000},
    {NL_KEY(capture, duty),
     .help = "collector: trace whole steps, one in so many, drawn at random among those of each kind (prefill, decode, mixed): 1/10; "
             "the least is 1/10000. Empty or 1/1: all (docs/collector.md#some-of-the-steps)"},
    {NL_KEY(capture, max_size), .help =
                                    "largest trace, such as 2GB or 500MiB; a pass that exceeds it is ended and traced once more with less "
                                    "(docs/capture.md); empty: no limit"},
    {NL_KEY(capture, counters),
     .help = "GPU counters. auto: by ncu, or by the collector (CUPTI) where ncu is enabled and not found; "
             "cupti: by the collector instead of ncu; off: none",
     .allowed = choice_words(CounterPreference())},
    {NL_KEY(capture, counter_metrics),
     .help = "metrics of stages and kernels, by ncu's names; they must fit into one pass, nothing is replayed", .comma_list = true},
    {NL_KEY(capture, replay_metrics),
     .help = "more metrics of the chosen kernels, which are replayed for them; DRAM bytes would be those of warm caches",
     .comma_list = true},
    {NL_KEY(capture, counter_launches), .help = "launches measured of each (name, grid, block)", .least = 1, .most = 100},
    {NL_KEY(capture, stage_counters), .help = "also count each stage as a whole, in a separate pass"},
    {NL_KEY(capture, sampling_us), .help = "collector: sample the GPU's activity beside the trace, every so many µs (50 or more); 0: off",
     .least = 0, .most = 1e6},
    {NL_KEY(capture, sampling_metrics), .help = "what is sampled, by ncu's names; must fit into one pass", .comma_list = true},
    {NL_KEY(capture, pc_sampling),
     .help = "collector: sample where warps stall, every 2^n cycles, 5 to 31 (18 is good); 0: off. Launches get slower", .least = 0,
     .most = 31},
};

const ChoiceWords kTraces = {"cuda",     "cuda-hw",
                             "nvtx",     "osrt",
                             "cublas",   "cublas-verbose",
                             "cusolver", "cusolver-verbose",
                             "cusparse", "cusparse-verbose",
                             "cudnn",    "mpi",
                             "oshmem",   "ucx",
                             "openacc",  "openmp",
                             "opengl",   "opengl-annotations",
                             "vulkan",   "vulkan-annotations",
                             "nvvideo",  "python-gil",
                             "gds",      "none"};

const std::vector<ConfigKey> kNsysKeys = {
    {NL_KEY(nsys, enabled), .help = "trace with Nsight Systems"},
    {NL_KEY(nsys, trace), .help = "what is traced", .allowed = kTraces, .comma_list = true, .not_empty = true},
    {NL_KEY(nsys, sample), .help = "CPU sampling: large captures, more overhead", .allowed = choice_words(CpuSampling())},
    {NL_KEY(nsys, cpuctxsw), .help = "trace CPU context switches", .allowed = choice_words(CpuSampling())},
    {NL_KEY(nsys, cuda_graph_trace), .help = "node shows the kernels inside CUDA graphs; graph hides them",
     .allowed = choice_words(GraphDetail())},
    {NL_KEY(nsys, pytorch), .help = "PyTorch operators as ranges", .allowed = choice_words(PytorchRanges())},
    {NL_KEY(nsys, capture_range), .help = "what starts the capture", .allowed = choice_words(CaptureRange())},
    {NL_KEY(nsys, nvtx_capture), .help = "the range that starts it, as range@domain"},
    {NL_KEY(nsys, capture_range_end), .help = "what the end of that range does: none, stop, stop-shutdown, repeat[:N], repeat-shutdown:N",
     .not_empty = true},
    {NL_KEY_AS("nsys.export.stats_csv", nsys, stats_csv), .help = "write the stats reports as CSV"},
    {NL_KEY_AS("nsys.export.sqlite", nsys, sqlite), .help = "keep the exported SQLite in the bundle"},
    {NL_KEY(nsys, timeout_s), .help = "seconds before the pass is ended; 0: never", .least = 0, .most = kMonth},
    {NL_KEY(nsys, export_timeout_s), .help = "seconds before the export is ended; 0: never", .least = 0, .most = kMonth},
    {NL_KEY(nsys, extra_args), .help = "more arguments of `nsys profile`"},
};

const std::vector<ConfigKey> kNcuKeys = {
    {NL_KEY(ncu, enabled), .help = "measure the top kernels with Nsight Compute"},
    {NL_KEY(ncu, target_processes), .help = "whose kernels", .allowed = {"all", "application-only"}},
    {NL_KEY_AS("ncu.nvtx.include", ncu, nvtx_include), .help = "--nvtx-include expressions; empty: made from run.stages"},
    {NL_KEY(ncu, set), .help = "a section set (basic, detailed, roofline, full); empty: none"},
    {NL_KEY(ncu, sections), .help = "sections to collect", .comma_list = true},
    {NL_KEY(ncu, metrics), .help = "metrics to collect", .comma_list = true},
    {NL_KEY(ncu, replay_mode), .help = "how a launch is repeated", .allowed = {"kernel", "application", "range", "app-range"}},
    {NL_KEY(ncu, kernel_name_base), .help = "which names of kernels are compared", .allowed = choice_words(KernelNameBase())},
    {NL_KEY(ncu, clock_control), .help = "base locks the clocks during measurement", .allowed = {"none", "base"}},
    {NL_KEY(ncu, cache_control), .help = "all empties the caches before each pass; the presets roofline and basic, which replay, do so",
     .allowed = {"none", "all"}},
    {NL_KEY(ncu, graph_profiling), .help = "CUDA graphs: node by node, or each graph as one", .allowed = choice_words(GraphDetail())},
    {NL_KEY(ncu, filter_mode), .help = "what launch_skip and launch_count count", .allowed = choice_words(LaunchFilter())},
    {NL_KEY(ncu, launch_skip), .help = "matching launches skipped first", .least = 0, .most = 1e9},
    {NL_KEY(ncu, launch_count), .help = "matching launches measured", .least = 1, .most = 1e9},
    {NL_KEY(ncu, import_sass), .help = "store machine code in the report (large)"},
    {NL_KEY_AS("ncu.export.details_csv", ncu, details_csv), .help = "write the details page beside raw.csv"},
    {NL_KEY(ncu, timeout_s), .help = "seconds before the pass is ended, and each counter pass of the collector; 0: never", .least = 0,
     .most = kMonth},
    {NL_KEY(ncu, export_timeout_s), .help = "seconds before an export is ended; 0: never", .least = 0, .most = kMonth},
    {NL_KEY(ncu, extra_args), .help = "more arguments of ncu"},
};

const std::vector<ConfigKey> kMeasureKeys = {
    {NL_KEY(perturbation, repeats), .help = "unprofiled passes, and as many traced ones, that tell the overhead of tracing; 0: none",
     .least = 0, .most = 100},
    {NL_KEY(perturbation, most_repeats),
     .help = "so many where fewer do not decide whether the overhead is above the limit; 0: never more than perturbation.repeats",
     .least = 0, .most = 100},
    {NL_KEY(perturbation, limit), .help = "overhead of tracing that is warned of, such as 5% or 0.05", .not_empty = true},
    {NL_KEY(perturbation, budget_s), .help = "seconds for those passes together; what would not fit is left out", .least = 0,
     .most = kMonth},
    {NL_KEY(perturbation, calibrate),
     .help = "after the trace, time a loop of launches bare, under nsys and under the collector, which tells the overhead of tracing here; "
             "auto: where tracing may add more than 5 % to a stage",
     .allowed = choice_words(TracerCalibration())},
    {NL_KEY(energy, enabled), .help = "read power, clocks and throttling from NVML during the passes; on: its absence is a problem",
     .allowed = choice_words(EnergyReading())},
    {NL_KEY(energy, interval_ms), .help = "ms between two readings; longer where a reading is costly", .least = 1, .most = 60000},
    {NL_KEY(device, file), .help = "a file of GPU peaks, or a folder of them, that wins over the shipped ones"},
};

using Type = ModelAttribute::Type;

const std::vector<std::string_view> kTypes = {"f64", "f32", "tf32", "bf16", "f16", "fp8", "fp4", "int8", "int4"};

ConfigKey whole(std::string_view path, std::string_view help, double least = 1) {
  return {.path = path, .member = ModelAttribute{Type::kWhole}, .help = help, .least = least, .most = 1e15};
}

ConfigKey text(std::string_view path, std::string_view help, std::vector<std::string_view> allowed = {}) {
  return {.path = path, .member = ModelAttribute{Type::kText}, .help = help, .allowed = std::move(allowed)};
}

ConfigKey numbers(std::string_view path, std::string_view help) {
  return {.path = path, .member = ModelAttribute{Type::kNumbers}, .help = help, .least = 0, .most = 1e30};
}

// model.*: what the model is and what it was given. First the decoder.
const std::vector<ConfigKey> kDecoderKeys = {
    {.path = "model.name", .member = +[](Config& c) -> std::string& { return c.model.name; }, .help = "what the reports call the model"},
    text("model.variant", "which of its variants, in your words: a checkpoint, a fine-tune, a quantisation"),
    text("model.architecture", "llama, qwen, mixtral …"),
    text("model.dtype", "the type of its weights", kTypes),
    text("model.compute_dtype", "the type it multiplies in, whose peak counts; empty: that of its weights", kTypes),
    text("model.quantization", "how its weights were quantised: gptq, awq, fp8 …"),
    text("model.kv_dtype", "the type of the cached keys and values; empty: the type it multiplies in", kTypes),
    whole("model.layers", "decoder layers"),
    whole("model.hidden_size", "width of the residual stream"),
    whole("model.heads", "query heads"),
    whole("model.kv_heads", "key/value heads; fewer than heads: grouped-query attention"),
    whole("model.head_dim", "width of a head"),
    whole("model.intermediate_size", "width of the feed-forward layer"),
    text("model.mlp", "the feed-forward layer: gated (three matrices) or plain (two)", {"gated", "plain"}),
    whole("model.vocab_size", "rows of the embedding and of the output head"),
    text("model.tied_embeddings", "embedding and output head are one matrix", {"true", "false"}),
    whole("model.sliding_window", "tokens that attention sees back; empty: all"),
    whole("model.sliding_layers", "layers with that window; empty: all", 0),
    whole("model.max_position", "longest context"),
    whole("model.parameters", "parameters in all"),
    text("model.attention_implementation", "sdpa, flash_attention_2 …"),
    {.path = "model.rope_theta", .member = ModelAttribute{Type::kNumber}, .help = "base of the rotary embedding", .least = 0},
    text("model.notes", "what a reader of the figures must know about this description"),
};

// Experts, latent attention, vision.
const std::vector<ConfigKey> kSpecialKeys = {
    whole("model.experts", "experts per layer; 0: none", 0),
    whole("model.experts_per_token", "experts that each token visits", 0),
    whole("model.moe_intermediate_size", "width of an expert; empty: intermediate_size"),
    whole("model.shared_experts", "experts that every token visits", 0),
    whole("model.shared_intermediate_size", "their width together; empty: shared_experts × moe_intermediate_size", 0),
    whole("model.first_dense_layers", "layers without experts, at the beginning", 0),
    whole("model.moe_layer_freq", "of the others, every n-th has experts"),
    whole("model.q_lora_rank", "latent attention: width of the compressed queries; empty: not compressed", 0),
    whole("model.kv_lora_rank", "latent attention: width of the compressed keys and values", 0),
    whole("model.qk_nope_head_dim", "latent attention: width of a query or key without position"),
    whole("model.qk_rope_head_dim", "latent attention: width of its part with position"),
    whole("model.v_head_dim", "latent attention: width of a value"),
    whole("model.vision_layers", "layers of the vision tower", 0),
    whole("model.vision_hidden_size", "its width"),
    whole("model.vision_heads", "its heads"),
    whole("model.vision_intermediate_size", "width of its feed-forward layer; empty: four times its width"),
    text("model.vision_mlp", "its feed-forward layer; empty: plain", {"gated", "plain"}),
    whole("model.vision_patch_size", "pixels of a patch's side"),
    whole("model.vision_patches", "patches of an image, as the tower sees them"),
    whole("model.sam_layers", "layers of a SAM encoder before that tower (DeepSeek-OCR)", 0),
    whole("model.sam_hidden_size", "its width"),
    whole("model.sam_intermediate_size", "width of its feed-forward layer; empty: four times its width"),
    whole("model.sam_patch_size", "pixels of its patches' side"),
    whole("model.sam_patches", "patches of an image, as it sees them"),
    whole("model.sam_window", "side of its attention windows, in patches; empty: each patch attends to its whole image"),
    whole("model.sam_global_layers", "its layers without windows", 0),
    text("model.sam_channels",
         "channels of the convolutions behind it, the first two at its resolution, each further at half the side: 256,256,512,1024"),
    whole("model.image_tokens", "tokens of an image, as the decoder sees them"),
    whole("model.images", "images in a sequence; empty: 1"),
    whole("model.projector_input_size", "width of what the projector between tower and decoder is given"),
    whole("model.projector_hidden_size", "width of the layer in its middle; empty: it is one matrix"),
};

// What was run.
const std::vector<ConfigKey> kUseKeys = {
    whole("model.batch_size", "sequences at a time"),
    whole("model.prompt_tokens", "tokens of the prompt of each, those of images included"),
    whole("model.decode_tokens", "tokens generated of each; used where the trace does not tell its decode steps apart"),
    text("model.prefill_logits", "tokens of the prompt that go through the output head; empty: last", {"last", "all"}),
    whole("model.sequence_tokens", "of a program that does not generate: tokens of each sequence that the model is called with"),
    text("model.attention_mask", "of such a program: each token attends to those before it, or to all; empty: not known",
         {"causal", "full"}),
    text("model.output_head", "of a program that trains: whether the output head runs over all tokens; empty: not known", {"all", "none"}),
    text("model.gradient_checkpointing", "of a program that trains: whether the backward pass computes the forward pass again",
         {"true", "false"}),
    whole("model.tensor_parallel", "GPUs that share each layer; empty: 1"),
    numbers("model.stage_flops", "stage → floating-point operations of one window, for what is no transformer"),
    numbers("model.stage_bytes", "stage → bytes that one window must move at least"),
};

}  // namespace

const std::vector<ConfigKey>& config_keys() {
  static const std::vector<ConfigKey> keys = [] {
    std::vector<ConfigKey> all;
    for (const auto* part : {&kRunKeys, &kCaptureKeys, &kNsysKeys, &kNcuKeys, &kMeasureKeys, &kDecoderKeys, &kSpecialKeys, &kUseKeys})
      all.insert(all.end(), part->begin(), part->end());
    return all;
  }();
  return keys;
}

const ConfigKey* find_config_key(std::string_view path) {
  const auto& keys = config_keys();
  auto found = std::find_if(keys.begin(), keys.end(), [&](const ConfigKey& key) { return key.path == path; });
  return found == keys.end() ? nullptr : &*found;
}

bool is_config_section(std::string_view path) {
  const auto& keys = config_keys();
  return std::any_of(keys.begin(), keys.end(), [&](const ConfigKey& key) {
    return key.path.size() > path.size() && key.path.starts_with(path) && key.path[path.size()] == '.';
  });
}

std::string_view config_type_name(const ConfigKey& key) {
  static constexpr std::string_view names[] = {"a text",          "a whole number", "a number",        "true or false",
                                               "a list of texts", "a map of texts", "a map of numbers"};
  if (const auto* attribute = std::get_if<ModelAttribute>(&key.member)) {
    if (attribute->type == Type::kWhole) return names[1];
    if (attribute->type == Type::kNumbers) return names[6];
    return attribute->type == Type::kNumber ? names[2] : names[0];
  }
  return names[key.member.index()];
}

}  // namespace nl::orchestrator

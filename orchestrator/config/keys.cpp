#include "orchestrator/config/keys.h"

#include <algorithm>

namespace nl::orchestrator {
namespace {

constexpr double kDay = 86400;
constexpr auto kText = ModelAttribute::Type::kText;
constexpr auto kWhole = ModelAttribute::Type::kWhole;
constexpr auto kNumber = ModelAttribute::Type::kNumber;
constexpr auto kNumbers = ModelAttribute::Type::kNumbers;

ConfigKey whole(std::string_view path, std::string_view help, double least = 1) {
  return {.path = path, .member = ModelAttribute{kWhole}, .help = help, .least = least, .most = 1e15};
}

// A pointer to a function that reaches the member; its return type is the key's type.
#define NL_MEMBER(section, field) +[](Config& c) -> decltype((c.section.field)) { return c.section.field; }

void add_run_keys(std::vector<ConfigKey>& keys) {
  keys.insert(
      keys.end(),
      {
          {.path = "run.mode",
           .member = NL_MEMBER(run, mode),
           .help = "how deep to look; named in the bundle's folder",
           .allowed = {"deep", "light"}},
          {.path = "run.name",
           .member = NL_MEMBER(run, name),
           .help = "names the bundle's folder",
           .not_empty = true,
           .file_name = true},
          {.path = "run.top_n_kernels",
           .member = NL_MEMBER(run, top_n_kernels),
           .help = "how many kernels ncu profiles, by GPU time inside the stages",
           .least = 1,
           .most = 1000},
          {.path = "run.stages",
           .member = NL_MEMBER(run, stages),
           .help = "the stages whose kernels are ranked and profiled",
           .comma_list = true},
          {.path = "analysis.warmup",
           .member = NL_MEMBER(analysis, warmup),
           .help = "iterations that do not count: auto, none, or how many of the first",
           .not_empty = true},
          {.path = "analysis.warmup_factor",
           .member = NL_MEMBER(analysis, warmup_factor),
           .help = "auto: leading iterations slower than this many times the later ones",
           .least = 1,
           .most = 1000},
          {.path = "analysis.rules",
           .member = NL_MEMBER(analysis, rules),
           .help = "files of rules for the findings, besides the shipped ones"},
          {.path = "artifacts.dir",
           .member = NL_MEMBER(artifacts, dir),
           .help = "where bundles are made",
           .not_empty = true},
          {.path = "artifacts.keep_env",
           .member = NL_MEMBER(artifacts, keep_env),
           .help = "keep the target's environment values in the exported SQLite and in config.yaml"},
          {.path = "artifacts.perfetto",
           .member = NL_MEMBER(artifacts, perfetto),
           .help = "write trace.pftrace for Perfetto's UI"},
          {.path = "workload.command",
           .member = NL_MEMBER(workload, command),
           .help = "what to profile: program and arguments"},
          {.path = "workload.working_directory",
           .member = NL_MEMBER(workload, working_directory),
           .help = "where it is started; empty: where nl-stage was"},
          {.path = "workload.env", .member = NL_MEMBER(workload, env), .help = "variables added to its environment"},
          {.path = "workload.inputs",
           .member = NL_MEMBER(workload, inputs),
           .help = "input files, listed in inputs.yaml"},
          {.path = "tools.nsys", .member = NL_MEMBER(tools, nsys), .help = "path of nsys; empty: searched"},
          {.path = "tools.ncu", .member = NL_MEMBER(tools, ncu), .help = "path of ncu; empty: searched"},
          {.path = "tools.cupti", .member = NL_MEMBER(tools, cupti), .help = "path of libcupti.so; empty: searched"},
          {.path = "tools.nvml",
           .member = NL_MEMBER(tools, nvml),
           .help = "path of libnvidia-ml.so.1; empty: searched"},
          {.path = "tools.collector",
           .member = NL_MEMBER(tools, collector),
           .help = "path of libnl_collector.so; empty: searched"},
      });
}

void add_capture_keys(std::vector<ConfigKey>& keys) {
  keys.insert(keys.end(),
              {
                  {.path = "capture.prefer",
                   .member = NL_MEMBER(capture, prefer),
                   .help = "what traces: nsys where it is found, or the collector (CUPTI) although it is",
                   .allowed = {"nsys", "cupti"}},
                  {.path = "capture.cuda_calls",
                   .member = NL_MEMBER(capture, cuda_calls),
                   .help = "collector: which CUDA calls; work: those that start work, wait or manage memory",
                   .allowed = {"work", "all", "none"}},
                  {.path = "capture.cuda_graphs",
                   .member = NL_MEMBER(capture, cuda_graphs),
                   .help = "collector: node shows the kernels inside CUDA graphs, graph hides them and costs less",
                   .allowed = {"node", "graph"}},
                  {.path = "capture.buffer_kb",
                   .member = NL_MEMBER(capture, buffer_kb),
                   .help = "collector: size of a buffer that CUPTI fills, in KiB",
                   .least = 64,
                   .most = 65536},
                  {.path = "capture.buffers",
                   .member = NL_MEMBER(capture, buffers),
                   .help = "collector: how many of them at most; where all are full, records are dropped and counted",
                   .least = 1,
                   .most = 1024},
                  {.path = "capture.flush_ms",
                   .member = NL_MEMBER(capture, flush_ms),
                   .help = "collector: how often records go to the file; a killed process loses those since",
                   .least = 10,
                   .most = 60000},
              });
}

void add_counter_keys(std::vector<ConfigKey>& keys) {
  keys.insert(
      keys.end(),
      {
          {.path = "capture.counters",
           .member = NL_MEMBER(capture, counters),
           .help = "GPU counters: auto by ncu, or by the collector (CUPTI) where ncu is wanted and not found; cupti by the collector instead of ncu; off none, by neither",
           .allowed = {"auto", "cupti", "off"}},
          {.path = "capture.counter_metrics",
           .member = NL_MEMBER(capture, counter_metrics),
           .help = "of stages and kernels, as ncu names them; they must fit into one pass, nothing is replayed",
           .comma_list = true},
          {.path = "capture.replay_metrics",
           .member = NL_MEMBER(capture, replay_metrics),
           .help = "more of the chosen kernels, which are replayed for them; their DRAM bytes would be those of warm caches",
           .comma_list = true},
          {.path = "capture.counter_launches",
           .member = NL_MEMBER(capture, counter_launches),
           .help = "launches measured of each (name, grid, block)",
           .least = 1,
           .most = 100},
          {.path = "capture.stage_counters",
           .member = NL_MEMBER(capture, stage_counters),
           .help = "also count each stage as a whole, in a pass of its own"},
          {.path = "capture.sampling_us",
           .member = NL_MEMBER(capture, sampling_us),
           .help = "collector: sample the GPU's activity beside the trace, every so many microseconds (50 or more); 0: not",
           .least = 0,
           .most = 1e6},
          {.path = "capture.sampling_metrics",
           .member = NL_MEMBER(capture, sampling_metrics),
           .help = "what is sampled, as ncu names it; must fit into one pass",
           .comma_list = true},
          {.path = "capture.pc_sampling",
           .member = NL_MEMBER(capture, pc_sampling),
           .help = "collector: sample where warps stall, every 2^n cycles, 5 to 31 (18 is good); 0: not. Launches get slower",
           .least = 0,
           .most = 31},
      });
}

void add_nsys_keys(std::vector<ConfigKey>& keys) {
  keys.insert(keys.end(),
              {
                  {.path = "nsys.enabled", .member = NL_MEMBER(nsys, enabled), .help = "trace with Nsight Systems"},
                  {.path = "nsys.trace",
                   .member = NL_MEMBER(nsys, trace),
                   .help = "what is traced",
                   .allowed = {"cuda",     "cuda-hw",
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
                               "gds",      "none"},
                   .comma_list = true,
                   .not_empty = true},
                  {.path = "nsys.sample",
                   .member = NL_MEMBER(nsys, sample),
                   .help = "CPU sampling: large captures, more overhead",
                   .allowed = {"none", "process-tree", "system-wide"}},
                  {.path = "nsys.cpuctxsw",
                   .member = NL_MEMBER(nsys, cpuctxsw),
                   .help = "trace CPU context switches",
                   .allowed = {"none", "process-tree", "system-wide"}},
                  {.path = "nsys.cuda_graph_trace",
                   .member = NL_MEMBER(nsys, cuda_graph_trace),
                   .help = "node shows the kernels inside CUDA graphs, graph hides them",
                   .allowed = {"node", "graph"}},
                  {.path = "nsys.pytorch",
                   .member = NL_MEMBER(nsys, pytorch),
                   .help = "PyTorch operators as ranges",
                   .allowed = {"none", "autograd-nvtx", "autograd-shapes-nvtx", "functions-trace"}},
                  {.path = "nsys.capture_range",
                   .member = NL_MEMBER(nsys, capture_range),
                   .help = "what starts the capture",
                   .allowed = {"none", "nvtx", "cudaProfilerApi"}},
                  {.path = "nsys.nvtx_capture",
                   .member = NL_MEMBER(nsys, nvtx_capture),
                   .help = "the range that starts it, as range@domain"},
                  {.path = "nsys.capture_range_end",
                   .member = NL_MEMBER(nsys, capture_range_end),
                   .help = "what the end of that range does: none, stop, stop-shutdown, repeat[:N], repeat-shutdown:N",
                   .not_empty = true},
                  {.path = "nsys.export.stats_csv",
                   .member = NL_MEMBER(nsys, stats_csv),
                   .help = "write the stats reports as CSV"},
                  {.path = "nsys.export.sqlite",
                   .member = NL_MEMBER(nsys, sqlite),
                   .help = "keep the exported SQLite in the bundle"},
                  {.path = "nsys.timeout_s",
                   .member = NL_MEMBER(nsys, timeout_s),
                   .help = "seconds before the pass is ended; 0: never",
                   .least = 0,
                   .most = 30 * kDay},
                  {.path = "nsys.export_timeout_s",
                   .member = NL_MEMBER(nsys, export_timeout_s),
                   .help = "seconds before the export is ended; 0: never",
                   .least = 0,
                   .most = 30 * kDay},
                  {.path = "nsys.extra_args",
                   .member = NL_MEMBER(nsys, extra_args),
                   .help = "more arguments of `nsys profile`"},
              });
}

void add_ncu_keys(std::vector<ConfigKey>& keys) {
  keys.insert(
      keys.end(),
      {
          {.path = "ncu.enabled",
           .member = NL_MEMBER(ncu, enabled),
           .help = "measure the top kernels with Nsight Compute"},
          {.path = "ncu.target_processes",
           .member = NL_MEMBER(ncu, target_processes),
           .help = "whose kernels",
           .allowed = {"all", "application-only"}},
          {.path = "ncu.nvtx.include",
           .member = NL_MEMBER(ncu, nvtx_include),
           .help = "--nvtx-include expressions; empty: made from run.stages"},
          {.path = "ncu.set",
           .member = NL_MEMBER(ncu, set),
           .help = "a section set (basic, detailed, roofline, full); empty: none"},
          {.path = "ncu.sections",
           .member = NL_MEMBER(ncu, sections),
           .help = "sections to collect",
           .comma_list = true},
          {.path = "ncu.metrics", .member = NL_MEMBER(ncu, metrics), .help = "metrics to collect", .comma_list = true},
          {.path = "ncu.replay_mode",
           .member = NL_MEMBER(ncu, replay_mode),
           .help = "how a launch is repeated",
           .allowed = {"kernel", "application", "range", "app-range"}},
          {.path = "ncu.kernel_name_base",
           .member = NL_MEMBER(ncu, kernel_name_base),
           .help = "the names that are compared",
           .allowed = {"mangled", "function", "demangled"}},
          {.path = "ncu.clock_control",
           .member = NL_MEMBER(ncu, clock_control),
           .help = "base locks the clocks while measuring",
           .allowed = {"none", "base"}},
          {.path = "ncu.cache_control",
           .member = NL_MEMBER(ncu, cache_control),
           .help = "all empties the caches before each pass",
           .allowed = {"none", "all"}},
          {.path = "ncu.graph_profiling",
           .member = NL_MEMBER(ncu, graph_profiling),
           .help = "CUDA graphs by node or as a whole",
           .allowed = {"node", "graph"}},
          {.path = "ncu.filter_mode",
           .member = NL_MEMBER(ncu, filter_mode),
           .help = "what launch_skip and launch_count count",
           .allowed = {"per-launch-config", "global", "per-gpu"}},
          {.path = "ncu.launch_skip",
           .member = NL_MEMBER(ncu, launch_skip),
           .help = "matching launches passed over first",
           .least = 0,
           .most = 1e9},
          {.path = "ncu.launch_count",
           .member = NL_MEMBER(ncu, launch_count),
           .help = "matching launches measured",
           .least = 1,
           .most = 1e9},
          {.path = "ncu.import_sass",
           .member = NL_MEMBER(ncu, import_sass),
           .help = "carry machine code in the report (large)"},
          {.path = "ncu.export.details_csv",
           .member = NL_MEMBER(ncu, details_csv),
           .help = "write the details page beside raw.csv"},
          {.path = "ncu.timeout_s",
           .member = NL_MEMBER(ncu, timeout_s),
           .help = "seconds before the pass is ended; 0: never",
           .least = 0,
           .most = 30 * kDay},
          {.path = "ncu.export_timeout_s",
           .member = NL_MEMBER(ncu, export_timeout_s),
           .help = "seconds before an export is ended; 0: never",
           .least = 0,
           .most = 30 * kDay},
          {.path = "ncu.extra_args", .member = NL_MEMBER(ncu, extra_args), .help = "more arguments of ncu"},
      });
}

void add_measure_keys(std::vector<ConfigKey>& keys) {
  keys.insert(keys.end(), {
                              {.path = "perturbation.repeats",
                               .member = NL_MEMBER(perturbation, repeats),
                               .help = "unprofiled passes, and as many traced ones, to tell what tracing costs; 0: none",
                               .least = 0,
                               .most = 100},
                              {.path = "perturbation.budget_s",
                               .member = NL_MEMBER(perturbation, budget_s),
                               .help = "seconds for those passes together; what would not fit is left out",
                               .least = 0,
                               .most = 30 * kDay},
                              {.path = "energy.enabled",
                               .member = NL_MEMBER(energy, enabled),
                               .help = "read power, clocks and throttling from NVML during the passes",
                               .allowed = {"auto", "on", "off"}},
                              {.path = "energy.interval_ms",
                               .member = NL_MEMBER(energy, interval_ms),
                               .help = "between two readings; stretched where a reading is costly",
                               .least = 1,
                               .most = 60000},
                          });
}

// The decoder.
void add_shape_keys(std::vector<ConfigKey>& keys) {
  const std::vector<std::string_view> types = {"f64", "f32", "tf32", "bf16", "f16", "fp8", "fp4", "int8", "int4"};
  keys.insert(keys.end(),
              {
                  {.path = "model.name", .member = NL_MEMBER(model, name), .help = "what the reports call the model"},
                  {.path = "model.architecture", .member = ModelAttribute{kText}, .help = "llama, qwen, mixtral …"},
                  {.path = "model.dtype",
                   .member = ModelAttribute{kText},
                   .help = "the type of its weights",
                   .allowed = types},
                  {.path = "model.compute_dtype",
                   .member = ModelAttribute{kText},
                   .help = "the type it multiplies in, whose peak counts; empty: that of its weights",
                   .allowed = types},
                  {.path = "model.kv_dtype",
                   .member = ModelAttribute{kText},
                   .help = "the type of the cached keys and values; empty: the type it multiplies in",
                   .allowed = types},
                  whole("model.layers", "decoder layers"),
                  whole("model.hidden_size", "width of the residual stream"),
                  whole("model.heads", "query heads"),
                  whole("model.kv_heads", "key/value heads; fewer than heads: grouped-query attention"),
                  whole("model.head_dim", "width of a head"),
                  whole("model.intermediate_size", "width of the feed-forward layer"),
                  {.path = "model.mlp",
                   .member = ModelAttribute{kText},
                   .help = "the feed-forward layer: gated (three matrices) or plain (two)",
                   .allowed = {"gated", "plain"}},
                  whole("model.vocab_size", "rows of the embedding and of the output head"),
                  {.path = "model.tied_embeddings",
                   .member = ModelAttribute{kText},
                   .help = "embedding and output head are one matrix",
                   .allowed = {"true", "false"}},
                  whole("model.sliding_window", "tokens that attention sees back; empty: all"),
                  whole("model.sliding_layers", "layers with that window; empty: all", 0),
                  whole("model.max_position", "longest context"),
                  whole("model.parameters", "parameters in all"),
                  {.path = "model.rope_theta",
                   .member = ModelAttribute{kNumber},
                   .help = "base of the rotary embedding",
                   .least = 0},
                  {.path = "model.notes",
                   .member = ModelAttribute{kText},
                   .help = "what a reader of the figures must know about this description"},
              });
}

// Experts, latent attention, vision.
void add_special_shape_keys(std::vector<ConfigKey>& keys) {
  keys.insert(keys.end(),
              {
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
                  {.path = "model.vision_mlp",
                   .member = ModelAttribute{kText},
                   .help = "its feed-forward layer; empty: plain",
                   .allowed = {"gated", "plain"}},
                  whole("model.vision_patch_size", "pixels of a patch's side"),
                  whole("model.vision_patches", "patches of an image, as the tower sees them"),
                  whole("model.image_tokens", "tokens of an image, as the decoder sees them"),
                  whole("model.images", "images in a sequence; empty: 1"),
                  whole("model.projector_input_size", "width of what the projector between tower and decoder is given"),
                  whole("model.projector_hidden_size", "width of the layer in its middle; empty: it is one matrix"),
              });
}

// What was run.
void add_model_run_keys(std::vector<ConfigKey>& keys) {
  keys.insert(keys.end(),
              {
                  whole("model.batch_size", "sequences at a time"),
                  whole("model.prompt_tokens", "tokens of the prompt of each, those of images included"),
                  whole("model.decode_tokens", "tokens generated of each; used where the trace does not tell its decode steps apart"),
                  {.path = "model.prefill_logits",
                   .member = ModelAttribute{kText},
                   .help = "tokens of the prompt that go through the output head; empty: last",
                   .allowed = {"last", "all"}},
                  whole("model.tensor_parallel", "GPUs that share each layer; empty: 1"),
                  {.path = "model.stage_flops",
                   .member = ModelAttribute{kNumbers},
                   .help = "stage → floating-point operations of one window, for what is no transformer",
                   .least = 0,
                   .most = 1e30},
                  {.path = "model.stage_bytes",
                   .member = ModelAttribute{kNumbers},
                   .help = "stage → bytes that one window must move at least",
                   .least = 0,
                   .most = 1e30},
                  {.path = "device.file",
                   .member = NL_MEMBER(device, file),
                   .help = "a file of GPU peaks, or a folder of them, that wins over the shipped ones"},
              });
}

}  // namespace

const std::vector<ConfigKey>& config_keys() {
  static const std::vector<ConfigKey> keys = [] {
    std::vector<ConfigKey> all;
    add_run_keys(all);
    add_capture_keys(all);
    add_counter_keys(all);
    add_nsys_keys(all);
    add_ncu_keys(all);
    add_measure_keys(all);
    add_shape_keys(all);
    add_special_shape_keys(all);
    add_model_run_keys(all);
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
  static constexpr std::string_view names[] = {"a text",        "a whole number",  "a number",
                                               "true or false", "a list of texts", "a map of texts", "a map of numbers"};
  if (const auto* attribute = std::get_if<ModelAttribute>(&key.member)) {
    if (attribute->type == kWhole) return names[1];
    if (attribute->type == kNumbers) return names[6];
    return attribute->type == kNumber ? names[2] : names[0];
  }
  return names[key.member.index()];
}

}  // namespace nl::orchestrator

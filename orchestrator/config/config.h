#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The effective configuration of a run. Every key that a file or --set may name is declared once, in
// config/keys.cpp, with its type, its allowed values and its help; the defaults are the values below.
// Enumerated values are words here; choice<Enum>(word) of config/choices.h is what code decides on.
namespace nl::orchestrator {

// How config.yaml writes the value of an environment variable that it must not repeat. Read back, it
// means "whatever the environment of nl-stage holds".
inline constexpr const char* kMaskedValue = "<set>";

struct RunOptions {
  std::string mode = "deep";  // which passes there are; part of the bundle's name
  std::string name = "run";
  bool name_given = true;  // by --name, --set or a file; load_config() says where not: imports and models are then named after their files
  int top_n_kernels = 10;
  double budget_s = 0;                                      // for all passes; 0: no limit
  std::vector<std::string> stages = {"prefill", "decode"};  // whose kernels are ranked and profiled
};

struct StageOptions {
  std::map<std::string, std::string> map;  // stage → regular expression for the names of its ranges
};

struct AnalysisOptions {
  std::string warmup = "auto";     // or "none", or how many iterations come first and do not count
  double warmup_factor = 1.5;      // auto: slower than this many times the later ones
  std::vector<std::string> rules;  // files of rules besides the shipped ones
};

struct ArtifactOptions {
  std::string dir = "artifacts/runs";
  bool keep_env = false;  // leave the target's environment in the exported SQLite
  bool perfetto = true;   // write the trace for Perfetto's UI
};

struct LedgerOptions {  // where every run is recorded as it ends (orchestrator/ledger)
  bool enabled = true;
  std::string path = {};  // a file, or postgresql://…; empty: $NL_STAGE_LEDGER, else in the user's data folder
  int keep_last = 0;      // runs; 0: all
  bool keep_tagged = true;
  std::string part_of = {};  // no key: try, bisect and suite set it for the runs that ls and trends leave out
};

struct WorkloadOptions {
  std::vector<std::string> command;
  std::string working_directory;           // empty: where nl-stage was started
  std::map<std::string, std::string> env;  // added to the environment of every pass
  std::vector<std::string> inputs;         // listed in inputs.yaml
  bool hydra = false;                      // a Hydra program: each pass gets a hydra.run.dir in the bundle
  std::string hydra_chdir = "keep";        // hydra.job.chdir; keep: as the program has it
};

struct ToolOptions {  // overrides of where things are found
  std::string nsys, ncu, cupti, nvml, collector;
};

struct CaptureOptions {              // which tool traces, and how the collector's GPU half does
  std::string prefer = "nsys";       // "cupti": the collector, although nsys is there; "ranges": stages alone
  std::string cuda_calls = "work";   // "all", "none"
  std::string cuda_graphs = "node";  // "graph": at graph level, without the kernels in them
  int buffer_kb = 4096;              // of each buffer that CUPTI fills
  int buffers = 64;                  // at most so many of them
  int flush_ms = 1000;               // what a killed process loses
  std::string duty;                  // "1/10": one step in ten is traced; empty: all
  std::string max_size;              // of the trace, "2GB"; empty: no limit
  // The GPU's counters without ncu. "auto": where ncu is wanted and not there; "cupti": instead of ncu; "off"
  std::string counters = "auto";
  std::vector<std::string> counter_metrics = {  // that fit into one pass: nothing is replayed for them
      "gpu__time_duration.sum",
      "dram__bytes_read.sum",
      "dram__bytes_write.sum",
      "lts__t_bytes.sum",
      "sm__warps_active.avg.pct_of_peak_sustained_active",
      "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
      "sm__cycles_active.avg",
      "gpc__cycles_elapsed.max"};
  std::vector<std::string> replay_metrics;  // of the chosen kernels, for which each is replayed; empty: none
  int counter_launches = 1;                 // of each (name, grid, block)
  bool stage_counters = true;               // also of the stages as a whole, in a pass of their own
  int sampling_us = 0;                      // what the GPU does, every so often, beside the trace; 0: not
  std::vector<std::string> sampling_metrics = {"sm__cycles_active.avg.pct_of_peak_sustained_elapsed",
                                               "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
                                               "dram__bytes_read.sum",
                                               "dram__bytes_write.sum",
                                               "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
                                               "sm__warps_active.avg.pct_of_peak_sustained_elapsed",
                                               "gpc__cycles_elapsed.avg.per_second"};
  int pc_sampling = 0;  // program counters every 2^n cycles, 5 to 31; 0: not
};

struct NsysOptions {
  bool enabled = true;
  std::vector<std::string> trace = {"cuda", "nvtx", "osrt"};
  std::string sample = "none";
  std::string cpuctxsw = "none";
  std::string cuda_graph_trace = "node";
  std::string pytorch = "none";        // "autograd-nvtx", "autograd-shapes-nvtx"
  std::string capture_range = "none";  // "nvtx", "cudaProfilerApi"
  std::string nvtx_capture;            // range@domain, with capture_range: nvtx
  std::string capture_range_end = "stop";
  bool stats_csv = true;  // our own stats CSVs beside the export
  bool sqlite = true;     // keep the exported SQLite in the bundle
  double timeout_s = 1800;
  double export_timeout_s = 900;
  std::vector<std::string> extra_args;
};

struct NcuOptions {
  bool enabled = true;
  std::string target_processes = "all";
  std::string set;  // "" none, "basic", "full", "roofline"
  std::vector<std::string> sections;
  std::vector<std::string> metrics;
  std::string replay_mode = "kernel";
  std::string kernel_name_base = "mangled";
  std::string clock_control = "none";
  std::string cache_control = "none";
  std::string graph_profiling = "node";
  std::string filter_mode = "per-launch-config";
  int launch_skip = 0;
  int launch_count = 1;                   // per (name, grid, block) with filter_mode per-launch-config
  std::vector<std::string> nvtx_include;  // empty: derived from run.stages
  bool import_sass = false;               // carry the machine code in the report: tens of megabytes
  bool details_csv = true;                // the details page beside the raw one
  double timeout_s = 3600;
  double export_timeout_s = 600;
  std::vector<std::string> extra_args;
};

struct PerturbationOptions {
  int repeats = 3;           // unprofiled passes, and as many traced ones, the capture among them; 0: none
  int most_repeats = 0;      // so many of each where fewer do not tell the overhead from the limit; no more than `repeats`: just those
  std::string limit = "5%";  // of the overhead; more is warned of
  double budget_s = 180;     // for all passes that are run for this alone
  std::string calibrate = "auto";  // time a loop of launches under the tracers; auto: where the trace shows that their cost may matter
};

struct EnergyOptions {
  std::string enabled = "auto";  // auto: where NVML answers; on: and its absence is said; off
  double interval_ms = 50;
};

struct DeviceOptions {
  std::string file;  // more GPU peaks: a file, or a folder of them
};

struct MarkOptions {
  bool automatic = true;       // Python workloads mark their stages by themselves (nvtx/python/auto)
  int host_samples_hz = 97;    // and sample their stacks; a prime, so that nothing keeps in step with it
  bool operators = true;       // and their operators and layers are recorded, in a pass of their own
  std::string engine = "off";  // the inference engine that marks the requests of each step
};

// A model file that one of the backends runs (adapters/), in the place of a workload.
struct ModelFileOptions {
  std::string backend;              // empty: there is a command
  std::string model;                // the file
  std::string provider;             // empty: the backend's first
  std::string precision = "model";  // as the model has it
  std::string inputs = "random";    // or "zeros", or a file
  int seed = 1;
  std::vector<std::string> dims;    // "batch=1": open dimensions
  std::vector<std::string> shapes;  // "x=2x16:float32": of inputs whose shape the model does not say
  int iterations = 20, warmup = 3;
  int threads = 0;  // 0: as the backend chooses
};

struct ModelOptions {
  std::string name;
  std::map<std::string, std::string> attributes;  // architecture, dtype, layers, hidden_size …
};

struct Config {
  RunOptions run;
  StageOptions stages;
  MarkOptions mark;
  AnalysisOptions analysis;
  ArtifactOptions artifacts;
  LedgerOptions ledger;
  WorkloadOptions workload;
  ModelFileOptions session;
  ToolOptions tools;
  CaptureOptions capture;
  NsysOptions nsys;
  NcuOptions ncu;
  PerturbationOptions perturbation;
  EnergyOptions energy;
  ModelOptions model;
  DeviceOptions device;
  std::string composed_yaml;         // the effective configuration, as config.yaml records it
  std::vector<std::string> sources;  // files that were composed, in order
};

struct ConfigRequest {
  std::filesystem::path runner_file = {};  // conf/runner/deep.yaml, or a shipped runner's name: "deep"
  std::filesystem::path model_file = {};   // empty: the runner's own; the name of a shipped model works, too
  std::vector<std::string> sets = {};      // "run.top_n_kernels=20", in order
  std::vector<std::string> rules = {};     // --rules: added to analysis.rules
  std::string name = {};                   // --name: wins over everything; empty: not given
  std::vector<std::string> command = {};   // after "--": wins over everything
};

// Composes the runner file, the presets it names, the model and the --set values; later wins. Throws
// Error(kConfig) with file:line:column, what is wrong and the nearest valid name.
Config load_config(const ConfigRequest& request);

// The name of a run without a configured name: that of the file, fit to be part of a folder's name.
std::string run_name_of(const std::filesystem::path& file);
std::string as_run_name(std::string_view text);  // the same of any text

// The effective configuration as YAML: every key, in the order of the table, loadable again.
std::string compose_yaml(const Config& config);

// "workload.env={…}", as --set takes it: JSON is YAML.
std::string setting(const std::string& key, const nlohmann::json& value);

}  // namespace nl::orchestrator

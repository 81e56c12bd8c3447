#include "orchestrator/config/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "model/error.h"
#include "model/program.h"
#include "model/session.h"
#include "orchestrator/config/choices.h"
#include "orchestrator/config/conf_files.h"
#include "orchestrator/config/keys.h"
#include "orchestrator/config/knowledge.h"
#include "orchestrator/config/nearest.h"
#include "orchestrator/config/units.h"
#include "parsers/hf/config.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

constexpr const char* kRunners = "runner";

// The file a name stands for, with or without .yaml, in one of the rooms.
std::optional<ConfFile> find_preset(const std::string& name, const ConfFiles& files, const std::vector<std::string>& rooms) {
  for (const auto& room : rooms)
    for (const char* ending : {".yaml", ""})
      if (auto file = files.find(room + name + ending)) return file;
  return std::nullopt;
}

// Suggests names as the place takes them: --config wants a runner's name alone.
[[noreturn]] void no_such_preset(const std::string& name, const std::string& where, const ConfFiles& files, const std::string& room) {
  const bool alone = room == kRunners;
  std::vector<std::string> names;
  for (const auto& file : files.all_in(room)) {
    const fs::path path = fs::path(file.relative).replace_extension();
    if (!alone || path.parent_path() == room) names.push_back(alone ? path.filename().string() : path.string());
  }
  std::string near = nearest_name(name, names);
  if (near.empty()) near = nearest_name((alone ? "" : room + "/") + fs::path(name).stem().string(), names);
  throw Error(ErrorKind::kConfig, fmt::format("there is no configuration file '{}'", name), where,
              near.empty() ? fmt::format("there are: {}", fmt::join(names, ", ")) : fmt::format("did you mean '{}'?", near));
}

constexpr int kMostRepeats = 12;  // with 1 % from pass to pass they tell about 4 % from 5 %

// run.mode says which passes there are. It comes before the other keys beside it, so that they can differ from it.
void apply_mode(Config& config) {
  const bool deep = choice<RunMode>(config.run.mode) == RunMode::kDeep;
  config.ncu.enabled = deep;
  config.capture.counters = "auto";  // counts where ncu is enabled, so that --set ncu.enabled=true is enough on light
  config.mark.operators = deep;
  config.perturbation.repeats = deep ? PerturbationOptions().repeats : 0;
  config.perturbation.most_repeats = deep ? kMostRepeats : 0;
}

// The value of `wanted` in a tree that hangs at `path`.
const YamlTree* value_at(const YamlTree& tree, const std::string& path, const std::string& wanted) {
  if (path == wanted) return &tree;
  if (!path.empty() && !wanted.starts_with(path + ".")) return nullptr;
  for (const auto& [name, value] : tree.entries)
    if (const YamlTree* found = value_at(value, path.empty() ? name.name : path + "." + name.name, wanted)) return found;
  return nullptr;
}

std::string identity_of(const ConfFile& file) {
  std::error_code failed;
  return file.text_built_in ? file.name() : fs::weakly_canonical(file.disk, failed).string();
}

// workload.env.NAME=value is a map of one entry.
std::string as_map_entry(const std::string& path, YamlTree& value) {
  for (const std::string key : {"workload.env", "stages.map", "model.stage_flops", "model.stage_bytes"}) {
    if (!path.starts_with(key + ".")) continue;
    YamlTree map{YamlTree::Kind::kMap, {}, "", false, {}, {}};
    map.entries.push_back({{path.substr(key.size() + 1), {}}, std::move(value)});
    value = std::move(map);
    return key;
  }
  return path;
}

// Puts one layer after the other over a configuration: files with the presets they name, a model, --set values. Each throws
// Error(kConfig) with the place of what is wrong.
class Composer {
 public:
  Composer(Config& config, ConfFiles files) : config_(config), files_(std::move(files)) {}

  // A file, or the name of a shipped runner.
  void add_runner(const fs::path& given) {
    std::error_code failed;
    std::optional<ConfFile> file;
    const bool folder = fs::is_directory(given, failed);  // one called "deep" hides no preset
    if (!folder && fs::exists(given, failed)) file = file_on_disk(given);
    ConfFiles here = files_;
    here.ask_first("conf");
    // A name goes through the folders; a path that is not there is an error, not another file of that name.
    if (!file && !given.has_parent_path()) file = find_preset(given.string(), here, {"runner/"});
    if (!file && folder) file = file_on_disk(given);  // which says that it is one
    if (!file) no_such_preset(given.string(), "--config", here, kRunners);
    if (const fs::path own = file->text_built_in ? fs::path() : conf_folder_of(file->disk); !own.empty()) files_.ask_first(own);
    add_file(*file);
  }

  // A file, the name of a shipped model, or Hugging Face's config.json.
  void add_model(const fs::path& given) {
    std::error_code failed;
    const fs::path hugging_face = fs::is_regular_file(given / "config.json", failed) ? given / "config.json" : given;
    if (!fs::exists(hugging_face, failed)) {
      const auto file = find_preset(given.string(), files_, {"model/llm/", "model/", ""});
      if (!file) no_such_preset(given.string(), "--model", files_, "model");
      return add_file(*file);
    }
    if (hugging_face.extension() != ".json") return add_file(file_on_disk(hugging_face));
    const parsers::HfConfig model = parsers::read_hf_config(hugging_face);
    const auto put = [&](const std::string& key, const std::string& text) {
      const YamlTree value{YamlTree::Kind::kScalar, {}, text, false, {}, {}};
      apply_config(config_, value, "model." + key, {}, [&](YamlTree::Place) { return hugging_face.string(); });
    };
    put("name", model.name);
    for (const auto& [key, text] : model.attributes) put(key, text);
    if (!model.notes.empty()) put("notes", fmt::format("{}", fmt::join(model.notes, "; ")));
    config_.sources.push_back(hugging_face.string());
  }

  // "run.top_n_kernels=20"
  void add_set(const std::string& text) {
    const std::size_t cut = text.find('=');
    const std::string path = text.substr(0, cut);
    // The value of an environment variable is not repeated in messages.
    const bool secret = path.starts_with("workload.env");
    const std::string place = "--set " + (secret && cut != std::string::npos ? path + "=…" : text);
    if (cut == std::string::npos || cut == 0)
      throw Error(ErrorKind::kConfig, fmt::format("--set wants key=value, not '{}'", text), place, "such as --set run.top_n_kernels=20");
    YamlTree value = read_yaml_value(text.substr(cut + 1), place);
    const ConfigWhere where = [&](YamlTree::Place) { return place; };
    if (path == "compose") return add_presets(value, where);
    if (value.kind == YamlTree::Kind::kNull) value = {YamlTree::Kind::kScalar, {}, "", true, {}, {}};
    const std::string target = as_map_entry(path, value);
    apply(value, target, where);
  }

 private:
  // The presets that the file names come first, in their order; its own keys win over them.
  void add_file(const ConfFile& file) {
    const YamlTree tree = read_yaml_file(file);
    const ConfigWhere where = [&](YamlTree::Place place) { return yaml_where(file, place); };
    open_.push_back(identity_of(file));
    for (const auto& [key, value] : tree.entries)
      if (key.name == "compose") add_presets(value, where);
    open_.pop_back();
    apply(tree, "", where);
    config_.sources.push_back(file.name());
  }

  void add_presets(const YamlTree& names, const ConfigWhere& where) {
    const auto refuse = [&](YamlTree::Place place) {
      throw Error(ErrorKind::kConfig, "compose wants a list of preset names", where(place), "such as compose: [profiling/nsys/default]");
    };
    if (names.kind != YamlTree::Kind::kList && names.kind != YamlTree::Kind::kNull) refuse(names.place);
    for (const auto& name : names.items) {
      if (name.kind != YamlTree::Kind::kScalar || name.text.empty()) refuse(name.place);
      const auto preset = find_preset(name.text, files_, {""});
      if (!preset) no_such_preset(name.text, where(name.place), files_, "");
      refuse_circle(*preset, where(name.place));
      add_file(*preset);
    }
  }

  void apply(const YamlTree& tree, const std::string& path, const ConfigWhere& where) {
    if (const YamlTree* mode = value_at(tree, path, "run.mode")) {
      apply_config(config_, *mode, "run.mode", mode->place, where);
      apply_mode(config_);
    }
    apply_config(config_, tree, path, tree.place, where);
  }

  void refuse_circle(const ConfFile& preset, const std::string& where) const {
    const std::string identity = identity_of(preset);
    const auto first = std::find(open_.begin(), open_.end(), identity);
    if (first == open_.end()) return;
    std::string chain;
    for (auto step = first; step != open_.end(); ++step) chain += fs::path(*step).filename().string() + " → ";
    throw Error(ErrorKind::kConfig,
                fmt::format("the presets compose each other in a circle: {}{}", chain, fs::path(identity).filename().string()), where,
                "remove this line");
  }

  Config& config_;
  ConfFiles files_;
  std::vector<std::string> open_;  // being composed, outermost first
};

// What the bounds of a single key cannot say: keys that need each other, and 0 for "off" beside a least value.
void check_together(const Config& config) {
  const CaptureOptions& capture = config.capture;
  const auto refuse_if = [&](bool wrong, const std::string& what, const char* fix) {
    if (wrong) throw Error(ErrorKind::kConfig, what, config.sources.empty() ? "--set" : config.sources.back(), fix);
  };
  refuse_if(capture.pc_sampling > 0 && capture.pc_sampling < 5, fmt::format("capture.pc_sampling is {}", capture.pc_sampling),
            "0 (off), or 5 to 31: a sample every 2^n cycles");
  refuse_if(capture.sampling_us > 0 && capture.sampling_us < 50, fmt::format("capture.sampling_us is {}", capture.sampling_us),
            "0 (off), or at least 50: a sample costs about 80 µs of a processor");
  refuse_if(capture.sampling_us > 0 && capture.sampling_metrics.empty(),
            "capture.sampling_us is set, but capture.sampling_metrics names nothing",
            "such as --set capture.sampling_metrics=[sm__cycles_active.avg.pct_of_peak_sustained_elapsed]");
  const bool by_cupti = choice<CounterPreference>(capture.counters) == CounterPreference::kCupti;
  refuse_if(by_cupti && capture.counter_metrics.empty() && capture.replay_metrics.empty(),
            "capture.counters is cupti, but there is no metric to count", "name some in capture.counter_metrics");
  refuse_if(!capture.duty.empty() && !one_in(capture.duty),
            fmt::format("capture.duty is '{}', which is no share of the steps", capture.duty),
            "1/10 traces one step in ten, 1/10000 the fewest");
  refuse_if(!capture.max_size.empty() && bytes_in(capture.max_size).value_or(0) == 0,
            fmt::format("capture.max_size is '{}', which is no size", capture.max_size), "such as 2GB or 500MiB");
  refuse_if(choice<CaptureRange>(config.nsys.capture_range) == CaptureRange::kNvtx && config.nsys.nvtx_capture.empty(),
            "nsys.capture_range is nvtx, but nsys.nvtx_capture names no range", "such as --set nsys.nvtx_capture=decode_all@LLM");
  const auto limit = share_in(config.perturbation.limit);
  refuse_if(!limit || *limit <= 0 || *limit > 10, fmt::format("perturbation.limit is '{}', which is no share", config.perturbation.limit),
            "such as 5% or 0.05");
  warmup_rule(config);
}

std::vector<std::string> session_command(const ModelFileOptions& options) {
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  std::vector<std::string> command = {failed ? "nl-stage" : program.string(), "session"};
  const auto add = [&](const char* option, const std::string& value) { command.insert(command.end(), {option, value}); };
  add("--backend", options.backend);
  add("--model", fs::absolute(options.model).string());
  add("--precision", options.precision);
  add("--inputs", options.inputs);
  add("--seed", std::to_string(options.seed));
  add("--iterations", std::to_string(options.iterations));
  add("--warmup", std::to_string(options.warmup));
  add("--threads", std::to_string(options.threads));
  if (!options.provider.empty()) add("--provider", options.provider);
  for (const std::string& dimension : options.dims) add("--dim", dimension);
  for (const std::string& shape : options.shapes) add("--shape", shape);
  return command;
}

// A configuration with a backend runs `nl-stage session`, this program once more, as its workload, and has one stage more.
// Throws Error(kUsage) where it names no model file.
void use_session(Config& config) {
  if (config.session.backend.empty()) return;
  if (config.session.model.empty())
    throw Error(ErrorKind::kUsage, "a backend is given, and no model file", "session.model", "give --model FILE");
  config.workload.command = session_command(config.session);
  config.mark.automatic = config.mark.operators = false;  // for Python
  if (!config.run.name_given) config.run.name = run_name_of(config.session.model);
  if (auto& stages = config.run.stages; std::find(stages.begin(), stages.end(), kIterationStage) == stages.end())
    stages.push_back(kIterationStage);
}

}  // namespace

Config load_config(const ConfigRequest& request) {
  Config config;
  config.run.name.clear();
  Composer composer(config, ConfFiles::shipped());
  if (!request.runner_file.empty()) composer.add_runner(request.runner_file);
  if (!request.model_file.empty()) composer.add_model(request.model_file);
  for (const auto& set : request.sets) composer.add_set(set);
  if (!request.name.empty()) {
    const YamlTree name{YamlTree::Kind::kScalar, {}, request.name, true, {}, {}};
    apply_config(config, name, "run.name", {}, [](YamlTree::Place) { return std::string("--name"); });
  }
  config.run.name_given = !config.run.name.empty();
  config.analysis.rules.insert(config.analysis.rules.end(), request.rules.begin(), request.rules.end());
  if (!request.command.empty()) config.workload.command = request.command;
  if (!config.run.name_given) config.run.name = run_name_of(program_of(config.workload.command));
  check_together(config);
  config.composed_yaml = compose_yaml(config);
  if (!config.session.backend.empty() && !request.command.empty())
    throw Error(ErrorKind::kUsage, "a backend and a command are given", "--backend " + config.session.backend, "profile one of them");
  use_session(config);
  return config;
}

std::string run_name_of(const std::filesystem::path& file) {
  const bool packed = file.extension() == ".gz" || file.extension() == ".zst";
  return as_run_name((packed ? file.stem() : file).stem().string());
}

std::string as_run_name(std::string_view text) {
  std::string name(text.substr(0, 100));
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_' && c != '.') c = '-';
  return name.empty() || name.front() == '.' ? Config{}.run.name : name;
}

}  // namespace nl::orchestrator

#include "orchestrator/config/config.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/error.h"
#include "orchestrator/config/apply.h"
#include "orchestrator/config/nearest.h"
#include "orchestrator/config/data_dir.h"
#include "orchestrator/config/yaml_tree.h"
#include "parsers/hf/config.h"

namespace nl::orchestrator {
namespace fs = std::filesystem;
namespace {

bool is_file(const fs::path& path) {
  std::error_code failed;
  return fs::is_regular_file(path, failed);
}

// "profiling/nsys/default" for every .yaml below the folders.
std::vector<std::string> preset_names(const std::vector<fs::path>& folders) {
  std::vector<std::string> names;
  for (const auto& folder : folders) {
    std::error_code failed;
    for (fs::recursive_directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed))
      if (entry->path().extension() == ".yaml")
        names.push_back(entry->path().lexically_relative(folder).replace_extension().generic_string());
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

// The file a name stands for: itself, or below one of the folders, with or without .yaml.
fs::path find_preset(const std::string& name, const std::vector<fs::path>& folders,
                     const std::vector<std::string>& rooms) {
  for (const auto& folder : folders)
    for (const auto& room : rooms)
      for (const char* ending : {".yaml", ""})
        if (fs::path file = folder / room / (name + ending); is_file(file)) return file;
  return {};
}

[[noreturn]] void no_such_preset(const std::string& name, const std::string& where,
                                 const std::vector<fs::path>& folders, const std::string& room) {
  std::vector<std::string> names = preset_names(folders);
  if (!room.empty()) std::erase_if(names, [&](const std::string& known) { return !known.starts_with(room + "/"); });
  std::string near = nearest_name(name, names);
  if (near.empty()) near = nearest_name(room + "/" + fs::path(name).stem().string(), names);
  std::string all;
  for (const auto& known : names) all += (all.empty() ? "" : ", ") + known;
  throw Error(ErrorKind::kConfig, fmt::format("there is no configuration file '{}'", name), where,
              near.empty() ? fmt::format("there are: {}", all.empty() ? "none" : all)
                           : fmt::format("did you mean '{}'?", near));
}

class Composer {
 public:
  Composer(Config& config, std::vector<fs::path> folders) : config_(config), folders_(std::move(folders)) {}

  // The presets that the file names come first, in their order; its own keys win over them.
  void add(const fs::path& file) {
    std::error_code failed;
    const fs::path identity = fs::weakly_canonical(file, failed);
    const YamlTree tree = read_yaml_file(file);
    open_.push_back(identity);
    for (const auto& [key, value] : tree.entries)
      if (key.name == "compose") add_presets(file, value);
    open_.pop_back();
    apply_config(config_, tree, "", tree.place, [&](YamlTree::Place place) { return yaml_where(file, place); });
    config_.sources.push_back(file.string());
  }

  const std::vector<fs::path>& folders() const { return folders_; }

 private:
  void add_presets(const fs::path& file, const YamlTree& names) {
    if (names.kind != YamlTree::Kind::kList && names.kind != YamlTree::Kind::kNull)
      throw Error(ErrorKind::kConfig, "compose wants a list of preset names", yaml_where(file, names.place),
                  "such as compose: [profiling/nsys/default]");
    for (const auto& name : names.items) {
      const std::string where = yaml_where(file, name.place);
      if (name.kind != YamlTree::Kind::kScalar || name.text.empty())
        throw Error(ErrorKind::kConfig, "compose wants a list of preset names", where,
                    "such as compose: [profiling/nsys/default]");
      const fs::path preset = find_preset(name.text, folders_, {""});
      if (preset.empty()) no_such_preset(name.text, where, folders_, "");
      refuse_cycle(preset, where);
      add(preset);
    }
  }

  void refuse_cycle(const fs::path& preset, const std::string& where) const {
    std::error_code failed;
    const fs::path identity = fs::weakly_canonical(preset, failed);
    const auto first = std::find(open_.begin(), open_.end(), identity);
    if (first == open_.end()) return;
    std::string chain;
    for (auto step = first; step != open_.end(); ++step) chain += step->filename().string() + " → ";
    throw Error(ErrorKind::kConfig,
                fmt::format("the presets compose each other in a circle: {}{}", chain, identity.filename().string()),
                where, "remove this line");
  }

  Config& config_;
  std::vector<fs::path> folders_;
  std::vector<fs::path> open_;  // being composed, outermost first
};

fs::path find_runner(const fs::path& given) {
  std::error_code failed;
  if (given.empty() || fs::exists(given, failed)) return given;
  std::vector<fs::path> folders = {"conf"};
  for (auto& folder : conf_folders()) folders.push_back(folder);
  // A name goes through the folders; a path that is not there is an error, not another file of that name.
  if (!given.has_parent_path())
    if (fs::path file = find_preset(given.string(), folders, {"runner"}); !file.empty()) return file;
  no_such_preset(given.string(), "--config", folders, "runner");
}

fs::path find_model(const fs::path& given, const std::vector<fs::path>& folders) {
  std::error_code failed;
  if (is_file(given / "config.json")) return given / "config.json";  // the folder of a Hugging Face model
  if (fs::exists(given, failed)) return given;
  if (fs::path file = find_preset(given.string(), folders, {"model/llm", "model", ""}); !file.empty()) return file;
  no_such_preset(given.string(), "--model", folders, "model");
}

// "run.top_n_kernels=20"; the value of an environment variable is not repeated in messages.
void apply_set(Config& config, const std::string& text) {
  const std::size_t cut = text.find('=');
  const std::string path = text.substr(0, cut);
  const bool secret = path.starts_with("workload.env");
  const std::string where = "--set " + (secret && cut != std::string::npos ? path + "=…" : text);
  if (cut == std::string::npos || cut == 0)
    throw Error(ErrorKind::kConfig, fmt::format("--set wants key=value, not '{}'", text), where,
                "such as --set run.top_n_kernels=20");
  YamlTree value = read_yaml_value(text.substr(cut + 1), where);
  if (value.kind == YamlTree::Kind::kNull) value = {YamlTree::Kind::kScalar, {}, "", true, {}, {}};
  std::string target = path;
  // workload.env.NAME=value: a map of one entry.
  for (const std::string_view key : {"workload.env", "model.stage_flops", "model.stage_bytes"}) {
    if (!path.starts_with(std::string(key) + ".")) continue;
    YamlTree map{YamlTree::Kind::kMap, {}, "", false, {}, {}};
    map.entries.push_back({{path.substr(key.size() + 1), {}}, std::move(value)});
    value = std::move(map);
    target = key;
  }
  apply_config(config, value, target, {}, [&](YamlTree::Place) { return where; });
}

// nl-stage's own YAML, or a Hugging Face config.json.
void add_model(Config& config, Composer& composer, const fs::path& file) {
  if (file.extension() != ".json") return composer.add(file);
  const parsers::HfConfig model = parsers::read_hf_config(file);
  std::string notes;
  for (const auto& note : model.notes) notes += (notes.empty() ? "" : "; ") + note;
  const auto put = [&](const std::string& key, const std::string& text) {
    const YamlTree value{YamlTree::Kind::kScalar, {}, text, false, {}, {}};
    apply_config(config, value, "model." + key, {}, [&](YamlTree::Place) { return file.string(); });
  };
  put("name", model.name);
  for (const auto& [key, text] : model.attributes) put(key, text);
  if (!notes.empty()) put("notes", notes);
  config.sources.push_back(file.string());
}

void check_sampling(const CaptureOptions& capture, const std::string& where) {
  // 0 is "not", so that the keys' bounds cannot say it.
  if (capture.pc_sampling > 0 && capture.pc_sampling < 5)
    throw Error(ErrorKind::kConfig, fmt::format("capture.pc_sampling is {}", capture.pc_sampling), where,
                "0 (off), or 5 to 31: a sample every 2^n cycles");
  if (capture.sampling_us > 0 && capture.sampling_us < 50)
    throw Error(ErrorKind::kConfig, fmt::format("capture.sampling_us is {}", capture.sampling_us), where,
                "0 (off), or at least 50: a sample costs about 80 µs of a processor");
  if (capture.sampling_us > 0 && capture.sampling_metrics.empty())
    throw Error(ErrorKind::kConfig, "capture.sampling_us is set, but capture.sampling_metrics names nothing", where,
                "such as --set capture.sampling_metrics=[sm__cycles_active.avg.pct_of_peak_sustained_elapsed]");
  if (capture.counters == "cupti" && capture.counter_metrics.empty() && capture.replay_metrics.empty())
    throw Error(ErrorKind::kConfig, "capture.counters is cupti, but there is no metric to count", where,
                "name some in capture.counter_metrics");
}

void check_together(const Config& config) {
  check_sampling(config.capture, config.sources.empty() ? "--set" : config.sources.back());
  if (config.nsys.capture_range == "nvtx" && config.nsys.nvtx_capture.empty())
    throw Error(ErrorKind::kConfig, "nsys.capture_range is nvtx, but nsys.nvtx_capture names no range",
                config.sources.empty() ? "--set" : config.sources.back(),
                "such as --set nsys.nvtx_capture=decode_all@LLM");
  const std::string& warmup = config.analysis.warmup;
  const bool number = !warmup.empty() && warmup.size() < 7 && warmup.find_first_not_of("0123456789") == std::string::npos;
  if (warmup != "auto" && warmup != "none" && !number)
    throw Error(ErrorKind::kConfig, fmt::format("analysis.warmup is '{}'", warmup),
                config.sources.empty() ? "--set" : config.sources.back(), "auto, none, or a number of iterations");
}

}  // namespace

Config load_config(const ConfigRequest& request) {
  Config config;
  const fs::path runner = find_runner(request.runner_file);
  std::vector<fs::path> folders;
  if (fs::path own = runner.empty() ? fs::path() : conf_folder_of(runner); !own.empty()) folders.push_back(own);
  for (auto& folder : conf_folders())
    if (std::find(folders.begin(), folders.end(), folder) == folders.end()) folders.push_back(folder);
  Composer composer(config, std::move(folders));
  if (!runner.empty()) composer.add(runner);
  if (!request.model_file.empty()) add_model(config, composer, find_model(request.model_file, composer.folders()));
  for (const auto& set : request.sets) apply_set(config, set);
  if (!request.name.empty()) {
    const YamlTree name{YamlTree::Kind::kScalar, {}, request.name, true, {}, {}};
    apply_config(config, name, "run.name", {}, [](YamlTree::Place) { return std::string("--name"); });
  }
  config.analysis.rules.insert(config.analysis.rules.end(), request.rules.begin(), request.rules.end());
  if (!request.command.empty()) config.workload.command = request.command;
  check_together(config);
  config.composed_yaml = compose_yaml(config);
  return config;
}

}  // namespace nl::orchestrator

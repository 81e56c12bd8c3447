#include "orchestrator/config/knowledge.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "model/error.h"
#include "orchestrator/config/ceilings_file.h"
#include "orchestrator/config/units.h"
#include "orchestrator/config/yaml_file.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

std::optional<std::uint64_t> count_of(const ModelOptions& model, const char* attribute) {
  const auto found = model.attributes.find(attribute);
  if (found == model.attributes.end()) return std::nullopt;
  return YamlFile::number_in<std::uint64_t>(found->second);
}

const std::vector<std::string> kNumberTypes = {"f64", "f32", "tf32", "bf16", "f16", "fp8", "fp4", "int8", "int4"};

class DeviceFile : YamlFile {
 public:
  explicit DeviceFile(const ConfFile& file) : YamlFile(file, "device file", "docs/efficiency.md shows a whole entry") {}

  DeviceTableEntry read() {
    entry_.file = file_.name();
    read_keys(tree_, "a device",
              {{"name", [&](const YamlTree& value) { entry_.name = text(value, "'name'"); }},
               {"match", [&](const YamlTree& value) { entry_.match = texts(value, "'match'"); }},
               {"dense_tflops", [&](const YamlTree& value) { take_peaks(value); }},
               {"bandwidth_tb_per_s", [&](const YamlTree& value) { entry_.bytes_per_s = peak("bandwidth_tb_per_s", value); }},
               {"notes", [&](const YamlTree& value) { entry_.notes = texts(value, "'notes'"); }}});
    need(tree_, "the device", "name", "write name: NVIDIA H200");
    if (entry_.match.empty()) entry_.match = {entry_.name};
    if (entry_.flops_per_s.empty() && !entry_.bytes_per_s)
      refuse("the device has no peak", tree_.place, "write dense_tflops: {bf16: 989.4} and bandwidth_tb_per_s: 4.8");
    return std::move(entry_);
  }

 private:
  void take_peaks(const YamlTree& value) {
    want(value, Kind::kMap, "'dense_tflops'", "keys and values", "such as dense_tflops: {bf16: 989.4, f32: 67}");
    check_keys(value, "'dense_tflops'", kNumberTypes);
    for (const auto& [dtype, each] : value.entries) entry_.flops_per_s[dtype.name] = peak("dense_tflops." + dtype.name, each);
  }

  double peak(const std::string& key, const YamlTree& value) const {
    constexpr double kLeast = std::numeric_limits<double>::denorm_min(), kMost = 1e9;
    return number(value, "'" + key + "'", "a positive number", "in units of 10¹² a second: 989.4", kLeast, kMost) * 1e12;
  }

  DeviceTableEntry entry_;
};

class TracingFile : YamlFile {
 public:
  explicit TracingFile(const ConfFile& file) : YamlFile(file, "tracing file", "conf/tracing/launches.yaml shows a whole one") {}

  analysis::TracingKnowledge read() {
    analysis::TracingKnowledge out;
    read_keys(tree_, "a tracing file",
              {{"python", [&](const YamlTree& value) { out.python = costs(value, "'python'"); }},
               {"native", [&](const YamlTree& value) { out.native = costs(value, "'native'"); }},
               {"most", [&](const YamlTree& value) {
                  read_keys(value, "'most'",
                            {{"nsys", [&](const YamlTree& each) { out.most_nsys = positive(each, "'nsys'"); }},
                             {"collector", [&](const YamlTree& each) { out.most_collector = positive(each, "'collector'"); }}});
                }}});
    return out;
  }

 private:
  analysis::TracerCosts costs(const YamlTree& value, const std::string& what) const {
    analysis::TracerCosts out;
    read_keys(value, what,
              {{"nsys_us", [&](const YamlTree& each) { out.nsys = range(each, "'nsys_us'"); }},
               {"collector_us", [&](const YamlTree& each) { out.collector = range(each, "'collector_us'"); }}});
    return out;
  }
  analysis::LaunchCost range(const YamlTree& value, const std::string& what) const {
    const char* fix = "write [least, most] in microseconds: [4.7, 9.2]";
    want(value, Kind::kList, what, "two numbers", fix);
    if (value.items.size() != 2) refuse(what + " wants two numbers", value.place, fix);
    const analysis::LaunchCost out{positive(value.items[0], what) * 1000, positive(value.items[1], what) * 1000};
    if (out.high_ns < out.low_ns) refuse(what + " has its most before its least", value.place, fix);
    return out;
  }
  double positive(const YamlTree& value, const std::string& what) const {
    return number(value, what, "a positive number", "such as 1.7", std::numeric_limits<double>::denorm_min(), 1e6);
  }
};

void add_folder(const fs::path& folder, std::vector<DeviceTableEntry>& table) {
  std::vector<fs::path> files;
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed))
    if (entry->path().extension() == ".yaml") files.push_back(entry->path());
  std::sort(files.begin(), files.end());
  for (const auto& file : files) table.push_back(read_device_file(file));
}

}  // namespace

analysis::AnalysisOptions analysis_options(const Config& config) {
  return {{config.run.stages, static_cast<std::size_t>(config.run.top_n_kernels)},
          warmup_rule(config),
          {count_of(config.model, "batch_size"), count_of(config.model, "prompt_tokens"), count_of(config.model, "decode_tokens")},
          overhead_rule(config)};
}

analysis::OverheadRule overhead_rule(const Config& config) {
  const PerturbationOptions& options = config.perturbation;
  return {share_in(options.limit).value_or(kOverheadLimit), analysis::overhead_looks(options.repeats, options.most_repeats).size(),
          config.run.stages};
}

analysis::Knowledge load_knowledge(const Config& config) {
  return {load_device_table(config.device.file), load_rules(shipped_rules(), config.analysis.rules), analysis_options(config),
          load_tracing_costs(), kept_ceilings()};
}

analysis::TracingKnowledge read_tracing_costs(const ConfFile& file) { return TracingFile(file).read(); }

analysis::TracingKnowledge load_tracing_costs() {
  const auto file = ConfFiles::shipped().find("tracing/launches.yaml");
  return file ? read_tracing_costs(*file) : analysis::TracingKnowledge();
}

analysis::WarmupRule warmup_rule(const Config& config) {
  using Mode = analysis::WarmupRule::Mode;
  constexpr std::uint64_t kMostIterations = 999999;
  const std::string& text = config.analysis.warmup;
  analysis::WarmupRule rule;
  rule.factor = config.analysis.warmup_factor;
  rule.mode = text == "auto" ? Mode::kAuto : text == "none" ? Mode::kNone : Mode::kCount;
  if (rule.mode != Mode::kCount) return rule;
  rule.count = YamlFile::number_in<std::uint64_t>(text).value_or(kMostIterations + 1);
  if (rule.count > kMostIterations)
    throw Error(ErrorKind::kConfig, fmt::format("analysis.warmup is '{}'", text), config.sources.empty() ? "--set" : config.sources.back(),
                "auto, none, or a number of iterations");
  return rule;
}

DeviceTableEntry read_device_file(const fs::path& file) { return DeviceFile(file_on_disk(file)).read(); }

std::vector<DeviceTableEntry> load_device_table(const fs::path& own) {
  std::vector<DeviceTableEntry> table;
  std::error_code failed;
  if (fs::is_directory(own, failed)) add_folder(own, table);
  else if (!own.empty()) table.push_back(read_device_file(own));
  for (const auto& file : ConfFiles::shipped().all_in("device")) {
    table.push_back(DeviceFile(file).read());
    table.back().file = file.name_in_conf();  // as in the sources of a report: without this machine's folders
  }
  return table;
}

}  // namespace nl::orchestrator

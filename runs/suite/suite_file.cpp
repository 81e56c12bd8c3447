#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "model/error.h"
#include "orchestrator/config/nearest.h"
#include "orchestrator/config/units.h"
#include "orchestrator/config/yaml_file.h"
#include "orchestrator/doctor/checks_timing.h"
#include "runs/suite/suite.h"

namespace nl::runs {
namespace fs = std::filesystem;
namespace {

const std::vector<std::string> kProfiles = {"none", "light", "deep"};  // in the order of SuiteProfile
const std::vector<std::string> kMeasures = {"auto", "run"};            // in the order of Measure::Kind
constexpr int kMostRepetitions = 1000;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLargest = std::numeric_limits<double>::max();
constexpr std::int64_t kLargestSize = std::int64_t{1} << 50;

class SuiteFile : YamlFile {
 public:
  explicit SuiteFile(const fs::path& file)
      : YamlFile(file_on_disk(file), "suite file", "write targets: and below it NAME: {command: …}"),
        folder_(fs::absolute(file).parent_path()) {}

  Suite read() {
    suite_.file = fs::absolute(file_.disk);
    suite_.name = suite_.file.stem().string();
    read_keys(
        tree_, "a suite",
        {{"name", [&](const YamlTree& value) { suite_.name = file_word(value, "'name'"); }},
         {"iterations", [&](const YamlTree& value) { suite_.iterations = whole(value, "iterations", 1); }},
         {"warmup", [&](const YamlTree& value) { suite_.warmup = whole(value, "warmup", 0); }},
         {"seed", [&](const YamlTree& value) { suite_.seed = whole(value, "seed", 0); }},
         {"profile", [&](const YamlTree& value) { suite_.profile = static_cast<SuiteProfile>(one_of(value, "'profile'", kProfiles)); }},
         {"threshold", [&](const YamlTree& value) { suite_.threshold = threshold(value); }},
         {"timeout", [&](const YamlTree& value) { suite_.timeout_s = time(value, "timeout"); }},
         {"measure", [&](const YamlTree& value) { suite_.measure = measure(value); }},
         {"waive", [&](const YamlTree& value) { read_waived(value); }},
         {"require", [&](const YamlTree& value) { read_required(value); }},
         {"slurm", [&](const YamlTree& value) { read_slurm(value); }},
         {"outputs", [&](const YamlTree& value) { suite_.outputs = texts(value, "'outputs'"); }},
         {"rtol", [&](const YamlTree& value) { suite_.tolerance.relative = tolerance(value, "rtol"); }},
         {"atol", [&](const YamlTree& value) { suite_.tolerance.absolute = tolerance(value, "atol"); }},
         {"expectations",
          [&](const YamlTree& value) { suite_.expectations = (folder_ / text(value, "'expectations'")).lexically_normal(); }},
         {"targets", [&](const YamlTree& value) { read_targets(value); }}});
    if (suite_.targets.empty()) refuse("the suite has no targets", tree_.place, "write targets: and below it NAME: {command: …}");
    check_baselines();
    check_sizes();
    return std::move(suite_);
  }

 private:
  // It becomes a part of the names of files.
  std::string file_word(const YamlTree& value, const std::string& what) const {
    const std::string word = text(value, what);
    check_file_word(word, value.place, what);
    return word;
  }

  void check_file_word(const std::string& word, YamlTree::Place place, const std::string& what) const {
    if (word.empty() || word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") != std::string::npos ||
        word.front() == '.')
      refuse(fmt::format("{} '{}' cannot be the name of a folder", what, word), place, "use letters, digits, '_', '-' and '.'");
  }

  int whole(const YamlTree& value, const std::string& key, int least) const {
    const int result = number<int>(value, "'" + key + "'", "a whole number", fmt::format("such as {}: 5", key));
    if (result < least || result > kMostRepetitions)
      refuse(fmt::format("'{}' is out of range: {}", key, result), value.place, fmt::format("between {} and {}", least, kMostRepetitions));
    return result;
  }

  double threshold(const YamlTree& value) const {
    const double result = number<double>(value, "'threshold'", "a number", "such as threshold: 1.05", -kInfinity, kInfinity);
    if (!(result > 0) || std::isinf(result))
      refuse(fmt::format("'threshold' is out of range: {}", value.text), value.place, "1.05 asks for a speed-up of at least 5 %");
    return result;
  }

  double time(const YamlTree& value, const std::string& key) const {
    const auto seconds = seconds_in(text(value, "'" + key + "'"));
    if (!seconds || *seconds <= 0) refuse(fmt::format("'{}' wants a time", key), value.place, "write 90s, 30m or 2h");
    return *seconds;
  }

  // "auto", "run", or the name of a stage.
  Measure measure(const YamlTree& value) const {
    const std::string word = text(value, "'measure'");
    const auto found = std::find(kMeasures.begin(), kMeasures.end(), word);
    if (found == kMeasures.end()) return {Measure::Kind::kStage, word};
    return {static_cast<Measure::Kind>(found - kMeasures.begin())};
  }

  void read_waived(const YamlTree& value) {
    const Keys words = timing_check_names();
    want(value, Kind::kList, "'waive'", "a list", fmt::format("write waive: [{}]", words.front()));
    for (const YamlTree& item : value.items) suite_.waived.push_back(words[one_of(item, "'waive'", words)]);
  }

  void read_required(const YamlTree& value) {
    const Keys words = timing_check_names();
    want(value, Kind::kList, "'require'", "a list", "write require: [virtual_machine]");
    for (const YamlTree& item : value.items) suite_.required.push_back(words[one_of(item, "'require'", words)]);
  }

  double tolerance(const YamlTree& value, const std::string& key) const {
    return number<double>(value, "'" + key + "'", "a number", fmt::format("such as {}: 1e-3", key), 0, kLargest);
  }

  // {from: 1024, to: 16384, times: 2, least: 100ms}, or {values: [1024, 3000], least: 1s}
  SizeRange size_range(const YamlTree& value) const {
    SizeRange range;
    std::int64_t from = 0, to = 0;
    double times = 2;
    const auto whole_size = [&](const YamlTree& each, const char* key) {
      return number<std::int64_t>(each, fmt::format("'{}' of 'size'", key), "a whole number above 0", fmt::format("such as {}: 4096", key),
                                  1, kLargestSize);
    };
    read_keys(value, "size",
              {{"from", [&](const YamlTree& each) { from = whole_size(each, "from"); }},
               {"to", [&](const YamlTree& each) { to = whole_size(each, "to"); }},
               {"times",
                [&](const YamlTree& each) {
                  times = number<double>(each, "'times' of 'size'", "a number above 1", "such as times: 2", 1.01, 1000);
                }},
               {"least", [&](const YamlTree& each) { range.least_s = time(each, "least"); }},
               {"values", [&](const YamlTree& each) {
                  want(each, Kind::kList, "'values' of 'size'", "a list", "write values: [1024, 4096]");
                  for (const YamlTree& item : each.items) range.values.push_back(whole_size(item, "values"));
                }}});
    if (range.values.empty()) {
      if (from == 0 || to < from) refuse("'size' has no range", value.place, "write size: {from: 1024, to: 16384, times: 2}");
      for (double size = static_cast<double>(from); std::llround(size) < to; size = std::max(size * times, size + 1))
        range.values.push_back(std::llround(size));
      range.values.push_back(to);
    }
    if (std::adjacent_find(range.values.begin(), range.values.end(), std::greater_equal<>()) != range.values.end())
      refuse("the values of 'size' do not rise", value.place, "write values: [1024, 4096]");
    return range;
  }

  void read_slurm(const YamlTree& value) {
    SlurmOptions& slurm = suite_.slurm;
    read_keys(value, "slurm",
              {{"partition", [&](const YamlTree& each) { slurm.partition = text(each, "'partition'"); }},
               {"gpus", [&](const YamlTree& each) { slurm.gpus = text(each, "'gpus'"); }},
               {"constraint", [&](const YamlTree& each) { slurm.constraint = text(each, "'constraint'"); }},
               {"time", [&](const YamlTree& each) { slurm.time = text(each, "'time'"); }},
               {"program", [&](const YamlTree& each) { slurm.program = text(each, "'program'"); }},
               {"sbatch", [&](const YamlTree& each) { slurm.sbatch_args = texts(each, "'sbatch'"); }},
               {"srun", [&](const YamlTree& each) { slurm.srun_args = texts(each, "'srun'"); }}});
  }

  void read_targets(const YamlTree& value) {
    want(value, Kind::kMap, "'targets'", "names", "write targets: and below it NAME: {command: …}");
    for (const auto& [name, target] : value.entries) {
      check_file_word(name.name, name.place, "the target");
      suite_.targets.push_back(read_target(name, target));
    }
  }

  SuiteTarget read_target(const YamlTree::Key& name, const YamlTree& value) {
    SuiteTarget target{name.name, {}, {}, {}, folder_.string(), {}};
    std::optional<double> relative, absolute;
    read_keys(
        value, fmt::format("target '{}'", name.name),
        {{"command", [&](const YamlTree& each) { target.command = command(each); }},
         {"env", [&](const YamlTree& each) { target.env = variables(each); }},
         {"set", [&](const YamlTree& each) { target.sets = texts(each, "'set'"); }},
         {"directory", [&](const YamlTree& each) { target.directory = (folder_ / text(each, "'directory'")).lexically_normal().string(); }},
         {"outputs", [&](const YamlTree& each) { target.outputs = texts(each, "'outputs'"); }},
         {"rtol", [&](const YamlTree& each) { relative = tolerance(each, "rtol"); }},
         {"atol", [&](const YamlTree& each) { absolute = tolerance(each, "atol"); }},
         {"size",
          [&](const YamlTree& each) {
            target.size = size_range(each);
            size_places_[name.name] = each.place;
          }},
         {"baseline", [&](const YamlTree& each) {
            target.baseline = text(each, "'baseline'");
            baseline_places_[name.name] = each.place;
          }}});
    if (target.command.empty()) refuse(fmt::format("target '{}' has no command", name.name), name.place, "write command: python bench.py");
    if (relative || absolute) target.tolerance = OutputTolerance{relative.value_or(0), absolute.value_or(0)};
    return target;
  }

  Keys command(const YamlTree& value) const {
    if (value.kind == Kind::kList && !value.items.empty()) return texts(value, "'command'");
    return {"/bin/sh", "-c", text(value, "'command'")};
  }

  std::map<std::string, std::string> variables(const YamlTree& value) const {
    want(value, Kind::kMap, "'env'", "names and values", "write env: {NAME: value}");
    std::map<std::string, std::string> env;
    for (const auto& [name, each] : value.entries) {
      want(each, Kind::kScalar, fmt::format("the variable '{}'", name.name), "a text", "write NAME: value");
      env[name.name] = each.text;
    }
    return env;
  }

  void check_baselines() const {
    Keys names;
    for (const SuiteTarget& target : suite_.targets) names.push_back(target.name);
    for (const SuiteTarget& target : suite_.targets) {
      const bool known = std::find(names.begin(), names.end(), target.baseline) != names.end();
      if (target.baseline.empty() || (known && target.baseline != target.name)) continue;
      refuse(fmt::format("the baseline '{}' of '{}' is no other target", target.baseline, target.name), baseline_places_.at(target.name),
             nearest_or_all(target.baseline, names));
    }
  }

  // Both halves of a pair do the same work, so one range holds for both, and both must take it.
  void check_sizes() const {
    for (const TargetPair& pair : find_pairs(suite_).pairs) {
      const SuiteTarget &baseline = suite_.targets[pair.baseline], &optimised = suite_.targets[pair.optimised];
      const SuiteTarget& sized = optimised.size ? optimised : baseline;
      if (!sized.size) continue;
      const YamlTree::Place place = size_places_.at(sized.name);
      if (baseline.size && optimised.size && !(*baseline.size == *optimised.size))
        refuse(fmt::format("'{}' and '{}' have different sizes", baseline.name, optimised.name), place, "give one of them, for both");
      for (const SuiteTarget* half : {&baseline, &optimised})
        if (!takes_size(*half))
          refuse(fmt::format("the command of '{}' has no {{size}}", half->name), place, "write command: python bench.py --n {size}");
    }
    for (const SuiteTarget& target : suite_.targets)
      if (target.size && !takes_size(target))
        refuse(fmt::format("the command of '{}' has no {{size}}", target.name), size_places_.at(target.name),
               "write command: python bench.py --n {size}");
  }

  static bool takes_size(const SuiteTarget& target) {
    const auto has = [](const std::string& word) { return word.find(kSizeGap) != std::string::npos; };
    return std::any_of(target.command.begin(), target.command.end(), has) ||
           std::any_of(target.env.begin(), target.env.end(), [&](const auto& variable) { return has(variable.second); });
  }

  fs::path folder_;
  Suite suite_;
  std::map<std::string, YamlTree::Place> baseline_places_, size_places_;
};

}  // namespace

Suite read_suite(const fs::path& file) { return SuiteFile(file).read(); }

}  // namespace nl::runs

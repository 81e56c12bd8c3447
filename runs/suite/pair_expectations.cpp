#include "runs/suite/pair_expectations.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/error.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/bundle/read_run.h"
#include "orchestrator/config/units.h"
#include "orchestrator/config/yaml_file.h"
#include "runs/ledger/find_run.h"
#include "runs/suite/run_suite.h"

namespace nl::runs {
namespace fs = std::filesystem;
namespace {

constexpr int kFileVersion = 1;
constexpr const char* kPairExample = "write attention: {speedup: 1.8}";

class SpeedupFile : YamlFile {
 public:
  explicit SpeedupFile(const fs::path& file)
      : YamlFile(file_on_disk(file), "file of expected speed-ups", "write machines: {NVIDIA H200: {attention: {speedup: 1.8}}}") {}

  ExpectedSpeedups read() {
    ExpectedSpeedups expected;
    read_keys(tree_, "a file of expected speed-ups",
              {{"version",
                [&](const YamlTree& value) {
                  number<int>(value, "'version'", "1", "this nl-stage reads version: 1", kFileVersion, kFileVersion);
                }},
               {"tolerance",
                [&](const YamlTree& value) {
                  const auto share = share_in(text(value, "'tolerance'"));
                  if (!share || *share >= 1) refuse("'tolerance' wants a share below 100 %", value.place, "such as tolerance: 5%");
                  expected.tolerance = *share;
                }},
               {"machines", [&](const YamlTree& value) {
                  want(value, Kind::kMap, "'machines'", "names of machines", "write machines: {NVIDIA H200: {attention: {speedup: 1.8}}}");
                  for (const auto& [machine, pairs] : value.entries) read_machine(machine.name, pairs, expected);
                }}});
    return expected;
  }

 private:
  void read_machine(const std::string& machine, const YamlTree& value, ExpectedSpeedups& expected) const {
    want(value, Kind::kMap, fmt::format("'{}'", machine), "names of pairs", kPairExample);
    for (const auto& [pair, facts] : value.entries) {
      ExpectedSpeedup each{machine, pair.name, 0, 0, {}, {}};
      read_keys(
          facts, fmt::format("pair '{}'", pair.name),
          {{"speedup",
            [&](const YamlTree& fact) { each.speedup = number<double>(fact, "'speedup'", "a number above 0", kPairExample, 1e-9, 1e9); }},
           {"size",
            [&](const YamlTree& fact) { each.size = number<std::int64_t>(fact, "'size'", "a whole number", "such as size: 4096", 0); }},
           {"suite", [&](const YamlTree& fact) { each.suite = text(fact, "'suite'"); }},
           {"date", [&](const YamlTree& fact) { each.date = text(fact, "'date'"); }}});
      if (each.speedup == 0) refuse(fmt::format("pair '{}' has no speed-up", pair.name), pair.place, kPairExample);
      expected.list.push_back(std::move(each));
    }
  }
};

std::string quoted_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text)
    if (c == '"' || c == '\\') out += '\\', out += c;
    else if (static_cast<unsigned char>(c) < 0x20) out += ' ';
    else out += c;
  return out + "\"";
}

// "NVIDIA H200", "2 x NVIDIA H200"; the processor where there is no GPU. Unprofiled runs do not tell which of them they used.
std::string machine_name(const Hardware& hardware) {
  std::map<std::string, int> names;
  for (const Device& gpu : hardware.gpus)
    if (!gpu.name.empty()) ++names[gpu.name];
  std::string out;
  for (const auto& [name, count] : names) out += (out.empty() ? "" : " + ") + (count > 1 ? fmt::format("{} x {}", count, name) : name);
  if (!out.empty()) return out;
  return !hardware.cpu_model.empty() ? hardware.cpu_model : hardware.architecture + " processor";
}

// By a run that ended well.
std::string machine_of(const SuiteResult& result) {
  for (const TaskRecord& record : result.tasks)
    if (record.outcome == TaskOutcome::kOk && !record.bundle.empty()) return machine_name(named_run(record.bundle.string()).hardware);
  return {};
}

ExpectationVerdict verdict_of(const PairResult& pair, const ExpectedSpeedup* expected, double tolerance) {
  if (!pair.speedup || pair.verdict == PairVerdict::kFailed) return ExpectationVerdict::kNotMeasured;
  if (expected == nullptr || expected->size != pair.size) return ExpectationVerdict::kNew;  // another size is other work
  if (!pair.low || !pair.high) return ExpectationVerdict::kUndecided;
  const double least = expected->speedup * (1 - tolerance), most = expected->speedup * (1 + tolerance);
  if (*pair.high < least) return ExpectationVerdict::kRegressed;
  if (*pair.low > most) return ExpectationVerdict::kImproved;
  return *pair.low >= least ? ExpectationVerdict::kMet : ExpectationVerdict::kUndecided;
}

bool is_settled(ExpectationVerdict verdict) {
  return verdict == ExpectationVerdict::kMet || verdict == ExpectationVerdict::kUndecided || verdict == ExpectationVerdict::kNotMeasured;
}

void update_from(SuiteResult& result, ExpectedSpeedups& expected) {
  for (const PairResult& pair : result.pairs) {
    const ExpectedSpeedup* old = expected.find(result.machine, pair.pair.name);
    if (is_settled(verdict_of(pair, old, expected.tolerance))) continue;
    result.changes.push_back(fmt::format("{} on {}: {}{:.3f}", pair.pair.name, result.machine,
                                         old != nullptr ? fmt::format("{:.3f} → ", old->speedup) : "new, ", *pair.speedup));
    const ExpectedSpeedup now{result.machine, pair.pair.name, *pair.speedup, pair.size, result.suite.name, result.started_at.substr(0, 10)};
    if (old != nullptr) expected.list[static_cast<std::size_t>(old - expected.list.data())] = now;
    else expected.list.push_back(now);
  }
}

}  // namespace

const ExpectedSpeedup* ExpectedSpeedups::find(const std::string& machine, const std::string& pair) const {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const ExpectedSpeedup& each) { return each.machine == machine && each.pair == pair; });
  return found != list.end() ? &*found : nullptr;
}

const char* expectation_name(ExpectationVerdict verdict) {
  switch (verdict) {
    case ExpectationVerdict::kMet: return "met";
    case ExpectationVerdict::kImproved: return "improved";
    case ExpectationVerdict::kRegressed: return "regressed";
    case ExpectationVerdict::kUndecided: return "undecided";
    case ExpectationVerdict::kNew: return "new";
    case ExpectationVerdict::kNotMeasured: return "missing";
  }
  return "";
}

ExpectedSpeedups read_expected_speedups(const fs::path& file) { return SpeedupFile(file).read(); }

std::string expected_speedups_text(const ExpectedSpeedups& expected) {
  std::map<std::string, std::map<std::string, std::string>> machines;
  for (const ExpectedSpeedup& each : expected.list)
    machines[each.machine][each.pair] =
        fmt::format("{{speedup: {:.6g}{}, suite: {}, date: {}}}", each.speedup, each.size > 0 ? fmt::format(", size: {}", each.size) : "",
                    quoted_text(each.suite), quoted_text(each.date));
  std::string text = fmt::format("version: {}\ntolerance: {:g}%\nmachines:\n", kFileVersion, expected.tolerance * 100);
  for (const auto& [machine, pairs] : machines) {
    text += fmt::format("  {}:\n", quoted_text(machine));
    for (const auto& [pair, facts] : pairs) text += fmt::format("    {}: {}\n", quoted_text(pair), facts);
  }
  return text;
}

void judge_expectations(SuiteResult& result, bool update) {
  const fs::path& file = result.suite.expectations;
  if (file.empty()) return;
  std::error_code ignored;
  const bool there = fs::exists(file, ignored);
  ExpectedSpeedups expected = there ? read_expected_speedups(file) : ExpectedSpeedups();
  result.machine = machine_of(result);
  if (update && !result.machine.empty()) {
    update_from(result, expected);
    if (!result.changes.empty()) write_file_whole(file, expected_speedups_text(expected));
  }
  for (PairResult& pair : result.pairs) {
    const ExpectedSpeedup* each = expected.find(result.machine, pair.pair.name);
    pair.expectation = PairExpectation{verdict_of(pair, each, expected.tolerance),
                                       each != nullptr ? std::optional(each->speedup) : std::nullopt, expected.tolerance};
  }
}

bool below_expectations(const SuiteResult& result) {
  return std::any_of(result.pairs.begin(), result.pairs.end(), [](const PairResult& pair) {
    return pair.expectation && pair.expectation->verdict == ExpectationVerdict::kRegressed;
  });
}

}  // namespace nl::runs

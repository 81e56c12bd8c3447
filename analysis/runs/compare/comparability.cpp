#include "analysis/runs/compare/parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "model/comparison.h"
#include "model/identity.h"

namespace nl::analysis {
namespace {

// What two runs should have in common. An empty value is not known and differs from nothing.
struct Fact {
  DifferenceCode code;
  Severity severity;
  std::string subject;
  std::function<std::string(const Run&)> value;
};

constexpr double kLeastScore = 0.5;
constexpr double kClockStep = 0.03;  // relative: a GPU's clock wanders by less on its own
constexpr double kOverheadStep = 0.05;
constexpr double kMuchThrottled = 0.1;

double part_left(Severity severity) {
  switch (severity) {
    case Severity::kHigh: return 0.4;
    case Severity::kMedium: return 0.85;
    case Severity::kLow: return 0.97;
    case Severity::kInfo: return 1;
  }
  return 1;
}

std::string number(const std::optional<double>& value) { return value ? fmt::format("{:g}", *value) : std::string(); }

// Values closer than a step apart are the same; rounding them to steps would tell neighbours apart.
bool near(const std::string& a, const std::string& b, DifferenceCode code) {
  if (code == DifferenceCode::kLoad) return same_part(IdentityPart::kLoad, a, b);
  if (code != DifferenceCode::kClocks && code != DifferenceCode::kOverhead) return a == b;
  const double x = std::stod(a), y = std::stod(b);
  return code == DifferenceCode::kClocks ? std::abs(std::log(x) - std::log(y)) < std::log1p(kClockStep) : std::abs(x - y) < kOverheadStep;
}

std::string gpu_names(const Run& run) {
  std::set<std::string> names;
  for (const Device& gpu : run.hardware.gpus)
    if (!gpu.name.empty()) names.insert(gpu.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string throttled_of(const Run& run) {
  if (run.energy.devices.empty()) return {};
  const bool much = std::any_of(run.energy.devices.begin(), run.energy.devices.end(),
                                [](const ClockSummary& gpu) { return gpu.throttled_share.value_or(0) > kMuchThrottled; });
  return much ? "true" : "false";
}

std::string attribute(const Run& run, const std::string& key) {
  const auto found = run.model.attributes.find(key);
  return found != run.model.attributes.end() ? found->second : std::string();
}

Fact identity_fact(DifferenceCode code, Severity severity, const std::string& subject, IdentityPart part) {
  return {code, severity, subject, [part](const Run& run) { return identity_of(run)[part]; }};
}

void add_machine(std::vector<Fact>& facts) {
  using enum DifferenceCode;
  facts.push_back({kGpu, Severity::kHigh, "", gpu_names});
  facts.push_back({kGpuCount, Severity::kHigh, "",
                   [](const Run& run) { return run.hardware.gpus.empty() ? "" : std::to_string(run.hardware.gpus.size()); }});
  facts.push_back({kDriver, Severity::kLow, "", [](const Run& run) { return run.hardware.driver_version; }});
  facts.push_back({kCpu, Severity::kLow, "", [](const Run& run) { return run.hardware.cpu_model; }});
  facts.push_back({kClocks, Severity::kMedium, "",
                   [](const Run& run) { return run.energy.devices.empty() ? "" : number(run.energy.devices[0].sm_clock_median_mhz); }});
  facts.push_back({kPowerLimit, Severity::kMedium, "",
                   [](const Run& run) { return run.energy.devices.empty() ? "" : number(run.energy.devices[0].power_limit_w); }});
  facts.push_back({kThrottling, Severity::kMedium, "", throttled_of});
}

void add_capture(std::vector<Fact>& facts) {
  using enum DifferenceCode;
  facts.push_back(
      {kWarmup, Severity::kLow, "", [](const Run& run) { return run.iterations.count > 0 ? std::to_string(run.iterations.warmup) : ""; }});
  facts.push_back({kCaptureMode, Severity::kMedium, "", [](const Run& run) { return std::string(key_of(run.provenance.tracer)); }});
  facts.push_back({kCaptureMode, Severity::kMedium, "graph_only_share", [](const Run& run) {
                     if (!run.coverage.graph_only_share) return std::string();
                     return std::string(*run.coverage.graph_only_share > 0.01 ? "true" : "false");
                   }});
  facts.push_back({kRunStatus, Severity::kMedium, "", [](const Run& run) { return std::string(key_of(run.status)); }});
}

// Attributes that say how a model is run, not what it is. The shape of the model decides; its name is only how someone calls it.
DifferenceCode code_of_attribute(const std::string& key) {
  static const std::map<std::string, DifferenceCode> kOther = {{"batch_size", DifferenceCode::kBatch},
                                                               {"prompt_tokens", DifferenceCode::kTokens},
                                                               {"decode_tokens", DifferenceCode::kTokens},
                                                               {"image_tokens", DifferenceCode::kTokens}};
  const auto found = kOther.find(key);
  return found != kOther.end() ? found->second : DifferenceCode::kModel;
}

Severity severity_of_attribute(const std::string& key) {
  return is_decode(key) ? Severity::kLow : Severity::kHigh;  // decode_tokens: as many steps as one likes
}

// All ran the same model file, whatever it is called.
bool same_file(const Sides& sides) {
  std::set<std::string> digests;
  for (const auto* side : {&sides.a, &sides.b})
    for (const Run* run : *side) digests.insert(run->model.digest);
  return digests.size() == 1 && !digests.begin()->empty();
}

void add_model(const Sides& sides, std::vector<Fact>& facts) {
  using enum DifferenceCode;
  std::set<std::string> attributes, versions;
  for (const auto* side : {&sides.a, &sides.b})
    for (const Run* run : *side) {
      for (const auto& [key, value] : run->model.attributes) attributes.insert(key);
      for (const auto& [key, value] : run->software.versions) versions.insert(key);
    }
  facts.push_back({kModel, attributes.empty() && !same_file(sides) ? Severity::kHigh : Severity::kLow, "",
                   [](const Run& run) { return run.model.name; }});
  // Other weights of the same shape take the same time; whether it is the same, the name, the inputs and the attributes tell.
  facts.push_back(identity_fact(kModel, attributes.empty() ? Severity::kMedium : Severity::kLow, "digest", IdentityPart::kDigest));
  facts.push_back(identity_fact(kPrecision, Severity::kMedium, "", IdentityPart::kPrecision));
  facts.push_back({kPrecision, Severity::kMedium, "compute", [](const Run& run) {  // where it follows from the weights, they tell
                     const WorkloadIdentity identity = identity_of(run);
                     const std::string& compute = identity[IdentityPart::kCompute];
                     return compute == identity[IdentityPart::kPrecision] ? std::string() : compute;
                   }});
  facts.push_back({kBatch, Severity::kHigh, "", [](const Run& run) { return number(run.latency.batch); }});
  facts.push_back({kBackend, Severity::kMedium, "", [](const Run& run) { return run.software.backend.name(); }});
  // Of a model file: other sizes are another amount of work.
  facts.push_back(identity_fact(kInputs, Severity::kHigh, "", IdentityPart::kInputs));
  for (const char* precision : {"dtype", "compute_dtype"}) attributes.erase(precision);  // told above
  for (const std::string& key : attributes) {
    const DifferenceCode code = code_of_attribute(key);
    facts.push_back({code, severity_of_attribute(key), key, [key](const Run& run) { return attribute(run, key); }});
  }
  for (const std::string& key : versions)
    facts.push_back({kVersion, Severity::kLow, key, [key](const Run& run) {
                       const auto found = run.software.versions.find(key);
                       return found != run.software.versions.end() ? found->second : std::string();
                     }});
}

void add_command(std::vector<Fact>& facts) {
  using enum DifferenceCode;
  facts.push_back(identity_fact(kCommand, Severity::kMedium, "", IdentityPart::kProgram));
  facts.push_back(identity_fact(kCommand, Severity::kLow, "arguments", IdentityPart::kArguments));
}

// Queues and batches follow from how many requests come, and from how long they are.
void add_load(std::vector<Fact>& facts) { facts.push_back(identity_fact(DifferenceCode::kLoad, Severity::kHigh, "", IdentityPart::kLoad)); }

void add_stages(const Sides& sides, std::vector<Fact>& facts) {
  using enum DifferenceCode;
  for (const std::string& name : common_stages(sides)) {
    // Steps stay comparable, however many there are; a prompt of another length is another workload.
    facts.push_back({kTokens, is_decode(name) ? Severity::kLow : Severity::kHigh, name, [name](const Run& run) {
                       const StageEntry* stage = find_stage(run, name);
                       return stage != nullptr ? number(stage->tokens_per_window) : std::string();
                     }});
    facts.push_back({kStageSource, Severity::kMedium, name, [name](const Run& run) {
                       const StageEntry* stage = find_stage(run, name);
                       return stage != nullptr ? std::string(key_of(stage->source)) : std::string();
                     }});
    facts.push_back({kOverhead, Severity::kMedium, name, [name](const Run& run) {
                       for (const StageSlowdown& each : run.perturbation.stages)
                         if (each.stage == name && each.profiler != PassKind::kNcu) return number(each.slowdown);
                       return std::string();
                     }});
  }
}

std::vector<std::string> known_values(const std::vector<const Run*>& runs, const Fact& fact) {
  std::vector<std::string> values;
  for (const Run* run : runs)
    if (std::string value = fact.value(*run); !value.empty()) values.push_back(std::move(value));
  std::sort(values.begin(), values.end());
  return values;
}

// The runs of one side among themselves. Less grave than two sides that differ: the medians still say something.
void add_mixed(const std::vector<std::string>& values, const Fact& fact, std::vector<Difference>& found) {
  for (const std::string& value : values)
    if (!near(values.front(), value, fact.code)) {
      const std::string subject = std::string(key_of(fact.code)) + (fact.subject.empty() ? "" : " " + fact.subject);
      add_once(found, Difference{DifferenceCode::kMixedSide, fact.severity == Severity::kHigh ? Severity::kMedium : Severity::kLow, subject,
                                 values.front(), value});
      return;
    }
}

void add_difference(const Sides& sides, const Fact& fact, std::vector<Difference>& found) {
  const std::vector<std::string> a = known_values(sides.a, fact), b = known_values(sides.b, fact);
  add_mixed(a, fact, found);
  add_mixed(b, fact, found);
  if (a.empty() || b.empty()) return;
  const std::string &of_a = a[a.size() / 2], &of_b = b[b.size() / 2];
  if (!near(of_a, of_b, fact.code)) found.push_back({fact.code, fact.severity, fact.subject, of_a, of_b});
}

// Kernels tell programs apart that nothing else does: captures without a command, or scripts of other names.
constexpr double kFewInCommon = 0.5, kNextToNothing = 0.2;

bool names_the_same(const WorkloadIdentity& a, const WorkloadIdentity& b) {
  using enum IdentityPart;
  for (const IdentityPart part : {kProgram, kModel, kShape, kInputs})
    if (!a[part].empty() && a[part] == b[part]) return true;
  return false;
}

void add_kernel_difference(const Sides& sides, std::vector<Difference>& found) {
  if (sides.a.empty() || sides.b.empty()) return;
  const Run &a = *sides.a.front(), &b = *sides.b.front();
  const std::optional<double> common = common_kernels(a, b);
  if (!common || *common >= kFewInCommon || names_the_same(identity_of(a), identity_of(b))) return;
  const Severity severity = *common < kNextToNothing ? Severity::kHigh : Severity::kMedium;
  found.push_back({DifferenceCode::kKernels, severity, fmt::format("{:.0f} % of the GPU time in common", *common * 100), "", ""});
}

bool same_runs(const Sides& sides) {
  return std::equal(sides.a.begin(), sides.a.end(), sides.b.begin(), sides.b.end(),
                    [](const Run* a, const Run* b) { return a->run_id == b->run_id; });
}

void add_stage_difference(const Sides& sides, bool has_stages, std::vector<Difference>& found) {
  if (!has_stages && !sides.a.empty() && same_runs(sides)) return;  // a run is like itself, whatever it lacks
  const std::vector<std::string> stages = common_stages(sides);
  const bool unmarked = std::all_of(stages.begin(), stages.end(), [](const std::string& name) {
    return name == kWholeCapture || stage_kind(name) == StageKind::kCapture;
  });
  // How long a capture is says when it was ended, not how fast the work in it is: without a unit of work in common there is nothing to compare.
  if (!has_stages) found.push_back({DifferenceCode::kNoStage, Severity::kHigh, "", "", ""});
  else if (stages.empty() || unmarked) found.push_back({DifferenceCode::kNoCommonStage, Severity::kHigh, "", "", ""});
}

}  // namespace

Comparability comparability_of(const Sides& sides, const CompareOptions& options, bool has_stages) {
  Comparability result;
  std::vector<Fact> facts;
  add_machine(facts);
  add_model(sides, facts);
  add_capture(facts);
  if (!options.other_commands) add_command(facts);
  add_load(facts);
  add_stages(sides, facts);
  for (const Fact& fact : facts) add_difference(sides, fact, result.differences);
  if (!options.other_commands) add_kernel_difference(sides, result.differences);
  add_stage_difference(sides, has_stages, result.differences);
  std::stable_sort(result.differences.begin(), result.differences.end(),
                   [](const Difference& a, const Difference& b) { return a.severity > b.severity; });
  bool grave = false;
  for (const Difference& each : result.differences) {
    result.score *= part_left(each.severity);
    grave = grave || each.severity == Severity::kHigh;
  }
  const bool incomparable = grave || result.score < kLeastScore;
  result.forced = incomparable && options.force;
  result.refused = incomparable && !options.force;
  return result;
}

}  // namespace nl::analysis

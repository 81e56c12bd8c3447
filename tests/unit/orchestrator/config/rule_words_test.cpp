#include <algorithm>
#include <cctype>
#include <regex>
#include <set>

#include "analysis/verdicts/rules/compile.h"
#include "analysis/verdicts/rules/subject.h"
#include "tests/catch.h"
#include "tests/unit/analysis/into_run.h"
#include "tests/unit/orchestrator/config/rule_cases.h"

// What the shipped rules say, and to whom.

using namespace nl;
using namespace nl::analysis;
using namespace nl::test;

namespace {

void check_plain(const std::string& text) {
  const char* const kJargon[] = {"kernel",    "launch", "cuda",   "torch",    "tensor", "graph", "nvtx",    "memset", "pageable", "latency",
                                 "bandwidth", "mfu",    "mbu",    "flop",     "fuse",   "host",  "prefill", "decode", "profil",   "trace",
                                 "occupancy", "thread", "stream", "synchron", "bf16",   "fp32",  "fp16",    "dtype",  "_"};
  std::string words;  // without its {fields}
  bool inside = false;
  for (const char c : text) {
    inside = c == '{' || (inside && c != '}');
    if (!inside && c != '}') words += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  // The one term that people outside the field have to learn: it names the most common fix.
  constexpr std::string_view kTerm = "cuda graph";
  for (std::size_t at = words.find(kTerm); at != std::string::npos; at = words.find(kTerm)) words.erase(at, kTerm.size());
  CAPTURE(words);
  for (const char* word : kJargon) {
    CAPTURE(word);
    CHECK(words.find(word) == std::string::npos);
  }
  CHECK(words.find_first_of(".!?") == words.size() - 1);
  CHECK(words.find(';') == std::string::npos);  // one thing
  CHECK(text.size() <= 240);                    // one sentence among five
}

}  // namespace

TEST_CASE("every shipped rule that can ask for a change says what is wrong and what to do, each in a sentence of everyday words") {
  std::size_t asking = 0;
  for (const RuleSpec& rule : shipped().list) {
    CAPTURE(rule.name);
    const bool asks =
        std::any_of(rule.severity.begin(), rule.severity.end(), [](const auto& each) { return each.severity > Severity::kInfo; });
    if (!asks && rule.plain.empty()) continue;
    REQUIRE_FALSE(rule.plain.empty());
    ++asking;
    REQUIRE_FALSE(rule.action.empty());
    for (const RuleAdvice& advice : rule.plain) check_plain(advice.text.text);
    for (const RuleAdvice& advice : rule.action) {
      check_plain(advice.text.text);
      CHECK(advice.text.text.size() <= 100);  // to be said in a meeting
    }
  }
  CHECK(asking >= 40);
}

namespace {

struct Running {
  const char* what;
  void (*run)(Run&);
  std::vector<const char*> foreign;  // words of what does not run
};

const std::vector<Running> kRunning = {
    {"transformers",
     [](Run&) {},
     {"--enforce-eager", "--async-scheduling", "--max-num", "--enable-prefix", "cuda_graph_config", "of vLLM", "jax", "XLA"}},
    {"vLLM",
     [](Run& run) { run.software.backend = "vllm"; },
     {"cache_implementation", "attn_implementation", "assistant_model", "device_map", "generation_config", "cuda_graph_config",
      "In transformers", "Use an inference engine", "jax"}},
    {"vLLM by its ranges",
     [](Run& run) {
       run.software = {};
       run.import_stats.notes.push_back({Code::kStagesOfEngine, {"vLLM", "x"}});
     },
     {"cache_implementation", "attn_implementation", "device_map", "In transformers", "cuda_graph_config"}},
    {"JAX",
     [](Run& run) { run.software.backend = {}, run.software.versions = {{"python", "3.12"}, {"jax", "0.11"}}, run.operators.clear(); },
     {"torch", "vLLM", "SGLang", "transformers", ".item()", "DataLoader", "cache_implementation"}},
    {"C++",
     [](Run& run) { run.software = {}, run.operators.clear(); },
     {"torch", "vLLM", "SGLang", "transformers", ".item()", "DataLoader", "cache_implementation", "jax", "jnp"}}};

}  // namespace

TEST_CASE("no advice names a flag or a function of what does not run, and every finding has some") {
  for (const Running& software : kRunning)
    for (const RuleCase& each : rule_cases()) {
      Run run = healthy_run();
      each.fire(run);
      software.run(run);
      if (std::string_view(software.what) != "transformers" && std::string_view(software.what) != "vLLM")
        for (KernelEntry& kernel : *run.kernels)
          if (kernel.name.find("at::native") != std::string::npos) kernel.name = kernel.short_name = "indexSelectLargeIndex";
      judge(parsed_shipped(), run);
      for (const Finding& finding : run.findings) {
        CAPTURE(software.what, finding.rule, advice_of(finding));
        CHECK_FALSE(finding.suggestions.empty());
        for (const char* word : software.foreign) {
          CAPTURE(word);
          CHECK(advice_of(finding).find(word) == std::string::npos);
        }
      }
    }
}

namespace {

// The same faults in a program of another kind: its unit takes the place of the decode step.
void become(Run& run, WorkloadKind kind, const std::string& unit) {
  const auto rename = [&](std::string& stage) {
    stage = stage == "prefill" ? "first" : stage == "decode" ? "rest" : stage == kStep ? unit : stage;
  };
  for (StageEntry& stage : run.stages) rename(stage.name), stage.ranges = {"LLM:" + stage.name};
  for (Phase& phase : run.phases.phases) rename(phase.name);
  for (StageEfficiency& stage : run.efficiency) rename(stage.stage);
  for (StageSlowdown& stage : run.perturbation.stages) rename(stage.stage);
  for (KernelEntry& kernel : *run.kernels) {
    for (StageSplit& split : kernel.stages) rename(split.stage);
    for (StageLaunches& launches : kernel.measured) rename(launches.stage);
  }
  run.workload.verdict = {kind, 1, {}, unit};
}

struct OfKind {
  WorkloadKind kind;
  const char* unit;
  const char* noun;
};
constexpr OfKind kOtherKinds[] = {{WorkloadKind::kUnknown, "step", "step"},
                                  {WorkloadKind::kUnknown, "assemble", "assemble"},
                                  {WorkloadKind::kEncoding, "batch", "batch"},
                                  {WorkloadKind::kTraining, "train_step", "training step"},
                                  {WorkloadKind::kDiffusion, "denoise_step", "denoising step"},
                                  {WorkloadKind::kCollective, "step", "step"}};

// What is said only of programs that are known to generate. Tokenising is done elsewhere, too.
const std::regex kOfGeneration(R"((^|[^a-z_])(tokens?|prompts?|prefill\w*|decod\w*|detokenis\w*|ttft|tpot|kv[ _-]cache\w*|logits|beams?|)"
                               R"(conversation|answers?|requests?)($|[^a-z]))",
                               std::regex::icase);

std::string words_of(const Finding& finding) {
  std::string all = finding.rule + "\n" + finding.message + "\n" + advice_of(finding) + "\n" + finding.gain_note;
  for (const nl::FindingEvidence& evidence : finding.evidence) all += "\n" + evidence.text;
  return all;
}

}  // namespace

TEST_CASE("no finding of a program that does not generate has words of generation") {
  std::set<std::string> fired;
  for (const OfKind& other : kOtherKinds)
    for (const bool graphs : {false, true})
      for (const RuleCase& each : rule_cases()) {
        Run run = healthy_run();
        each.fire(run);
        if (!graphs)
          for (StageEntry& stage : run.stages) stage.activity->graph_launches = 0;
        become(run, other.kind, other.unit);
        judge(parsed_shipped(), run);
        for (const Finding& finding : run.findings) {
          fired.insert(finding.rule);
          CAPTURE(key_of(other.kind), each.rule, words_of(finding));
          CHECK_FALSE(std::regex_search(words_of(finding), kOfGeneration));
          CHECK(words_of(finding).find("not captured in") == std::string::npos);
          CHECK(finding.suggestions.size() >= 2);
          CHECK_FALSE(finding.gain_per_token_ns.has_value());
        }
      }
  CHECK(fired.size() >= 45);  // most rules are right for every kind
  for (const char* rule : {"launch_bound_stage", "graph_capture_missing", "sync_in_step_loop", "d2h_in_step_loop", "data_loader_delays_gpu",
                           "tokenizer_delays_gpu", "step_jitter", "copy_kernels"})
    CHECK(fired.contains(rule));
  for (const char* rule : {"launch_bound_decode", "kv_cache_copies", "sampling_delays_gpu", "server_delays_gpu", "prefill_low_mfu",
                           "decode_low_mbu", "batch_too_small", "weights_bound_decode", "slow_first_step", "attention_dominates_prefill"})
    CHECK_FALSE(fired.contains(rule));
}

TEST_CASE("what limits the unit of a program is said in the unit's own word") {
  for (const OfKind& other : kOtherKinds) {
    Run run = healthy_run();
    ungraphed(run, 51);
    spend(run, kStep, &Budget::launch_starved_ns, 0.40);
    become(run, other.kind, other.unit);
    judge(parsed_shipped(), run);
    const Finding* finding = find(run, "launch_bound_stage", other.unit);
    REQUIRE(finding);
    CHECK(finding->action == std::string("Use CUDA graphs for each ") + other.noun + ", or fewer, larger pieces of work.");
    const Finding* graphs = find(run, "graph_capture_missing", other.unit);
    REQUIRE(graphs);
    CHECK(graphs->action == std::string("Use CUDA graphs for each ") + other.noun + ".");
    CHECK(graphs->part_of == "/findings/0");  // one cause, one finding
    CHECK(run.findings[0].cause == "launches");
    CHECK(run.findings[0].part_of.empty());
  }
}

TEST_CASE("a recurring gap and the work that fills it are one finding, and launching is another") {
  for (const auto& [work, cause] : {std::pair(HostWork::kDataLoader, "host_data_loader"), std::pair(HostWork::kUser, "host_user")}) {
    Run run = healthy_run();
    own_gap(run, 12000000);
    sampled_host(run, HostWork::kDataLoader, 30);
    stage(run, kStep).gaps[0].host->kind = work;
    judge(parsed_shipped(), run);
    CAPTURE(cause, rules_of(run));
    const Finding* gap = find(run, "recurring_gap", kStep);
    const Finding* loader = find(run, "data_loader_delays_gpu", kStep);
    REQUIRE(gap);
    REQUIRE(loader);
    CHECK(gap->cause == cause);
    CHECK(loader->cause == "host_data_loader");
    const bool one = work == HostWork::kDataLoader;  // else the loader is not what fills the gap
    CHECK((gap->part_of.empty() != loader->part_of.empty()) == one);
    for (const Finding& finding : run.findings)
      if (const std::string at = finding.part_of; !at.empty())
        CHECK(run.findings.at(std::stoul(at.substr(at.rfind('/') + 1))).cause == finding.cause);
  }
}

// Whatever a capture has: each text with such words asks first whether something is generated.
TEST_CASE("no shipped sentence with words of generation is open to a program that does not generate") {
  using namespace nl::analysis::rules;
  Run run;
  run.workload.verdict = {WorkloadKind::kTraining, 1, {}, "train_step"};
  run.kernels.emplace().emplace_back();
  run.operators.emplace_back().entries.emplace_back();
  run.stages.emplace_back().name = "train_step";
  const RunTotals totals = total(run);
  const auto closed = [&](const std::optional<Expression>& when, RuleScope scope) {
    if (!when) return false;
    std::vector<Expression::Missing> ignored;
    const auto subjects = subjects_of(run, totals, scope);
    REQUIRE(subjects.size() == 1);
    const Value value = when->evaluate(subjects[0], ignored);
    return value.known && !value.truth;
  };
  std::size_t checked = 0;
  for (const RuleSpec& spec : shipped().list) {
    const auto compiled = compile_rule(spec);
    REQUIRE(compiled.rule);
    if (closed(compiled.rule->where, spec.scope)) continue;
    const auto check = [&](const RuleText& text, const std::optional<Expression>& when) {
      CAPTURE(spec.name, text.text);
      const std::string words = std::regex_replace(text.text, std::regex("\\{[^}]*\\}"), "");
      if (std::regex_search(words, kOfGeneration)) CHECK(closed(when, spec.scope));
      ++checked;
    };
    check(spec.message, {});
    if (spec.gain_note) check(*spec.gain_note, {});
    for (std::size_t i = 0; i < spec.plain.size(); ++i) check(spec.plain[i].text, compiled.rule->plain[i].when);
    for (std::size_t i = 0; i < spec.action.size(); ++i) check(spec.action[i].text, compiled.rule->action[i].when);
    for (std::size_t i = 0; i < spec.suggestions.size(); ++i) check(spec.suggestions[i].text, compiled.rule->suggestions[i].when);
    for (const RuleEvidence& each : spec.evidence)
      if (!each.optional) check(each.text, {});
  }
  CHECK(checked > 300);
}

TEST_CASE("a program of eight bits or fewer is not told to use sixteen, or to quantise") {
  std::size_t quantise = 0;
  for (const char* precision : {"bf16", "fp8", "int4 weights (gptq), bf16 compute"})
    for (const RuleCase& each : rule_cases()) {
      Run run = healthy_run();
      each.fire(run);
      run.model.precision = precision;
      find_precisions(run.model);
      judge(parsed_shipped(), run);
      for (const Finding& finding : run.findings) {
        CAPTURE(precision, finding.rule, advice_of(finding));
        const bool advised = advice_of(finding).find("uantise the weights") != std::string::npos;
        if (std::string_view(precision) == "bf16") quantise += advised;
        else {
          CHECK_FALSE(advised);
          for (const char* word : {"bfloat16", "BF16", "FP16"}) CHECK(advice_of(finding).find(word) == std::string::npos);
        }
      }
    }
  CHECK(quantise >= 3);  // where reading the weights is the limit
}

TEST_CASE("every sentence of a finding has its subject, also of a kernel without a short name or without any") {
  for (const bool named : {true, false})
    for (const RuleCase& each : rule_cases()) {
      Run run = healthy_run();
      each.fire(run);
      for (KernelEntry& kernel : *run.kernels) {
        kernel.short_name.clear();
        if (!named) kernel.name.clear();
      }
      judge(parsed_shipped(), run);
      for (const Finding& finding : run.findings)
        for (const std::string& text : {finding.message, finding.plain, finding.action, finding.gain_note}) {
          CAPTURE(finding.rule, text);
          CHECK(text.find("  ") == std::string::npos);
          CHECK(text.find_first_of(" .:;,") != 0);
        }
    }
}

TEST_CASE("where CUDA graphs are used no rule advises to use them") {
  std::size_t advised = 0;
  for (const bool graphs : {false, true}) {
    for (const RuleCase& each : rule_cases()) {
      Run run = healthy_run();
      each.fire(run);
      for (StageEntry& stage : run.stages) stage.activity->graph_launches = graphs ? 20 : 0;
      judge(parsed_shipped(), run);
      for (const Finding& finding : run.findings) {
        const std::string advice = advice_of(finding);
        CAPTURE(graphs, finding.rule, advice);
        bool advises = false;
        for (const char* words :
             {"Use CUDA graphs", "a CUDA graph", "its CUDA graph", "replays CUDA graphs", "with CUDA graphs", "--enforce-eager"})
          advises = advises || advice.find(words) != std::string::npos;
        if (graphs) CHECK_FALSE(advises);
        advised += advises ? 1 : 0;
      }
    }
  }
  CHECK(advised >= 5);  // and without graphs, several do
}

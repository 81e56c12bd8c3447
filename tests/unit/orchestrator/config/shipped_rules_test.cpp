#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "analysis/verdicts/rules/compile.h"
#include "analysis/verdicts/rules/judge.h"
#include "analysis/verdicts/rules/subject.h"
#include "exporters/run_json/run_json.h"
#include "orchestrator/config/knowledge.h"
#include "tests/catch.h"
#include "tests/unit/analysis/into_run.h"
#include "tests/unit/orchestrator/config/faulty_run.h"

using namespace nl;
using namespace nl::analysis;
using namespace nl::exporters;
using namespace nl::orchestrator;
using namespace nl::test;

namespace {

// A change that makes a rule report a finding in a healthy run, and one that just fails to.
struct Case {
  const char* rule;
  const char* subject;
  void (*fire)(Run&);
  void (*miss)(Run&);
};

void picking_rows(Run& run, Ns percent) {
  kernel(run, 1).name = "void at::native::indexSelectLargeIndex<c10::BFloat16>(long)";
  kernel(run, 0).measured = {{kStep, 100 - percent, 1}};
  kernel(run, 1).measured = {{kStep, percent, 1}};
}

// A product of decode that keeps the memory busy.
void reading_weights(Run& run, double dram) {
  kernel(run, 0).stages = {{"decode", kernel(run, 0).time.total_ns, 100}};
  sample_of(run, 0).values[nl::Metric::kSm] = 40;
  sample_of(run, 0).values[nl::Metric::kDram] = dram;
}

void ended_badly(Run& run, Code code) {
  run.problems.push_back(
      {code, "serve ran out of GPU memory, at w.py:3.", "logs/nsys.stderr.log", "Let it need less.", ErrorKind::kWorkload});
}

#define NL_HOST(rule, kind, fires, misses) \
  {rule, kStep, [](Run& run) { sampled_host(run, HostWork::kind, fires); }, [](Run& run) { sampled_host(run, HostWork::kind, misses); }}

// One number of the whole run, above and at the threshold.
#define NL_PAIR(rule, subject, what, fires, misses) {rule, subject, [](Run& run) { what = fires; }, [](Run& run) { what = misses; }}
#define NL_BIN(rule, stage_name, bin, fires, misses)                                \
  {rule, stage_name, [](Run& run) { spend(run, stage_name, &Budget::bin, fires); }, \
   [](Run& run) { spend(run, stage_name, &Budget::bin, misses); }}

const Case kCases[] = {
    NL_BIN("launch_bound_decode", "decode_step", launch_starved_ns, 0.11, 0.09),
    NL_BIN("launch_bound_stage", "prefill", launch_starved_ns, 0.11, 0.09),
    NL_BIN("launch_bound_stage", "prefill", launch_latency_ns, 0.11, 0.09),
    {"small_kernel_storm", kStep, [](Run& run) { storm(run, 101, 7, 0.31); }, [](Run& run) { storm(run, 101, 7, 0.05); }},
    {"small_kernel_storm", kStep, [](Run& run) { storm(run, 101, 7); }, [](Run& run) { storm(run, 101, 6); }},
    {"graph_capture_missing", kStep, [](Run& run) { ungraphed(run, 51); }, [](Run& run) { ungraphed(run, 50); }},
    {"code_loaded_in_stage", kStep, [](Run& run) { code_loading(run, 16000000); }, [](Run& run) { code_loading(run, 14000000); }},
    {"sync_blocks_gpu", "prefill", [](Run& run) { spend(run, "prefill", &Budget::sync_blocked_ns, 0.11); },
     [](Run& run) { spend(run, "prefill", &Budget::sync_blocked_ns, 0.09); }},
    {"sync_in_step_loop", kStep, [](Run& run) { synced(run, 0.06); }, [](Run& run) { synced(run, 0.04); }},
    {"d2h_in_step_loop", kStep, [](Run& run) { to_host(run, 0.03); }, [](Run& run) { to_host(run, 0.01); }},
    {"host_gap", kStep, [](Run& run) { gap(run, 1600000); }, [](Run& run) { gap(run, 1500000); }},
    {"recurring_gap", kStep, [](Run& run) { own_gap(run, 3100000); }, [](Run& run) { own_gap(run, 3000000); }},
    NL_BIN("host_work_after_launches", "prefill", other_host_ns, 0.16, 0.14),
    NL_BIN("dependent_kernel_latency", "prefill", queue_wait_ns, 0.16, 0.14),
    NL_HOST("tokenizer_delays_gpu", kTokenizer, 11, 10),
    NL_HOST("sampling_delays_gpu", kSampling, 11, 10),
    NL_HOST("module_overhead", kModel, 31, 30),
    NL_HOST("module_overhead", kFramework, 31, 30),
    NL_HOST("data_loader_delays_gpu", kDataLoader, 11, 10),
    NL_HOST("server_delays_gpu", kServer, 11, 10),
    {"garbage_collection", kStep, [](Run& run) { garbage(run, 2100000); }, [](Run& run) { garbage(run, 2000000); }},
    {"sync_line", kStep, [](Run& run) { sync_at_line(run, 5100000); }, [](Run& run) { sync_at_line(run, 5000000); }},
    {"idle_between_stages", "", [](Run& run) { run.phases.phases.push_back({"idle", 21000000, Budget{}}); },
     [](Run& run) { run.phases.phases.push_back({"idle", 20000000, Budget{}}); }},

    NL_PAIR("h2d_dominates", "prefill", activity(run, "prefill").h2d_ns, 31000000, 30000000),
    {"pageable_copies", "prefill",
     [](Run& run) { activity(run, "prefill").pageable_copies = 1, activity(run, "prefill").pageable_ns = 1100000; },
     [](Run& run) { activity(run, "prefill").pageable_copies = 1, activity(run, "prefill").pageable_ns = 1000000; }},
    NL_BIN("exposed_copies", "prefill", exposed_copy_ns, 0.11, 0.10),
    {"kv_cache_copies", kStep, [](Run& run) { activity(run, kStep).cache_copy_ns = activity(run, kStep).copy_kernel_ns = 6000000; },
     [](Run& run) { activity(run, kStep).cache_copy_ns = activity(run, kStep).copy_kernel_ns = 5000000; }},
    {"cache_reordering", kStep, [](Run& run) { picking_rows(run, 6); }, [](Run& run) { picking_rows(run, 5); }},
    NL_PAIR("copy_kernels", "prefill", activity(run, "prefill").copy_kernel_ns, 16000000, 15000000),
    {"many_memsets", "prefill", [](Run& run) { activity(run, "prefill").memsets = 102, activity(run, "prefill").memset_ns = 600000; },
     [](Run& run) { activity(run, "prefill").memsets = 100, activity(run, "prefill").memset_ns = 600000; }},

    {"low_occupancy", kMap,
     [](Run& run) { sample_of(run, 1).values[nl::Metric::kOccupancy] = 24, sample_of(run, 1).values[nl::Metric::kSm] = 59; },
     [](Run& run) { sample_of(run, 1).values[nl::Metric::kOccupancy] = 24, sample_of(run, 1).values[nl::Metric::kSm] = 60; }},
    NL_PAIR("gemm_low_tensor_use", kGemm, sample_of(run, 0).values[nl::Metric::kTensor], 29, 30),
    {"weights_bound_gemm", kGemm, [](Run& run) { reading_weights(run, 61); }, [](Run& run) { reading_weights(run, 60); }},
    NL_PAIR("memory_bound_near_roof", kFlash, sample_of(run, 2).values[nl::Metric::kDram], 75, 74),
    {"memory_bound_far_from_roof", kMap,
     [](Run& run) { sample_of(run, 1).values[nl::Metric::kSm] = 40, sample_of(run, 1).values[nl::Metric::kDram] = 59; },
     [](Run& run) { sample_of(run, 1).values[nl::Metric::kSm] = 40, sample_of(run, 1).values[nl::Metric::kDram] = 60; }},
    NL_PAIR("latency_bound_kernel", kFlash, sample_of(run, 2).bound_by, nl::Bound::kLatency, nl::Bound::kMemory),
    NL_PAIR("grid_too_small", kFlash, sample_of(run, 2).grid, (Dim3{65, 1, 1}), (Dim3{66, 1, 1})),
    {"gemm_without_tensor_cores", "ampere_sgemm_128x64_tn", [](Run& run) { kernel(run, 0).name = "ampere_sgemm_128x64_tn"; },
     [](Run& run) { kernel(run, 0).name = "ampere_bf16_s16816gemm_128x64_tn"; }},
    {"poor_l2_locality", kGemm, [](Run& run) { refetched(run, 3.1); }, [](Run& run) { refetched(run, 3); }},
    NL_PAIR("kernel_dominates", kGemm, kernel(run, 0).gpu_share, 0.36, 0.35),
    NL_PAIR("kernel_jitter", kGemm, kernel(run, 0).time.p99_ns, 300001, 300000),
    {"sync_operators", "aten::item",
     [](Run& run) { run.operators[0].entries[1].calls = 11, run.operators[0].entries[1].total_ns = 2100000; },
     [](Run& run) { run.operators[0].entries[1].calls = 10, run.operators[0].entries[1].total_ns = 2100000; }},
    NL_PAIR("copy_operators", "aten::cat", run.operators[0].entries[2].cuda_self_ns, 11000000, 10000000),

    {"cpu_fallback", "NonZero", [](Run& run) { add_nodes({matmul("/m", 980, kCuda), falling_back(20)}, run); },
     [](Run& run) { add_nodes({matmul("/m", 990, kCuda), falling_back(10)}, run); }},
    {"provider_copies", "MemcpyToHost", [](Run& run) { add_nodes({matmul("/m", 980, kCuda), copying(20)}, run); },
     [](Run& run) { add_nodes({matmul("/m", 990, kCuda), copying(10)}, run); }},
    {"cast_chain", "Cast", [](Run& run) { add_nodes({matmul("/m", 980), casting(10), casting(10)}, run); },
     [](Run& run) { add_nodes({casting(10), matmul("/m", 980), casting(10)}, run); }},
    {"transpose_chain", "Transpose", [](Run& run) { add_nodes({matmul("/m", 940), transposing(60), reshaping()}, run); },
     [](Run& run) { add_nodes({matmul("/m", 950), transposing(50), reshaping()}, run); }},
    {"operator_dominates", "MatMul", [](Run& run) { product_among(run, 101, 4); }, [](Run& run) { product_among(run, 100, 4); }},
    {"node_dominates", "MatMul", [](Run& run) { product_among(run, 45, 10); }, [](Run& run) { product_among(run, 42, 10); }},
    {"time_between_nodes", "", [](Run& run) { add_nodes({matmul("/m", 940)}, run, 1000); },
     [](Run& run) { add_nodes({matmul("/m", 950)}, run, 1000); }},
    {"single_thread", "", [](Run& run) { add_nodes({matmul("/m", 31), casting(69)}, run).threads = 1; },
     [](Run& run) { add_nodes({matmul("/m", 30), casting(70)}, run).threads = 1; }},
    {"idle_threads", "",
     [](Run& run) {
       OperatorStep& step = add_nodes({matmul("/m", 31)}, run);
       step.threads = 4, step.idle_threads = 1;
     },
     [](Run& run) {
       OperatorStep& step = add_nodes({matmul("/m", 31)}, run);
       step.threads = 4, step.idle_threads = 0;
     }},

    NL_PAIR("prefill_low_mfu", "prefill", efficiency(run, "prefill").mfu, 0.29, 0.30),
    {"prefill_memory_limited", "prefill", [](Run& run) { efficiency(run, "prefill").limit = nl::Bound::kMemory; },
     [](Run& run) { efficiency(run, "prefill").limit = nl::Bound::kMemory, efficiency(run, "prefill").mbu = 0.6; }},
    NL_PAIR("decode_low_mbu", kStep, efficiency(run, kStep).mbu, 0.39, 0.40),
    NL_PAIR("weights_bound_decode", kStep, efficiency(run, kStep).mbu_busy, 0.66, 0.65),
    NL_PAIR("batch_too_small", kStep, stage(run, kStep).tokens_per_window, 4, 5),
    NL_PAIR("step_jitter", kStep, stage(run, kStep).wall.p95_ns, 7500001, 7500000),
    NL_PAIR("slow_first_iteration", "", run.iterations.list[0].wall_ns, 151000000, 150000000),
    NL_PAIR("slow_first_step", kStep, stage(run, kStep).first_in_iteration_ns, 7600000, 7500000),
    {"stage_without_gpu_work", "prefill", [](Run& run) { spend(run, "prefill", &Budget::other_host_ns, 1); },
     [](Run& run) { spend(run, "prefill", &Budget::other_host_ns, 0.99); }},
    NL_PAIR("attention_dominates_prefill", "prefill", activity(run, "prefill").attention_ns, 41000000, 40000000),
    {"moe_small_gemms", kStep, [](Run& run) { experts(run, 301); }, [](Run& run) { experts(run, 300); }},
    {"elementwise_chains", "prefill",
     [](Run& run) { activity(run, "prefill").elementwise_ns = 16000000, activity(run, "prefill").longest_elementwise_chain = 3; },
     [](Run& run) { activity(run, "prefill").elementwise_ns = 16000000, activity(run, "prefill").longest_elementwise_chain = 2; }},
    {"device_imbalance", "prefill", [](Run& run) { stage(run, "prefill").devices = {{0, 40, 1}, {0, 39, 2}, {1, 100, 3}}; },
     [](Run& run) { stage(run, "prefill").devices = {{0, 40, 1}, {0, 100, 2}}; }},  // two processes share one GPU
    {"device_imbalance", "prefill", [](Run& run) { stage(run, "prefill").devices = {{0, 79}, {1, 100}}; },
     [](Run& run) { stage(run, "prefill").devices = {{0, 80}, {1, 100}}; }},

    NL_BIN("exposed_communication", "prefill", communication_ns, 0.11, 0.10),
    {"straggler_rank", "prefill", [](Run& run) { ranks(run, 0.71, 4000000); }, [](Run& run) { ranks(run, 0.70, 4000000); }},
    {"ranks_out_of_step", "prefill", [](Run& run) { ranks(run, 0.5, 3100000); }, [](Run& run) { ranks(run, 0.5, 3000000); }},
    {"uneven_compute", "prefill", [](Run& run) { ranks(run, 0.5, 0, 0.11), spend(run, "prefill", &Budget::communication_ns, 0.04); },
     [](Run& run) { ranks(run, 0.5, 0, 0.10), spend(run, "prefill", &Budget::communication_ns, 0.04); }},
    {"communication_in_capture", "", [](Run& run) { talking_capture(run, 51); }, [](Run& run) { talking_capture(run, 50); }},

    {"workload_failed", "", [](Run& run) { ended_badly(run, Code::kWorkloadOutOfMemory); },
     [](Run& run) { ended_badly(run, Code::kCountersPartly); }},
    {"profiler_perturbation", "prefill",
     [](Run& run) { run.perturbation.stages[0].slowdown = 0.10, run.perturbation.stages[0].low = 0.06; },
     // Slower, but it may be chance.
     [](Run& run) { run.perturbation.stages[0].slowdown = 0.10, run.perturbation.stages[0].low = 0.05; }},
    {"profiler_perturbation_undecided", "prefill",
     [](Run& run) { run.perturbation.stages[0].slowdown = 0.10, run.perturbation.stages[0].low = 0.05; },
     [](Run& run) { run.perturbation.stages[0].slowdown = 0.05, run.perturbation.stages[0].low = 0.01; }},
    {"clock_throttling", "", [](Run& run) { clocks(run, 0.06, "thermal slowdown by the driver"); },
     [](Run& run) { clocks(run, 0.06, "power cap"); }},
    {"power_capped", "", [](Run& run) { clocks(run, 0.21, "power cap"); }, [](Run& run) { clocks(run, 0.20, "power cap"); }},
    {"gpu_outside_stages", "", [](Run& run) { run.phases.gpu_without_range_share = 0.11, run.coverage.in_stage_share = 0.89; },
     [](Run& run) { run.phases.gpu_without_range_share = 0.11, run.coverage.in_stage_share = 0.90; }},
    NL_PAIR("unlinked_kernels", "", run.coverage.unlinked_share, 0.06, 0.05),
    NL_PAIR("graph_traced_without_nodes", "", run.coverage.graph_only_share, 0.06, 0.05),
    NL_PAIR("damaged_capture", "", run.import_stats.rows_damaged[Remark{Code::kEndsBeforeStart}], 101, 100),
};

const Finding* find(const Run& run, const Case& each) {
  for (const Finding& finding : run.findings)
    if (finding.rule == each.rule && finding.subject == each.subject) return &finding;
  return nullptr;
}

std::string rules_of(const Run& run) {
  std::string names;
  for (const Finding& finding : run.findings) names += finding.rule + " (" + finding.subject + ") ";
  return names;
}

}  // namespace

TEST_CASE("no shipped rule speaks about a healthy run, and none abstains") {
  Run run = healthy_run();
  judge(load_rules(shipped_rules(), {}), run);
  CHECK(rules_of(run) == "");
  for (const Abstention& abstention : run.abstentions) CHECK(abstention.rule == "");
}

TEST_CASE("every shipped rule fires on its fault, and not just short of it") {
  const Rules rules = load_rules(shipped_rules(), {});
  std::set<std::string> tested;
  for (const Case& each : kCases) {
    CAPTURE(each.rule);
    tested.insert(each.rule);
    Run run = healthy_run();
    each.fire(run);
    judge(rules, run);
    const Finding* finding = find(run, each);
    CAPTURE(rules_of(run));
    REQUIRE(finding);
    CHECK(finding->confidence >= 0.1);
    CHECK(finding->confidence < 1);
    CHECK(finding->suggestions.size() >= 3);
    CHECK(finding->message.find("not captured") == std::string::npos);
    CHECK(finding->message.find_first_of("{}") == std::string::npos);
    CHECK(finding->plain.find("not captured") == std::string::npos);
    CHECK(finding->plain.find_first_of("{}") == std::string::npos);
    CHECK((finding->gain_ns.has_value() || !finding->gain_note.empty()));
    Run missed = healthy_run();
    each.miss(missed);
    judge(rules, missed);
    CAPTURE(rules_of(missed));
    CHECK(find(missed, each) == nullptr);
  }
  for (const RuleSpec& rule : rules.list) {
    CAPTURE(rule.name);
    CHECK(tested.count(rule.name) == 1);
    CHECK(rule.evidence.size() >= 2);
  }
  CHECK(rules.list.size() >= 24);
}

TEST_CASE("few samples are no finding, and rules that need them say so") {
  const Rules rules = load_rules(shipped_rules(), {});
  Run run = healthy_run();
  sampled_host(run, HostWork::kTokenizer, 15).samples = 19;
  judge(rules, run);
  CHECK(find(run, {"tokenizer_delays_gpu", kStep, nullptr, nullptr}) == nullptr);
  const auto abstains = [&](const char* rule) {
    return std::any_of(run.abstentions.begin(), run.abstentions.end(), [&](const Abstention& each) { return each.rule == rule; });
  };
  CHECK_FALSE(abstains("tokenizer_delays_gpu"));  // known not to matter for prefill
  for (StageEntry& each : run.stages) spend(run, each.name.c_str(), &Budget::launch_starved_ns, 0.10);
  judge(rules, run);
  CHECK(abstains("tokenizer_delays_gpu"));
}

TEST_CASE("a stage that waits for launches says at which line the host is, where somebody looked") {
  const Rules rules = load_rules(shipped_rules(), {});
  for (const bool sampled : {false, true}) {
    Run run = healthy_run();
    if (sampled) sampled_host(run, HostWork::kOther, 30);
    spend(run, kStep, &Budget::launch_starved_ns, sampled ? 0.20 : 0.40);
    judge(rules, run);
    const Finding* finding = find(run, {"launch_bound_decode", kStep, nullptr, nullptr});
    REQUIRE(finding);
    const bool names_line = std::any_of(finding->evidence.begin(), finding->evidence.end(), [](const nl::FindingEvidence& each) {
      return each.text == "the host is mostly in step (gen.py:12) meanwhile, 30 % of the time" && each.held;
    });
    CHECK(names_line == sampled);
    CHECK(finding->evidence.size() == (sampled ? 5 : 4));  // without samples nothing is missed
  }
}

TEST_CASE("what tracing costs is judged whoever traced; that ncu is slow is no finding") {
  const Rules rules = load_rules(shipped_rules(), {});
  for (const auto& [profiler, speaks] :
       {std::pair(PassKind::kNsys, true), std::pair(PassKind::kCollector, true), std::pair(PassKind::kNcu, false)}) {
    CAPTURE(profiler);
    Run run = healthy_run();
    for (StageSlowdown& row : run.perturbation.stages)
      row = {profiler, row.stage, {1}, {1}, 0.18, 0.17, 0.19, nl::SlowdownVerdict::kOverLimit, "", ""};
    judge(rules, run);
    CHECK((find(run, {"profiler_perturbation", "prefill", nullptr, nullptr}) != nullptr) == speaks);
  }
}

TEST_CASE("where ranges end before their GPU work does, slower launches are no great matter") {
  for (const bool runs_on : {false, true}) {
    Run run = healthy_run();
    run.perturbation.stages[0].slowdown = 5.0, run.perturbation.stages[0].low = 2.6;
    StageEntry& prefill = run.stages[0];
    prefill.gpu_busy_ns = static_cast<Ns>(static_cast<double>(prefill.wall.total_ns) * (runs_on ? 1.1 : 0.9));
    judge(load_rules(shipped_rules(), {}), run);
    const Finding* finding = find(run, {"profiler_perturbation", "prefill", nullptr, nullptr});
    REQUIRE(finding != nullptr);
    CHECK(finding->severity == (runs_on ? Severity::kLow : Severity::kMedium));
  }
}

TEST_CASE("without stages a GEMM is judged by its intensity, and one that reads its operands once is not said to read them again") {
  const Rules rules = load_rules(shipped_rules(), {});
  const auto judged = [&](std::optional<double> intensity) {
    Run run = healthy_run();
    run.stages.clear();
    run.phases = {};
    for (KernelEntry& each : *run.kernels) each.stages = {{"none", each.time.total_ns, each.time.count}};
    refetched(run, 1);
    sample_of(run, 0).values[nl::Metric::kTensor] = 2.6;
    if (intensity) {
      RooflinePoint& point = run.roofline.points.emplace_back();
      point.kernel = kGemm;
      point.ncu_id = 7;
      point.intensity = *intensity;
    }
    judge(rules, run);
    return run;
  };
  const Case tensor{"gemm_low_tensor_use", kGemm, nullptr, nullptr}, locality{"poor_l2_locality", kGemm, nullptr, nullptr};
  CHECK(find(judged(2), tensor) == nullptr);  // a product of one row: the weights are read once
  CHECK(find(judged(200), tensor) != nullptr);
  const Run unknown = judged({});
  CHECK(find(unknown, tensor) == nullptr);
  const auto abstained = std::find_if(unknown.abstentions.begin(), unknown.abstentions.end(),
                                      [](const Abstention& each) { return each.rule == "gemm_low_tensor_use"; });
  REQUIRE(abstained != unknown.abstentions.end());
  CHECK(abstained->missing == std::vector<std::string>{"intensity"});
  for (const double intensity : {2.0, 200.0}) CHECK(find(judged(intensity), locality) == nullptr);
}

TEST_CASE("bytes of which nobody knows whether they are read again: nothing is said of locality") {
  Run run = healthy_run();
  refetched(run, 100);
  run.operators.clear();
  judge(load_rules(shipped_rules(), {}), run);
  CHECK(find(run, {"poor_l2_locality", kGemm, nullptr, nullptr}) == nullptr);
}

TEST_CASE("windows of a host that runs ahead say nothing about jitter") {
  Run run = healthy_run();
  StageEntry& step = stage(run, kStep);
  step.wall.p95_ns = 7500001;
  step.foreign_gpu_ns = step.budget->wall_ns;
  step.budget->gpu_compute_ns = step.budget->wall_ns;
  judge(load_rules(shipped_rules(), {}), run);
  CHECK(find(run, {"step_jitter", kStep, nullptr, nullptr}) == nullptr);
}

TEST_CASE("the process that works leads, not those that wait for it") {
  Run run = healthy_run();
  own_gap(run, 20000000);
  StageEntry& step = stage(run, kStep);
  step.gaps[0].windows = step.wall.count / 2;
  step.gaps[0].mean_ns *= 2;
  StageGap waits = step.gaps[0];
  waits.budget.wall_ns = waits.not_launching_ns = 22000000;
  waits.host->kind = HostWork::kExchange;
  waits.host->function->function = "wait_for_all";
  step.gaps.insert(step.gaps.begin(), waits);
  judge(load_rules(shipped_rules(), {}), run);
  const Finding* finding = find(run, {"recurring_gap", kStep, nullptr, nullptr});
  REQUIRE(finding != nullptr);
  CHECK(finding->action.starts_with("Shorten check"));
  CHECK(finding->plain.ends_with("the other processes wait for it."));
  CHECK(*finding->gain_ns > 39000000);  // its own time, and as much of the others' wait
  CHECK(*finding->gain_ns < 41000000);
  SECTION("where all of them only exchange data, that is the cause") {
    run.findings.clear();
    stage(run, kStep).gaps.pop_back();
    judge(load_rules(shipped_rules(), {}), run);
    const Finding* exchange = find(run, {"recurring_gap", kStep, nullptr, nullptr});
    REQUIRE(exchange != nullptr);
    CHECK(exchange->action.starts_with("Exchange the data on the GPU"));
  }
}

TEST_CASE("jitter is told by 1 % of the windows from 100 on, by 5 % from 20 on, and not at all below") {
  const Rules rules = load_rules(shipped_rules(), {});
  const auto told = [&](std::uint64_t windows, std::optional<Ns> p95_ns, std::optional<Ns> p99_ns) -> std::string {
    Run run = healthy_run();
    TimeSummary& wall = stage(run, kStep).wall;
    wall.count = windows;
    wall.p95_ns = p95_ns;
    wall.p99_ns = p99_ns;
    judge(rules, run);
    const nl::Finding* finding = find(run, {"step_jitter", kStep, nullptr, nullptr});
    return finding == nullptr ? "" : finding->message;
  };
  CHECK(told(99, 5000000, 9000000) == "");  // of an older format: a p99 of so few is the longest
  CHECK(told(100, 5000000, 9000000) == "decode_step takes 5.00 ms (median), but 1.0 % of its windows take 9.00 ms or more.");
  CHECK(told(20, 9000000, {}) == "decode_step takes 5.00 ms (median), but 5.0 % of its windows take 9.00 ms or more.");
  CHECK(told(19, {}, 9000000) == "");
}

TEST_CASE("ranges that end before their GPU work say nothing about jitter or a slow first step") {
  const Rules rules = load_rules(shipped_rules(), {});
  for (const bool runs_on : {false, true}) {
    CAPTURE(runs_on);
    Run run = healthy_run();
    StageEntry& step = stage(run, kStep);
    step.wall.p95_ns = 7500001;
    step.first_in_iteration_ns = 7600000;
    if (runs_on) step.gpu_busy_ns = 2 * step.wall.total_ns;
    judge(rules, run);
    CHECK((find(run, {"step_jitter", kStep, nullptr, nullptr}) == nullptr) == runs_on);
    CHECK((find(run, {"slow_first_step", kStep, nullptr, nullptr}) == nullptr) == runs_on);
    // Without a GPU in the capture windows are all there is.
    Run host = healthy_run();
    stage(host, kStep).wall.p95_ns = 7500001;
    for (StageEntry& each : host.stages) each.gpu_busy_ns.reset(), each.budget.reset(), each.activity.reset();
    judge(rules, host);
    CHECK(find(host, {"step_jitter", kStep, nullptr, nullptr}) != nullptr);
  }
}

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
  for (const RuleSpec& rule : load_rules(shipped_rules(), {}).list) {
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

std::string advice_of(const Finding& finding) {
  std::string advice = finding.plain + "\n" + finding.action;
  for (const std::string& suggestion : finding.suggestions) advice += "\n" + suggestion;
  return advice;
}

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
     [](Run& run) { run.software.backend.clear(), run.software.versions = {{"python", "3.12"}, {"jax", "0.11"}}, run.operators.clear(); },
     {"torch", "vLLM", "SGLang", "transformers", ".item()", "DataLoader", "cache_implementation"}},
    {"C++",
     [](Run& run) { run.software = {}, run.operators.clear(); },
     {"torch", "vLLM", "SGLang", "transformers", ".item()", "DataLoader", "cache_implementation", "jax", "jnp"}}};

}  // namespace

TEST_CASE("no advice names a flag or a function of what does not run, and every finding has some") {
  const Rules rules = load_rules(shipped_rules(), {});
  for (const Running& software : kRunning)
    for (const Case& each : kCases) {
      Run run = healthy_run();
      each.fire(run);
      software.run(run);
      if (std::string_view(software.what) != "transformers" && std::string_view(software.what) != "vLLM")
        for (KernelEntry& kernel : *run.kernels)
          if (kernel.name.find("at::native") != std::string::npos) kernel.name = kernel.short_name = "indexSelectLargeIndex";
      judge(rules, run);
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
  const Rules rules = load_rules(shipped_rules(), {});
  std::set<std::string> fired;
  for (const OfKind& other : kOtherKinds)
    for (const bool graphs : {false, true})
      for (const Case& each : kCases) {
        Run run = healthy_run();
        each.fire(run);
        if (!graphs)
          for (StageEntry& stage : run.stages) stage.activity->graph_launches = 0;
        become(run, other.kind, other.unit);
        judge(rules, run);
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
  const Rules rules = load_rules(shipped_rules(), {});
  for (const OfKind& other : kOtherKinds) {
    Run run = healthy_run();
    ungraphed(run, 51);
    spend(run, kStep, &Budget::launch_starved_ns, 0.40);
    become(run, other.kind, other.unit);
    judge(rules, run);
    const Finding* finding = find(run, {"launch_bound_stage", other.unit, nullptr, nullptr});
    REQUIRE(finding);
    CHECK(finding->action == std::string("Use CUDA graphs for each ") + other.noun + ", or fewer, larger pieces of work.");
    const Finding* graphs = find(run, {"graph_capture_missing", other.unit, nullptr, nullptr});
    REQUIRE(graphs);
    CHECK(graphs->action == std::string("Use CUDA graphs for each ") + other.noun + ".");
    CHECK(graphs->part_of == "/findings/0");  // one cause, one finding
    CHECK(run.findings[0].cause == "launches");
    CHECK(run.findings[0].part_of.empty());
  }
}

TEST_CASE("a recurring gap and the work that fills it are one finding, and launching is another") {
  const Rules rules = load_rules(shipped_rules(), {});
  for (const auto& [work, cause] : {std::pair(HostWork::kDataLoader, "host_data_loader"), std::pair(HostWork::kUser, "host_user")}) {
    Run run = healthy_run();
    own_gap(run, 12000000);
    sampled_host(run, HostWork::kDataLoader, 30);
    stage(run, kStep).gaps[0].host->kind = work;
    judge(rules, run);
    CAPTURE(cause, rules_of(run));
    const Finding* gap = find(run, {"recurring_gap", kStep, nullptr, nullptr});
    const Finding* loader = find(run, {"data_loader_delays_gpu", kStep, nullptr, nullptr});
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
  for (const RuleSpec& spec : load_rules(shipped_rules(), {}).list) {
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
  const Rules rules = load_rules(shipped_rules(), {});
  std::size_t quantise = 0;
  for (const char* precision : {"bf16", "fp8", "int4 weights (gptq), bf16 compute"})
    for (const Case& each : kCases) {
      Run run = healthy_run();
      each.fire(run);
      run.model.precision = precision;
      judge(rules, run);
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
  const Rules rules = load_rules(shipped_rules(), {});
  for (const bool named : {true, false})
    for (const Case& each : kCases) {
      Run run = healthy_run();
      each.fire(run);
      for (KernelEntry& kernel : *run.kernels) {
        kernel.short_name.clear();
        if (!named) kernel.name.clear();
      }
      judge(rules, run);
      for (const Finding& finding : run.findings)
        for (const std::string& text : {finding.message, finding.plain, finding.action, finding.gain_note}) {
          CAPTURE(finding.rule, text);
          CHECK(text.find("  ") == std::string::npos);
          CHECK(text.find_first_of(" .:;,") != 0);
        }
    }
}

TEST_CASE("a failure comes before everything else, whatever that would save") {
  Run run = healthy_run();
  spend(run, kStep, &Budget::launch_starved_ns, 0.60);
  ended_badly(run, Code::kWorkloadOutOfMemory);
  judge(load_rules(shipped_rules(), {}), run);
  REQUIRE(run.findings.size() >= 2);
  CHECK(run.findings[0].rule == "workload_failed");
  CHECK(run.findings[0].severity == Severity::kHigh);
  CHECK(run.findings[0].message == "serve ran out of GPU memory, at w.py:3.");
  CHECK(run.findings[0].action == "Let the program need less of the GPU's memory.");
}

TEST_CASE("a power cap needs readings, and power near the limit") {
  const Rules rules = load_rules(shipped_rules(), {});
  const auto capped = [&](std::uint64_t samples, std::optional<double> limit, double power) {
    Run run = healthy_run();
    clocks(run, 1, "power cap");
    run.energy.devices[0].samples = samples;
    run.energy.devices[0].power_limit_w = limit;
    run.energy.devices[0].power_max_w = power;
    judge(rules, run);
    return find(run, {"power_capped", "", nullptr, nullptr}) != nullptr;
  };
  CHECK(capped(10, 700, 690));
  CHECK(capped(10, std::nullopt, 690));
  CHECK_FALSE(capped(9, 700, 690));
  CHECK_FALSE(capped(10, 700, 620));
  CHECK_FALSE(capped(1, 700, 236));
}

TEST_CASE("what an operator's copies are decides the advice, and where it is not known there is none") {
  const Rules rules = load_rules(shipped_rules(), {});
  const auto advised = [&](const char* name, const char* kernel, const char* dtypes = "") {
    Run run = healthy_run();
    OperatorEntry& op = run.operators[0].entries[2];
    op.name = name;
    op.cuda_self_ns = op.cuda_total_ns = 60000000;
    op.kernels = {{kernel, 10, 60000000}};
    op.shapes = {{"[[8], [8]]", 10, 100, 60000000, dtypes}};
    judge(rules, run);
    const Finding* finding = find(run, {"copy_operators", name, nullptr, nullptr});
    return finding == nullptr ? std::string("nothing") : finding->action;
  };
  CHECK(advised("aten::copy_", "[CUDA memcpy Host-to-Device]") ==
        "Keep on the GPU what is sent there again and again, or send it ahead of time.");
  CHECK(advised("aten::copy_", "Memcpy DtoH (Device -> Pageable)") == "Fetch less from the GPU, and less often.");
  CHECK(advised("aten::index_select", "void at::native::indexSelectLargeIndex<c10::BFloat16>") ==
        "Move rows less often, or only the list of their places.");
  CHECK(advised("aten::copy_", "at::native::bfloat16_copy_kernel_cuda") == "Keep the data in one number format throughout.");
  CHECK(advised("aten::copy_", "at::native::direct_copy_kernel_cuda", "[float32, bfloat16]") ==
        "Keep the data in one number format throughout.");
  CHECK(advised("aten::clone", "at::native::direct_copy_kernel_cuda", "[bfloat16]") ==
        "Let each part of the program write its data as the next one reads it.");
  CHECK(advised("aten::cat", "anything") == "Write new data into memory that is there already, instead of joining pieces.");
  CHECK(advised("aten::copy_", "some_kernel") == "nothing");
}

TEST_CASE("where CUDA graphs are used no rule advises to use them") {
  const Rules rules = load_rules(shipped_rules(), {});
  std::size_t advised = 0;
  for (const bool graphs : {false, true}) {
    for (const Case& each : kCases) {
      Run run = healthy_run();
      each.fire(run);
      for (StageEntry& stage : run.stages) stage.activity->graph_launches = graphs ? 20 : 0;
      judge(rules, run);
      for (const Finding& finding : run.findings) {
        std::string advice = finding.plain + "\n" + finding.action;
        for (const std::string& suggestion : finding.suggestions) advice += "\n" + suggestion;
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

TEST_CASE("every piece of evidence leads to something in run.json, and no gain exceeds the time it is part of") {
  const Rules rules = load_rules(shipped_rules(), {});
  std::size_t pieces = 0;
  for (const Case& each : kCases) {
    Run run = healthy_run();
    each.fire(run);
    judge(rules, run);
    const auto json = nlohmann::json::parse(run_to_json(run));
    for (const Finding& finding : run.findings) {
      for (const nl::FindingEvidence& evidence : finding.evidence) {
        CAPTURE(finding.rule, evidence.reference);
        const nlohmann::json::json_pointer pointer(evidence.reference);
        REQUIRE(!evidence.reference.empty());
        REQUIRE(json.contains(pointer));
        CHECK(!json.at(pointer).is_null());
        CHECK(evidence.window_start_ns.has_value() == evidence.window_end_ns.has_value());
        if (finding.scope == RuleScope::kStage) CHECK(evidence.window_end_ns.value_or(0) > evidence.window_start_ns.value_or(0));
        ++pieces;
      }
      CAPTURE(finding.rule);
      CHECK(finding.gain_ns.value_or(0) >= 0);
      CHECK(finding.gain_share.value_or(0) <= 1);
      CHECK(finding.suggestions.size() >= 3);
      if (finding.severity == Severity::kHigh && finding.about != RuleAbout::kFailure) {  // a failure saves nothing
        CHECK(finding.gain_share.value_or(0) >= 0.05);
        CHECK(finding.confidence > 0.8);
      }
      if (finding.scope == RuleScope::kStage)
        CHECK(finding.gain_ns.value_or(0) <= static_cast<double>(stage(run, finding.subject.c_str()).wall.total_ns));
    }
  }
  CHECK(pieces > 100);
}

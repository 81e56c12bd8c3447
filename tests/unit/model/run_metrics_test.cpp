#include "model/run_metrics.h"

#include <fmt/format.h>

#include <limits>
#include <map>
#include <set>

#include "model/comparison.h"
#include "model/strings.h"
#include "tests/catch.h"
#include "tests/unit/golden.h"

// The flat figures of a run: their keys, which way is better, and what they are of.
using namespace nl;

namespace {

TimeSummary made_times(std::uint64_t count, double mean_ns, double median_ns, Ns p99_ns) {
  TimeSummary out;
  out.count = count;
  out.total_ns = static_cast<Ns>(mean_ns * static_cast<double>(count));
  out.mean_ns = mean_ns;
  out.median_ns = median_ns;
  out.p99_ns = p99_ns;
  return out;
}

KernelEntry made_kernel(const char* name, const char* mangled, const char* short_name, std::int32_t device, double median_ns) {
  KernelEntry out;
  out.name = name;
  out.mangled_name = mangled;
  out.short_name = short_name;
  out.device = device;
  out.time = made_times(4, 2 * median_ns, median_ns, 0);
  return out;
}

Run made_run() {
  Run run;
  run.hardware.gpus.resize(2);
  run.hardware.gpus[1].id = 1;
  for (Device& gpu : run.hardware.gpus) gpu.name = "NVIDIA H200";
  run.latency.tpot = made_times(2, 4e6, 3e6, 5'000'000);
  run.latency.output_tokens_per_s = 200;
  StageEntry prefill, decode;
  prefill.name = "prefill";
  prefill.wall = made_times(2, 10e6, 9e6, 12'000'000);
  decode.name = "decode";
  decode.wall = made_times(2, 30e6, 30e6, 30'000'000);
  decode.budget = Budget();
  decode.budget->wall_ns = 60'000'000;
  decode.budget->gpu_compute_ns = 15'000'000;
  decode.budget->launch_starved_ns = 45'000'000;
  decode.kernel_calls = 500;
  run.stages = {prefill, decode};
  run.kernels = {{made_kernel("gemm", "gemm", "gemm", 0, 7000)}};
  return run;
}

std::map<std::string, double> values_of(const Run& run, std::size_t kernels = kEveryKernel) {
  std::map<std::string, double> out;
  for (const RunMetric& metric : run_metrics(run, kernels)) CHECK(out.emplace(metric.key, metric.value).second);
  return out;
}

}  // namespace

TEST_CASE("run metrics: every row of the table has a key of its own, a unit that the key ends with, and a help text") {
  std::set<std::string> keys;
  for (const RunMetricInfo& info : run_metric_table()) {
    INFO(info.key);
    CHECK(keys.insert(key_pattern(info)).second);
    CHECK_FALSE(info.help.empty());
    CHECK(info.key.ends_with("_ms") == (key_of(info.unit) == "ms"));
    CHECK(info.key.ends_with("_us") == (key_of(info.unit) == "µs"));
    CHECK(info.key.ends_with("_per_s") == (key_of(info.unit) == "tokens/s"));
    CHECK((info.key.find("unprofiled") == std::string_view::npos || info.basis == MetricBasis::kUnprofiled));
  }
  CHECK(keys.count("stage.NAME.median_ms") == 1);
  CHECK(keys.count("kernel.NAME.median_us") == 1);
}

TEST_CASE("run metrics: docs/gate.md has the table as it is", "[golden]") {
  std::string table = "| metric | unit | better | of | needs | also in | meaning |\n| --- | --- | --- | --- | --- | --- | --- |\n";
  for (const RunMetricInfo& info : run_metric_table()) {
    constexpr const char* kBasis[] = {"traced", "unprofiled", "energy"};
    std::string uses = info.uses.summary.empty() ? "" : "summary";
    const auto use = [&](const char* where, std::string_view name) {
      if (!name.empty()) uses += fmt::format("{}{} `{}`", uses.empty() ? "" : ", ", where, name);
    };
    use("rules", info.uses.rule);
    use("compare", info.uses.compare);
    table += fmt::format("| `{}` | {} | {} | {} | {} | {} | {} |\n", key_pattern(info), key_of(info.unit), key_of(info.better),
                         kBasis[static_cast<std::size_t>(info.basis)], key_of(info.needs), uses, info.help);
  }
  const std::string file = NL_SOURCE_ROOT "/docs/gate.md", page = test::read_text(file);
  const std::size_t begin = page.find("<!-- metrics -->\n"), end = page.find("<!-- end of metrics -->");
  REQUIRE(begin < end);
  REQUIRE(end != std::string::npos);
  test::check_golden(file, page.substr(0, page.find('\n', begin) + 1) + table + page.substr(end));
}

TEST_CASE("run metrics: a name in comparisons or rules is that of one row") {
  std::set<std::string_view> compared;
  std::set<std::pair<RunMetricScope, std::string_view>> rules;
  for (const RunMetricInfo& info : run_metric_table()) {
    CAPTURE(key_pattern(info));
    CHECK_FALSE(info.title.empty());
    if (!info.uses.rule.empty()) CHECK(rules.emplace(info.scope, info.uses.rule).second);
    if (info.uses.compare.empty()) continue;
    CHECK(compared.insert(info.uses.compare).second);
    CHECK(find_compared(info.uses.compare) == &info);
    REQUIRE(from_key<CompareFigure>(info.uses.compare).has_value());
    CHECK(key_of(*from_key<CompareFigure>(info.uses.compare)) == info.uses.compare);
  }
  CHECK(find_compared("") == nullptr);
  CHECK(find_compared("wall") == nullptr);
}

TEST_CASE("run metrics: a figure is read as it was measured, and told in its unit") {
  const Run run = made_run();
  const RunMetricInfo& tpot = *find_metric("tpot_ms");
  CHECK(tpot.read({run}) == 4e6);
  CHECK(measured_unit(tpot.unit) == MetricUnit::kNanoseconds);
  CHECK(figure_value(run, "tpot_ms") == 4);
  CHECK(figure_value(run, "mfu") == std::nullopt);
  CHECK(figure_title("tpot_ms") == "Time per output token");
}

TEST_CASE("run metrics: the row of a key") {
  CHECK(find_metric("tpot_ms")->key == "tpot_ms");
  CHECK(find_metric("stage.decode.joules_per_token")->scope == RunMetricScope::kStage);
  CHECK(find_metric("joules_per_token")->scope == RunMetricScope::kRun);
  CHECK(find_metric("kernel.a.b.gpu1.median_us")->scope == RunMetricScope::kKernel);
  for (const char* key :
       {"", "median_ms", "stage.median_ms", "stage..median_ms", "stage.a.median_us", "xtpot_ms", "stage.a.tpot_ms", "kernel.a.b"}) {
    INFO(key);
    CHECK(find_metric(key) == nullptr);
  }
}

TEST_CASE("run metrics: figures of the run, of its stages and of its kernels") {
  const auto values = values_of(made_run());
  CHECK(values.at("tpot_ms") == 4);
  CHECK(values.at("tpot_median_ms") == 3);
  CHECK(values.count("tpot_p99_ms") == 0);  // of four windows
  CHECK(values.at("tokens_per_s") == 200);
  CHECK(values.at("stage.prefill.median_ms") == 9);
  CHECK(values.at("stage.prefill.mean_ms") == 10);
  CHECK(values.at("stage.decode.gpu_compute_ms") == 7.5);  // 15 ms in two windows
  CHECK(values.at("stage.decode.launch_starved_ms") == 22.5);
  CHECK(values.at("stage.decode.gpu_busy_share") == 0.25);
  CHECK(values.at("stage.decode.kernels") == 250);
  CHECK(values.at("kernel.gemm.median_us") == 7);
  CHECK(values.at("kernel.gemm.mean_us") == 14);
}

TEST_CASE("run metrics: a percentile needs enough windows") {
  Run run = made_run();
  run.latency.tpot->count = 99;
  run.latency.tpot->p90_ns = 4'500'000;
  run.latency.tpot->p95_ns = 4'700'000;
  run.stages[0].wall.p95_ns = 6'000'000;
  auto values = values_of(run);
  CHECK(values.at("tpot_p90_ms") == 4.5);
  CHECK(values.at("tpot_p95_ms") == 4.7);
  CHECK(values.at("stage.prefill.p95_ms") == 6);
  CHECK(values.count("stage.prefill.p90_ms") == 0);
  CHECK(values.count("tpot_p99_ms") == 0);
  run.latency.tpot->count = 100;
  CHECK(values_of(run).at("tpot_p99_ms") == 5);
}

TEST_CASE("run metrics: what was not captured is not listed, and never zero") {
  const auto values = values_of(made_run());
  for (const char* key : {"ttft_ms", "prefill_ms", "tpot_unprofiled_ms", "mfu", "joules_per_token", "gpu_busy_share", "inference_ms",
                          "stage.prefill.gpu_compute_ms", "stage.prefill.unprofiled_ms"}) {
    INFO(key);
    CHECK(values.count(key) == 0);
  }
  CHECK(run_metrics(Run()).empty());
}

TEST_CASE("run metrics: an empty stage, NaN and infinities give no figure") {
  Run run = made_run();
  run.stages[0].wall = {};
  run.stages[1].budget = Budget{};
  run.latency.tpot->mean_ns = std::numeric_limits<double>::quiet_NaN();
  run.latency.output_tokens_per_s = std::numeric_limits<double>::infinity();
  run.latency.ttft = TimeSummary{};
  const auto values = values_of(run);
  for (const char* key : {"stage.prefill.median_ms", "stage.decode.gpu_busy_share", "tpot_ms", "tokens_per_s", "ttft_ms"}) {
    INFO(key);
    CHECK(values.count(key) == 0);
  }
  CHECK(values.at("tpot_median_ms") == 3);
}

TEST_CASE("run metrics: MFU of prefill and decode together is weighted by their times") {
  Run run = made_run();
  StageEfficiency prefill, decode;
  prefill.stage = "prefill";
  prefill.mfu = 0.4;
  decode.stage = "decode";
  decode.mfu = 0.1;
  run.efficiency = {prefill, decode};
  // 20 ms at 40 % and 60 ms at 10 %.
  CHECK(values_of(run).at("mfu") == Approx(14.0 / 80));
  CHECK(values_of(run).at("stage.decode.mfu") == 0.1);
  run.stages[1].name = run.efficiency[1].stage = "decode_step";
  CHECK(values_of(run).at("mfu") == Approx(14.0 / 80));
  run.efficiency.pop_back();
  CHECK(values_of(run).at("mfu") == Approx(0.4));
}

TEST_CASE("run metrics: energy is of the passes in which it was read") {
  Run run = made_run();
  StageEnergy energy;
  energy.stage = "decode";
  energy.joules_per_token = 0.5;
  run.energy.stages = {energy};
  for (const char* pass : {"unprofiled", "nsys", "collector"}) {
    run.energy.pass = pass;
    std::map<std::string, bool> unprofiled;
    for (const RunMetric& metric : run_metrics(run)) unprofiled[metric.key] = metric.unprofiled;
    CHECK(unprofiled.at("joules_per_token") == (std::string(pass) == "unprofiled"));
    CHECK_FALSE(unprofiled.at("tpot_ms"));
  }
}

TEST_CASE("run metrics: the unprofiled figures are those of the headline") {
  Run run = made_run();
  StageSlowdown slowdown;
  slowdown.stage = "decode";
  slowdown.bare_ns = {24e6};
  run.perturbation.stages = {slowdown};
  CHECK(values_of(run).at("stage.decode.unprofiled_ms") == 24);
  CHECK(values_of(run).at("tpot_unprofiled_ms") == Approx(3.2));  // 24 of 30 ms
}

TEST_CASE("run metrics: kernels of one short name keep keys of their own, the same in every run") {
  Run run = made_run();
  run.kernels = {{made_kernel("void fill<int>(int*)", "_Z4fillIiE", "fill", 0, 1000),
                  made_kernel("void fill<float>(float*)", "_Z4fillIfE", "fill", 0, 2000)}};
  const std::string a = "kernel.fill~" + stable_hash_text("_Z4fillIiE", 8), b = "kernel.fill~" + stable_hash_text("_Z4fillIfE", 8);
  CHECK(values_of(run).at(a + ".median_us") == 1);
  CHECK(values_of(run).at(b + ".median_us") == 2);
  run.kernels->pop_back();
  CHECK(values_of(run).at(a + ".median_us") == 1);
  CHECK(stable_hash_text("a", 16) == "af63dc4c8601ec8c");  // FNV-1a's published value
}

TEST_CASE("run metrics: a kernel on a second GPU says so, whatever the GPUs' numbers") {
  Run run = made_run();
  run.kernels = {{made_kernel("gemm", "gemm", "gemm", 5, 3000), made_kernel("gemm", "gemm", "gemm", 2, 4000)}};
  CHECK(values_of(run).at("kernel.gemm.median_us") == 4);
  CHECK(values_of(run).at("kernel.gemm.gpu1.median_us") == 3);
}

TEST_CASE("run metrics: no more kernels than asked for, those with the most time first") {
  Run run = made_run();
  run.kernels->push_back(made_kernel("softmax", "softmax", "softmax", 0, 1000));
  CHECK(values_of(run, 1).count("kernel.softmax.median_us") == 0);
  CHECK(values_of(run, 1).count("kernel.gemm.median_us") == 1);
  CHECK(values_of(run, 2).count("kernel.softmax.median_us") == 1);
}

TEST_CASE("run metrics: names out of a capture are spelled without control characters, blanks and quotes") {
  Run run = made_run();
  run.stages[0].name = "my \x1b[31m\"stage\"\n";
  run.stages[1].name = "my__[31m'stage'_";  // spelled alike: the first has the key
  CHECK(values_of(run).at("stage.my___31m_stage__.median_ms") == 9);
}

TEST_CASE("hardware key: the GPUs that worked, else the CPU") {
  Run run = made_run();
  CHECK(hardware_key(run) == "NVIDIA H200");  // the other GPU ran no kernel
  run.kernels->push_back(made_kernel("gemm", "gemm", "gemm", 1, 3000));
  CHECK(hardware_key(run) == "2 x NVIDIA H200");
  run.hardware.gpus[1].name = "NVIDIA L4";
  CHECK(hardware_key(run) == "NVIDIA H200 + NVIDIA L4");
  run.hardware.gpus.clear();
  run.hardware.cpu_model = "AMD EPYC 9654";
  CHECK(hardware_key(run) == "AMD EPYC 9654");
  CHECK(hardware_key(Run()).empty());
}

TEST_CASE("run metrics: a key tells its unit and which way is better, whatever the stage is called") {
  REQUIRE(nl::find_metric("stage.my.own.step.median_ms") != nullptr);
  CHECK(nl::find_metric("stage.my.own.step.median_ms")->unit == nl::FigureUnit::kMilliseconds);
  CHECK(nl::find_metric("kernel.gemm~1b2c3d4e.gpu1.mean_us")->unit == nl::FigureUnit::kMicroseconds);
  CHECK(nl::find_metric("tokens_per_s")->better == nl::Better::kHigher);
  CHECK(nl::find_metric("median_ms") == nullptr);
  CHECK(nl::find_metric("stage.decode") == nullptr);
  CHECK(nl::find_metric("") == nullptr);
}

TEST_CASE("what ranks wait and exchange is a figure of the stage that is their step") {
  Run run;
  for (const char* name : {"decode", "decode_step"}) {
    StageEntry& stage = run.stages.emplace_back();
    stage.name = name;
    stage.wall.count = 10;
    stage.wall.mean_ns = 2'000'000;
  }
  const RunMetricInfo* wait = find_compared("rank_wait");
  const RunMetricInfo* exchange = find_compared("rank_exchange");
  REQUIRE(wait);
  REQUIRE(exchange);
  CHECK_FALSE(wait->read({run, &run.stages[1]}));
  run.rank_matrix.stage = "decode_step";
  run.ranks.resize(2);
  run.ranks[0].budget = {.wall_ns = 1000, .compute_ns = 500, .exchange_ns = 100, .wait_ns = 0};
  run.ranks[1].budget = {.wall_ns = 1000, .compute_ns = 500, .exchange_ns = 100, .wait_ns = 400};
  CHECK(*wait->read({run, &run.stages[1]}) == Approx(400'000));
  CHECK(*exchange->read({run, &run.stages[1]}) == Approx(200'000));
  CHECK_FALSE(wait->read({run, &run.stages[0]}));
}

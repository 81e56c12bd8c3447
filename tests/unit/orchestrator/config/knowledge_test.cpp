#include "orchestrator/config/knowledge.h"

#include "model/error.h"
#include "tests/catch.h"
#include "tests/unit/orchestrator/machine/fake_tree.h"

using namespace nl;
using namespace nl::orchestrator;

namespace {

Run counted_run() {
  Run run;
  run.hardware.gpus.resize(1);
  run.hardware.gpus[0].name = "NVIDIA Card";
  run.hardware.gpus[0].bandwidth_bytes_per_s = 4'000'000'000'000;
  StageEntry& stage = run.stages.emplace_back();
  stage.name = "prefill";
  stage.counters.emplace().dram_use = {{0, 2e6, 1000}};
  stage.sampling.emplace().dram_use = {{0, 1e12, 1e9}};
  KernelEntry& kernel = run.kernels.emplace().emplace_back();
  kernel.name = "k";
  NcuSample& sample = kernel.ncu.emplace_back();
  sample.measured_by = nl::Meter::kCupti;
  sample.ncu_duration_ns = 1000;
  sample.values[nl::Metric::kDramBytes] = 3e6;
  sample.values[nl::Metric::kSm] = 20;
  return run;
}

}  // namespace

TEST_CASE("DRAM % of stages, samples and kernels has the peak of the table, as MBU has, however often it is explained") {
  analysis::Knowledge knowledge;
  Run run = counted_run();
  run = analysis::explained(std::move(run), knowledge);
  CHECK(run.stages[0].counters->values[nl::Metric::kDram] == 50.0);
  CHECK(run.stages[0].sampling->values[nl::Metric::kDram] == 25.0);
  CHECK(*run.kernels->at(0).ncu[0].values[nl::Metric::kDram] == Approx(75));  // rounding of a division
  CHECK(run.kernels->at(0).ncu[0].bound_by == nl::Bound::kMemory);
  knowledge.devices = {{"NVIDIA Card", {"Card"}, {}, 8e12, {}, "own.yaml"}};  // as from device.file
  for (int again = 0; again < 2; ++again) {
    run = analysis::explained(std::move(run), knowledge);
    CHECK(run.peaks->bytes_per_s == 8e12);
    CHECK(run.stages[0].counters->values[nl::Metric::kDram] == 25.0);
    CHECK(run.stages[0].sampling->values[nl::Metric::kDram] == 12.5);
    CHECK(*run.kernels->at(0).ncu[0].values[nl::Metric::kDram] == Approx(37.5));  // rounding, too
    CHECK(run.kernels->at(0).ncu[0].bound_by == nl::Bound::kLatency);
  }
}

TEST_CASE("what the configuration tells the analysis") {
  Config config;
  config.run.stages = {"draft", "verify"};
  config.run.top_n_kernels = 3;
  config.analysis.warmup = "2";
  config.model.attributes = {{"batch_size", "5"}, {"prompt_tokens", "6"}, {"decode_tokens", "7"}};
  const analysis::AnalysisOptions options = analysis_options(config);
  CHECK(options.kernels.stages == std::vector<std::string>{"draft", "verify"});
  CHECK(options.kernels.top_n == 3);
  CHECK(options.warmup.mode == analysis::WarmupRule::Mode::kCount);
  CHECK(options.warmup.count == 2);
  CHECK(options.tokens.batch == 5);
  CHECK(options.tokens.prompt_tokens == 6);
  CHECK(options.tokens.decode_tokens == 7);
  config.model.attributes = {{"batch_size", "5 or 6"}, {"prompt_tokens", "many"}};
  CHECK_FALSE(analysis_options(config).tokens.batch);
  CHECK_FALSE(analysis_options(config).tokens.prompt_tokens);
  CHECK_FALSE(analysis_options(config).tokens.decode_tokens);
}

TEST_CASE("knowledge: the user's devices and rules beside the shipped ones, and how to summarise") {
  test::FakeTree tree;
  Config config;
  config.run.top_n_kernels = 4;
  const analysis::Knowledge shipped = load_knowledge(config);
  CHECK(shipped.devices.size() > 1);
  CHECK(shipped.rules.list.size() > 5);
  CHECK(shipped.options.kernels.top_n == 4);
  CHECK(shipped.tracing.python.nsys.low_ns == 4700);
  CHECK(shipped.tracing.python.collector.high_ns < shipped.tracing.python.nsys.low_ns);
  CHECK(shipped.tracing.native.nsys.high_ns > 0);
  CHECK(shipped.tracing.most_nsys == 0.67);
  config.analysis.rules = {
      tree.write("mine.yaml",
                 "rules:\n  - {name: mine, scope: stage, condition: total_time > 0, severity: low, message: m, suggestions: [a, b]}\n")
          .string()};
  CHECK(load_knowledge(config).rules.list.size() == shipped.rules.list.size() + 1);
  config.device.file = tree.write("card.yaml", "nonsense: [").string();
  CHECK_THROWS_AS(load_knowledge(config), Error);
}

TEST_CASE("knowledge: what a tracer adds to a launch is two positive numbers, the lesser first") {
  test::FakeTree tree;
  const auto read = [&](const std::string& text) { return read_tracing_costs(file_on_disk(tree.write("launches.yaml", text))); };
  const analysis::TracingKnowledge some = read("native: {nsys_us: [1, 2.5]}\n");
  CHECK(some.native.nsys.low_ns == 1000);
  CHECK(some.native.nsys.high_ns == 2500);
  CHECK(some.native.collector.high_ns == 0);
  CHECK(some.python.nsys.high_ns == 0);
  for (const char* text : {"native: {nsys_us: 2}\n", "native: {nsys_us: [2]}\n", "native: {nsys_us: [2, 1]}\n",
                           "native: {nsys_us: [0, 1]}\n", "rust: {nsys_us: [1, 2]}\n", "most: {nsys: many}\n"}) {
    INFO(text);
    CHECK_THROWS_AS(read(text), Error);
  }
}

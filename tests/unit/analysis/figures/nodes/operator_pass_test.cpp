// Operators of one pass, with the times of another: worked by hand, by a slow judge, and on two captures of one workload.
#include "analysis/figures/nodes/operator_figures.h"

#include <map>
#include <numeric>
#include <random>
#include <tuple>

#include "model/words.h"
#include "parsers/kineto/json.h"
#include "parsers/nsys/sqlite.h"
#include "tests/catch.h"
#include "tests/unit/analysis/into_run.h"
#include "tests/unit/unpacked.h"

using namespace nl;
using namespace nl::analysis;

namespace {

const std::filesystem::path kCaptures = NL_FIXTURES;
constexpr WarmupRule kEveryWindow{WarmupRule::Mode::kNone, 0, 1};

// A thread that runs one thing after another; every launch takes two nanoseconds.
struct PassScript {
  Trace trace;
  Ns now = 0;
  int numbers = 0;

  PassScript() {
    trace.processes.push_back({1, "python"});
    trace.threads.push_back({0, 1, {}});
    trace.queues.push_back({});
    trace.has_range_data = trace.has_kernel_data = trace.has_mem_data = trace.has_api_data = true;
  }
  template <class Inside>
  void range(const std::string& domain, const std::string& name, Inside inside) {
    const std::size_t at = trace.ranges.size();
    Range& begun = trace.ranges.emplace_back();
    begun.start_ns = now++;
    begun.domain = trace.strings.intern(domain);
    begun.name = trace.strings.intern(name);
    begun.thread = 0;
    inside();
    trace.ranges[at].end_ns = ++now;
    ++now;
  }
  template <class Inside>
  void stage(const std::string& name, Inside inside) {
    range("LLM", name, inside);
  }
  template <class Inside>
  void op(const std::string& name, const std::string& sizes, Inside inside) {
    range("", name + ", op_id = " + std::to_string(++numbers) + (sizes.empty() ? "" : ", sizes = " + sizes), inside);
  }
  void launch(const std::string& name, Ns duration_ns, std::uint32_t grid = 1) {
    ApiCall call;
    call.start_ns = now;
    call.duration_ns = 2;
    now += 3;
    trace.api_calls.push_back(call);
    KernelShape shape;
    shape.name = trace.strings.intern(name);
    shape.grid = {grid, 1, 1};
    trace.shapes.push_back(shape);
    Kernel kernel;
    kernel.duration_ns = static_cast<std::uint64_t>(duration_ns);
    kernel.shape = static_cast<std::uint32_t>(trace.shapes.size() - 1);
    kernel.api = static_cast<std::uint32_t>(trace.api_calls.size() - 1);
    trace.kernels.push_back(kernel);
  }
};

const OperatorEntry& entry_of(const Run& run, std::string_view name) {
  REQUIRE_FALSE(run.operators.empty());
  for (const OperatorEntry& each : run.operators[0].entries)
    if (each.name == name) return each;
  FAIL("no operator " << name);
  return run.operators[0].entries[0];
}

const OperatorStep& step_of(const Run& run, std::string_view stage) {
  for (const OperatorStep& step : run.operator_steps)
    if (step.stage == stage) return step;
  FAIL("no step of " << stage);
  return run.operator_steps[0];
}

Run joined_pass(const Trace& clean, const Trace& pass, const std::vector<OperatorDtypes>& dtypes = {},
                const WarmupRule& rule = kEveryWindow) {
  Run run;
  run.operators_note = "none";
  add_operator_pass(clean, pass, dtypes, rule, run);
  return run;
}

// A prefill of one product and two sums, then four steps of one product, one sum and a kernel of no operator.
PassScript clean_script() {
  PassScript clean;
  clean.stage("request", [&] {
    clean.stage("prefill", [&] {
      clean.launch("gemm", 100, 8);
      clean.launch("add", 20);
      clean.launch("add", 20);
    });
    for (int i = 0; i < 4; ++i)
      clean.stage("decode_step", [&] {
        clean.launch("gemm", 50, 2);
        clean.launch("add", 10);
        clean.launch("scan", 30);
      });
  });
  return clean;
}

// The same, slower, with operators in the prefill and in the first two steps, and a kernel that only this pass has.
PassScript recorded_script() {
  PassScript pass;
  pass.stage("request", [&] {
    pass.stage("prefill", [&] {
      pass.range("LLM.layers", "model|Net", [&] {
        pass.op("aten::linear", "[[8, 4], [4, 4]]", [&] { pass.op("aten::mm", "[[8, 4], [4, 4]]", [&] { pass.launch("gemm", 130, 8); }); });
        for (int i = 0; i < 2; ++i) pass.op("aten::add", "[[8, 4], [8, 4]]", [&] { pass.launch("add", 30); });
      });
    });
    for (int i = 0; i < 4; ++i)
      pass.stage("decode_step", [&] {
        if (i > 1) {
          pass.launch("gemm", 51, 2);
          pass.launch("add", 11);
          return;
        }
        pass.range("LLM.layers", "model|Net", [&] {
          pass.range("LLM.lines", "net.py:7 forward",
                     [&] { pass.op("aten::mm", "[[1, 4], [4, 4]]", [&] { pass.launch("gemm", 80, 2); }); });
          pass.op("aten::add", "[[1, 4], [1, 4]]", [&] { pass.launch("add", 15); });
        });
        pass.op("aten::copy_", "", [&] { pass.launch("probe", 7); });
        pass.launch("scan", 31);
      });
  });
  return pass;
}

}  // namespace

TEST_CASE("operator pass: calls and GPU times are those of the clean pass, by stage and kernel") {
  const Run run = joined_pass(clean_script().trace, recorded_script().trace);
  REQUIRE(run.operators.size() == 1);
  CHECK(run.operators_note.empty());
  const OperatorTable& table = run.operators[0];
  CHECK(table.source == "pytorch ranges");
  // One prefill stands for one, two steps for four.
  const OperatorEntry& mm = entry_of(run, "aten::mm");
  CHECK(mm.calls == 1 + 4);
  CHECK(mm.cuda_self_ns == 100 + 4 * 50);
  CHECK(mm.type == "matmul");
  CHECK(mm.stages == std::vector<std::pair<std::string, Ns>>{{"decode", 200}, {"prefill", 100}});
  REQUIRE(mm.shapes.size() == 2);
  CHECK(std::tuple(mm.shapes[0].text, mm.shapes[0].calls, mm.shapes[0].cuda_total_ns) ==
        std::tuple(std::string("[[1, 4], [4, 4]]"), 4u, std::optional<Ns>(200)));
  REQUIRE(mm.kernels.size() == 1);
  CHECK(std::tuple(mm.kernels[0].name, mm.kernels[0].calls, mm.kernels[0].total_ns) == std::tuple(std::string("gemm"), 5u, Ns{300}));
  CHECK(entry_of(run, "aten::linear").cuda_total_ns == 100);
  CHECK(entry_of(run, "aten::linear").cuda_self_ns == 0);
  CHECK(entry_of(run, "aten::add").calls == 2 + 4);
  CHECK(entry_of(run, "aten::add").cuda_self_ns == 40 + 40);
  CHECK(entry_of(run, "aten::copy_").cuda_self_ns == 4 * 7);  // as recorded
  CHECK(table.cuda_ns == 300 + 80 + 28);
  // Of 140 in the prefill and 360 in the steps.
  CHECK(*table.gpu_share == Approx(408.0 / 500).epsilon(1e-12));
}

TEST_CASE("operator pass: the note says what the table rests on") {
  const Run run = joined_pass(clean_script().trace, recorded_script().trace);
  // 28 ns of 528: the 408 of the operators and the 120 of the kernel of none.
  const std::string& note = run.operators[0].note;
  CHECK(note.starts_with(
      "Recorded in the operator pass, in 1 prefill and 2 decode_step windows. Calls and GPU times are scaled to the main trace: "
      "they explain 81.6 % of the GPU time of these stages. Kernels that the main trace does not have keep their recorded times, "
      "5.3 % of the GPU time. Host times are from the operator pass, where these steps take "));
  CHECK(note.ends_with(" times as long."));
}

TEST_CASE("operator pass: host times come from it, for as many steps as the clean pass has") {
  const Run run = joined_pass(clean_script().trace, recorded_script().trace);
  // A product of a step takes 1 + 3 + 1 ns on the host, its range being closed a nanosecond later.
  CHECK(entry_of(run, "aten::copy_").total_ns == 4 * 5);
  CHECK(entry_of(run, "aten::mm").total_ns == 5 + 4 * 5);
  CHECK(entry_of(run, "aten::linear").total_ns == 1 + 6 + 1);
  CHECK(entry_of(run, "aten::linear").self_ns == 3);
}

TEST_CASE("operator pass: layers likewise, and a step with layers, lines and data types") {
  const Run run =
      joined_pass(clean_script().trace, recorded_script().trace,
                  {{"aten::mm", "[[1, 4], [4, 4]]", "[bfloat16, bfloat16]"}, {"aten::add", "[[9, 4], [9, 4]]", "[float32, float32]"}});
  REQUIRE(run.layers.size() == 1);
  CHECK(run.layers[0].name == "model");
  CHECK(run.layers[0].type == "Net");
  CHECK(run.layers[0].calls == 1 + 4);
  CHECK(run.layers[0].cuda_total_ns == 140 + 4 * 60);
  REQUIRE(run.operator_steps.size() == 2);
  const OperatorStep& prefill = step_of(run, "prefill");
  REQUIRE(prefill.calls.size() == 4);
  CHECK(prefill.calls[0].name == "aten::linear");
  CHECK(prefill.calls[1].depth == 1);
  CHECK(prefill.calls[1].dtypes == "[bfloat16, bfloat16]");  // by its number of arguments
  const OperatorStep& step = step_of(run, "decode_step");
  CHECK(step.windows == 2);
  CHECK(step.window == 0);
  CHECK(step.gpu_outside_ns == 30);
  REQUIRE(step.calls.size() == 3);
  const OperatorCall& mm = step.calls[0];
  CHECK(mm.index == 0);
  CHECK(mm.type == OperatorType::kMatmul);
  CHECK(mm.shapes == "[[1, 4], [4, 4]]");
  CHECK(mm.layer == "model");
  CHECK(mm.line == "net.py:7 forward");
  CHECK(mm.host_ns == 5);
  CHECK(mm.gpu_ns == 50);
  CHECK(mm.gpu_recorded_ns == 80);
  REQUIRE(mm.kernels.size() == 1);
  CHECK(mm.kernels[0].total_ns == 50);
  CHECK(step.calls[1].dtypes == "[float32, float32]");
  CHECK(step.calls[1].line.empty());
  CHECK(step.calls[2].name == "aten::copy_");
  CHECK(step.calls[2].gpu_ns == 7);
  CHECK(step.calls[2].layer.empty());
  CHECK(step.calls[2].dtypes.empty());
  CHECK(run.operators[0].scaled);
  CHECK(entry_of(run, "aten::mm").shapes.at(0).dtypes == "[bfloat16, bfloat16]");
}

TEST_CASE("operator pass: a kernel that grows with every step takes as long as it does on average") {
  PassScript clean, pass;
  for (std::uint32_t i = 1; i <= 4; ++i) clean.stage("decode_step", [&] { clean.launch("attention", 10 * i, i); });
  for (std::uint32_t i = 1; i <= 2; ++i)
    pass.stage("decode_step", [&] { pass.op("aten::sdpa_attention", "", [&] { pass.launch("attention", 99, i); }); });
  const Run run = joined_pass(clean.trace, pass.trace);
  // 10 and 20 by their grids, 15 on average instead of 25: both are stretched by 5/3.
  CHECK(entry_of(run, "aten::sdpa_attention").cuda_self_ns == 100);
  CHECK(run.operators[0].gpu_share == 1.0);
  CHECK(step_of(run, "decode_step").calls.at(0).gpu_ns == 17);
}

TEST_CASE("operator pass: warm-up of the clean pass is warm-up here, window by window") {
  PassScript clean, pass;
  for (const int extra : {1, 0, 0}) {
    clean.stage("prefill", [&] { clean.launch("gemm", extra ? 900 : 100); });
    pass.stage("prefill", [&] {
      for (int i = 0; i <= extra; ++i) pass.op("aten::mm", "", [&] { pass.launch("gemm", 130); });
    });
  }
  const WarmupRule first{WarmupRule::Mode::kCount, 1, 1};
  const Run run = joined_pass(clean.trace, pass.trace, {}, first);
  CHECK(entry_of(run, "aten::mm").calls == 2);
  CHECK(entry_of(run, "aten::mm").cuda_self_ns == 200);
  CHECK(step_of(run, "prefill").window == 1);
}

TEST_CASE("operator pass: work of a CUDA graph counts for the operators inside which its nodes were made") {
  PassScript clean, pass;
  for (int i = 0; i < 2; ++i) clean.stage("decode_step", [&] { clean.launch("gemm", 40), clean.launch("norm", 6); });
  Ns gemm_made = 0, norm_made = 0;
  pass.op("aten::linear", "", [&] { pass.op("aten::mm", "[[1, 4], [4, 4]]", [&] { gemm_made = pass.now++; }); });
  pass.op("aten::rms_norm", "", [&] { norm_made = pass.now++; });
  pass.stage("decode_step", [&] {
    pass.launch("gemm", 50);
    pass.launch("norm", 8);
    pass.trace.kernels[1].api = 0;
  });
  pass.trace.graph_nodes = {{0, gemm_made}, {0, norm_made}};
  pass.trace.kernel_nodes = {0, 1};
  const Run run = joined_pass(clean.trace, pass.trace);
  CHECK(entry_of(run, "aten::mm").calls == 2);
  CHECK(entry_of(run, "aten::mm").total_ns == 0);  // nothing of it runs on the host
  CHECK(entry_of(run, "aten::mm").cuda_self_ns == 80);
  CHECK(entry_of(run, "aten::linear").cuda_total_ns == 80);
  CHECK(entry_of(run, "aten::rms_norm").cuda_self_ns == 12);
  const OperatorStep& step = step_of(run, "decode_step");
  REQUIRE(step.calls.size() == 3);
  CHECK(step.calls[0].name == "aten::linear");
  CHECK(step.calls[1].name == "aten::mm");
  CHECK(step.calls[1].depth == 1);
  CHECK(step.calls[1].host_ns == 0);
  CHECK(step.calls[1].gpu_ns == 40);
  CHECK(step.calls[2].name == "aten::rms_norm");
}

TEST_CASE("operator pass: without operators, and without steps of the clean pass, it says so") {
  PassScript clean = clean_script(), nothing, elsewhere;
  nothing.stage("prefill", [&] { nothing.launch("gemm", 1); });
  const Run none = joined_pass(clean.trace, nothing.trace);
  CHECK(none.operators.empty());
  CHECK(none.import_stats.notes == std::vector<Remark>{{Code::kNoOperators, {}, "operators/"}});
  elsewhere.op("aten::mm", "", [&] { elsewhere.launch("gemm", 77); });
  const Run unscaled = joined_pass(clean.trace, elsewhere.trace);
  CHECK(entry_of(unscaled, "aten::mm").cuda_self_ns == 77);
  CHECK(unscaled.operators[0].note == text_of({Code::kOperatorsUnscaled}));
  CHECK(unscaled.operator_steps.empty());
}

TEST_CASE("operator pass: any mixture of stages, kernels and operators, as the slow judge has it") {
  std::mt19937 random(15);
  const auto pick = [&](int most) { return static_cast<int>(random() % static_cast<unsigned>(most)); };
  for (int round = 0; round < 20; ++round) {
    PassScript clean, pass;
    struct Launch {
      std::string stage, kernel;
      std::uint32_t grid;
      Ns ns;
    };
    std::vector<Launch> clean_rows;
    std::vector<std::pair<Launch, std::string>> rows;    // and the operator
    std::map<std::string, std::pair<int, int>> windows;  // clean, recorded
    for (int i = 0, count = 3 + pick(4); i < count; ++i) {
      const std::string stage = pick(2) ? "decode_step" : "prefill";
      ++windows[stage].first;
      clean.stage(stage, [&] {
        for (int k = 0, kernels = 1 + pick(5); k < kernels; ++k) {
          const Launch row{stage, std::string(1, static_cast<char>('a' + pick(3))), 1u + static_cast<unsigned>(pick(2)), 10 + pick(90)};
          clean.launch(row.kernel, row.ns, row.grid);
          clean_rows.push_back(row);
        }
      });
    }
    for (int i = 0, count = 3 + pick(4); i < count; ++i) {
      const std::string stage = pick(2) ? "decode_step" : "prefill";
      std::vector<std::pair<Launch, std::string>> here;
      bool any = false;
      pass.stage(stage, [&] {
        for (int k = 0, kernels = 1 + pick(5); k < kernels; ++k) {
          const Launch row{stage, std::string(1, static_cast<char>('a' + pick(4))), 1u + static_cast<unsigned>(pick(3)), 10 + pick(90)};
          const std::string op = pick(3) ? "op" + std::to_string(pick(3)) : "";
          if (op.empty()) pass.launch(row.kernel, row.ns, row.grid);
          else pass.op(op, "", [&] { pass.launch(row.kernel, row.ns, row.grid); });
          any = any || !op.empty();
          here.emplace_back(row, op);
        }
      });
      if (!any) continue;
      ++windows[stage].second;
      rows.insert(rows.end(), here.begin(), here.end());
    }
    const auto mean = [&](const Launch& row, bool by_grid) {
      double sum = 0, count = 0;
      for (const Launch& other : clean_rows)
        if (other.stage == row.stage && other.kernel == row.kernel && (!by_grid || other.grid == row.grid))
          sum += static_cast<double>(other.ns), ++count;
      return count > 0 ? std::optional(sum / count) : std::nullopt;
    };
    const auto by_grid = [&](const Launch& row) { return mean(row, true) ? mean(row, true) : mean(row, false); };
    std::map<std::string, double> expected;
    for (const auto& [row, op] : rows) {
      const auto [in_clean, recorded] = windows[row.stage];
      if (op.empty() || in_clean == 0) continue;
      double time = static_cast<double>(row.ns);
      if (by_grid(row)) {
        double sum = 0, count = 0;
        for (const auto& [other, unused] : rows)
          if (other.stage == row.stage && other.kernel == row.kernel) sum += *by_grid(other), ++count;
        time = *by_grid(row) * *mean(row, false) / (sum / count);
      }
      expected[op] += time * in_clean / recorded;
    }
    const Run run = joined_pass(clean.trace, pass.trace);
    for (const auto& [op, ns] : expected) {
      INFO(round << ' ' << op);
      CHECK(static_cast<double>(*entry_of(run, op).cuda_self_ns) == Approx(ns).margin(0.51));
    }
  }
}

// Of both captures by SQL: calls inside the LLM@ ranges and what they launched.
TEST_CASE("operator pass: two captures of one workload on an H200") {
  const Unpacked sqlite(kCaptures / "h200-llama/nsys_pytorch_ops.sqlite.gz");
  const Trace pass = parsers::read_nsys_sqlite(sqlite.file), clean = parsers::read_nsys_sqlite(kCaptures / "h200-llama/nsys.sqlite");
  const Run run = joined_pass(clean, pass, {}, {});
  REQUIRE(run.operators.size() == 1);
  // The first iteration is warm-up: one prefill of 517,184 ns and eight steps of 3,172,895 ns are left, all of it inside operators.
  CHECK(std::abs(*run.operators[0].cuda_ns - (517184 + 3172895)) <= 1);
  CHECK(*run.operators[0].gpu_share == Approx(1).epsilon(1e-6));
  CHECK(run.operators[0].note.starts_with(
      "Recorded in the operator pass, in 1 prefill and 4 decode_step windows. Calls and GPU times are scaled to the main "
      "trace: they explain 100.0 % of the GPU time of these stages. Host times"));
  // The pass' own steps take 402971, 402236, 400283 and 398744 ns.
  const OperatorStep& step = step_of(run, "decode_step");
  CHECK(step.window == 2);
  CHECK(step.windows == 4);
  CHECK(step.calls.size() == 658);
  Ns recorded_ns = 0;
  double clean_ns = 0;
  std::uint64_t launches = 0;
  for (const OperatorCall& call : step.calls) {
    recorded_ns += *call.gpu_recorded_ns;
    clean_ns += static_cast<double>(*call.gpu_ns);
    for (const OperatorKernel& kernel : call.kernels) launches += kernel.calls;
  }
  CHECK(recorded_ns == 400283);
  CHECK(launches == 187);
  CHECK(clean_ns == Approx(3172895 / 8.0).epsilon(0.01));
  CHECK(step_of(run, "prefill").calls.size() == 716);
  CHECK(step_of(run, "prefill").window == 1);
}

TEST_CASE("operator steps: a capture with the operators in it, as recorded") {
  const Unpacked sqlite(kCaptures / "h200-llama/nsys_pytorch_ops.sqlite.gz");
  Run run;
  add_operator_steps(parsers::read_nsys_sqlite(sqlite.file), {}, "", run);
  REQUIRE(run.operator_steps.size() == 2);
  const OperatorStep& step = step_of(run, "decode_step");
  CHECK(step.source == "pytorch ranges");
  CHECK(step.windows == 2);  // without the warm-up
  CHECK(step.window == 3);   // 398744 of 400283 and 398744
  CHECK(step.calls.size() == 658);
  Ns gpu_ns = 0;
  for (const OperatorCall& call : step.calls) {
    CHECK(call.gpu_ns == call.gpu_recorded_ns);
    gpu_ns += *call.gpu_ns;
  }
  CHECK(gpu_ns == 398744);
  CHECK(step.gpu_outside_ns == 0);
}

// Of the file by a script: operators and launches inside the annotations.
TEST_CASE("operator steps: a torch.profiler trace") {
  const Unpacked json(kCaptures / "h200-llama/kineto.json.gz");
  Run run;
  add_operator_steps(parsers::read_kineto_json(json.file), {}, "", run);
  REQUIRE(run.operator_steps.size() == 2);
  CHECK(step_of(run, "prefill").calls.size() == 716);
  const OperatorStep& step = step_of(run, "decode_step");
  CHECK(step.source == "kineto");
  CHECK(step.windows == 4);
  CHECK(step.window == 2);  // of 402620, 399384, 395937 and 395431
  CHECK(step.calls.size() == 658);
  Ns gpu_ns = 0;
  for (const OperatorCall& call : step.calls) gpu_ns += *call.gpu_ns;
  CHECK(gpu_ns == 395937);
}

TEST_CASE("operator steps: of more calls than fit, the others are counted; ranges that no framework made are no operators") {
  PassScript script;
  script.stage("decode_step", [&] {
    for (int i = 0; i < 5003; ++i) script.op("aten::add", "", [] {});
  });
  Run run;
  add_operator_steps(script.trace, kEveryWindow, "", run);
  REQUIRE(run.operator_steps.size() == 1);
  CHECK(run.operator_steps[0].calls.size() == 5000);
  CHECK(run.operator_steps[0].calls_left_out == 3);
  PassScript own;
  own.stage("decode_step", [&] {
    own.range("", "my range", [] {}), own.range("LLM.lines", "a.py:1 f", [] {}), own.range("LLM.layers", "model|Net", [] {});
  });
  Run none;
  add_operator_steps(own.trace, kEveryWindow, "", none);
  CHECK(none.operator_steps.empty());
}

#include "analysis/runs/fingerprint/fingerprint.h"

#include <cmath>
#include <limits>

#include "tests/catch.h"

// The vectors of a run's operators and kernels by hand, their signatures, and how alike runs are.
using namespace nl;
using namespace nl::analysis;

namespace {

DevicePeaks round_peaks() {
  DevicePeaks peaks;
  peaks.name = "GPU";
  peaks.flops_per_s = {{"bf16", 1e15}, {"f32", 1e14}};
  peaks.bytes_per_s = 5e12;  // the roofline bends at 200 FLOPs a byte
  return peaks;
}

NcuSample launch(std::uint64_t id, Ns median_ns, std::uint64_t calls) {
  NcuSample sample;
  sample.ncu_id = id;
  sample.nsys_median_ns = median_ns;
  sample.nsys_calls = calls;
  return sample;
}

KernelEntry timed_kernel(const char* name, Ns total_ns) {
  KernelEntry kernel;
  kernel.name = kernel.short_name = name;
  kernel.time.count = 1;
  kernel.time.total_ns = total_ns;
  return kernel;
}

// gemm takes 3 of 4 µs and is counted, copy is not.
Run counted_run() {
  Run run;
  run.run_id = "r";
  run.peaks = round_peaks();
  KernelEntry gemm = timed_kernel("gemm", 3000);
  NcuSample sample = launch(7, 1000, 3);
  sample.values[Metric::kOccupancy] = 25;
  sample.values[Metric::kDram] = 90;
  sample.metrics = {{"smsp__thread_inst_executed_per_inst_executed.ratio", 24}, {"lts__t_sector_hit_rate.pct", 60}};
  gemm.ncu = {sample};
  run.kernels = {{gemm, timed_kernel("copy", 1000)}};
  RooflinePoint point;
  point.kernel = "gemm";
  point.ncu_id = 7;
  point.intensity = 600;
  point.dram_bytes = 2e6;
  point.duration_ns = 1000;
  run.roofline.points = {point};
  return run;
}

OperatorCall timed_call(const char* name, OperatorType type, const char* shapes, Ns gpu_ns) {
  OperatorCall call;
  call.name = name;
  call.type = type;
  call.shapes = shapes;
  call.gpu_ns = gpu_ns;
  return call;
}

Run run_of_calls(std::vector<OperatorCall> calls) {
  Run run;
  OperatorStep step;
  step.stage = "decode_step";
  step.calls = std::move(calls);
  run.operator_steps = {step};
  return run;
}

std::vector<OperatorCall> small_step() {
  return {timed_call("aten::mm", OperatorType::kMatmul, "[[1, 8], [8, 8]]", 600),
          timed_call("aten::add", OperatorType::kElementwise, "[[1, 8]]", 100),
          timed_call("aten::mm", OperatorType::kMatmul, "[[1, 8], [8, 8]]", 300)};
}

double alike(const Run& a, const Run& b) { return similarity(make_fingerprint(a), make_fingerprint(b)).similarity; }

}  // namespace

TEST_CASE("fingerprint: the vector of a kernel, each figure by hand") {
  const Fingerprint made = make_fingerprint(counted_run());
  CHECK(made.kind == FingerprintKind::kKernels);
  CHECK(made.ridge == 200);
  REQUIRE(made.items.size() == 2);
  const FingerprintItem& gemm = made.items[0];
  CHECK(gemm.vector[0] == 0.75);  // 3 of 4 µs
  CHECK(gemm.vector[1] == 0.75);  // 600 ÷ (600 + 200)
  CHECK(gemm.vector[2] == 0.25);
  CHECK(gemm.vector[3] == 0.75);  // 24 of 32 threads
  CHECK(gemm.vector[4] == Approx(0.6));
  CHECK(gemm.vector[5] == Approx(0.4));  // 2 MB in 1 µs, of 5 TB/s
  CHECK(gemm.counters.intensity == 600);
}

TEST_CASE("fingerprint: what is not counted is empty in the raw figures and 0 in the vector") {
  const FingerprintItem copy = make_fingerprint(counted_run()).items[1];
  CHECK(copy.vector == FingerprintVector{0.25, 0, 0, 0, 0, 0});
  CHECK_FALSE(copy.counters.intensity);
  CHECK_FALSE(copy.counters.occupancy);
  CHECK_FALSE(copy.counters.warp_efficiency);
  CHECK_FALSE(copy.counters.l2_hit);
  CHECK_FALSE(copy.counters.dram_use);
}

TEST_CASE("fingerprint: without peaks there is no intensity, and DRAM is as the counter has it; peaks of one's own win") {
  Run run = counted_run();
  run.peaks.reset();
  const FingerprintItem bare = make_fingerprint(run).items[0];
  CHECK(bare.vector[1] == 0);
  CHECK(bare.counters.intensity == 600);
  CHECK(bare.vector[5] == Approx(0.9));
  DevicePeaks other = round_peaks();
  other.flops_per_s = {{"f32", 1.5e15}};  // 300 FLOPs a byte
  CHECK(make_fingerprint(run, {}, &other).items[0].vector[1] == Approx(2.0 / 3));
}

TEST_CASE("fingerprint: NaN, infinities and what is below zero are taken for not counted") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  Run run = counted_run();
  NcuSample& sample = (*run.kernels)[0].ncu[0];
  sample.values[Metric::kOccupancy] = nan;
  sample.metrics["lts__t_sector_hit_rate.pct"] = infinity;
  sample.metrics["smsp__thread_inst_executed_per_inst_executed.ratio"] = -1;
  run.roofline.points[0].intensity = infinity;
  run.roofline.points[0].dram_bytes = nan;
  const Fingerprint made = make_fingerprint(run);
  CHECK(made.items[0].vector == FingerprintVector{0.75, 0, 0, 0, 0, 0});
  CHECK(similarity(made, made).similarity == 1);
  run.peaks->bytes_per_s = 0;
  CHECK_FALSE(make_fingerprint(run).ridge);
}

TEST_CASE("fingerprint: several counted launches of a kernel count by the time that their shapes take") {
  Run run = counted_run();
  NcuSample more = launch(8, 9000, 1);
  more.values[Metric::kOccupancy] = 65;
  (*run.kernels)[0].ncu.push_back(more);
  const FingerprintCounters counted = make_fingerprint(run).items[0].counters;
  CHECK(counted.occupancy.value() == Approx((3000 * 0.25 + 9000 * 0.65) / 12000));
  CHECK(counted.l2_hit.value() == Approx(0.6));  // the second does not know it
}

TEST_CASE("fingerprint: an operator has the counters of its kernels, by their times") {
  Run run = counted_run();
  run.operator_steps = run_of_calls(small_step()).operator_steps;
  OperatorCall& mm = run.operator_steps[0].calls[0];
  mm.kernels = {{"gemm", 1, 500}, {"copy", 1, 100}};
  const Fingerprint made = make_fingerprint(run);
  CHECK(made.kind == FingerprintKind::kOperators);
  REQUIRE(made.items.size() == 3);
  CHECK(made.items[0].vector[0] == Approx(0.6));
  CHECK(made.items[0].vector[2] == Approx(0.25));  // copy is not counted, and does not count
  CHECK(made.items[1].vector[2] == 0);
  CHECK(make_fingerprint(run, FingerprintKind::kKernels).items.size() == 2);
}

TEST_CASE("fingerprint: signatures depend on type, shape and index alone") {
  const Fingerprint made = make_fingerprint(run_of_calls(small_step()));
  CHECK(made.items[0].signature.size() == 16);
  CHECK(made.items[0].signature != made.items[2].signature);  // the second of its like
  CHECK(made.items[2].index == 1);
  // Another operator before them, other times and another name of the same type change nothing.
  std::vector<OperatorCall> other = small_step();
  other[0].name = "MatMul";
  other[0].gpu_ns = 5;
  other.insert(other.begin(), timed_call("aten::norm", OperatorType::kNorm, "[[1, 8]]", 50));
  const Fingerprint again = make_fingerprint(run_of_calls(other));
  for (std::size_t i = 0; i < 3; ++i) CHECK(again.items[i + 1].signature == made.items[i].signature);
  CHECK(made.items[1].signature == "32ead35cb7f45964");  // FNV-1a of "elementwise\n[[1, 8]]\n0"
}

TEST_CASE("fingerprint: operators without time on the GPU are left out; on a CPU the outermost count") {
  std::vector<OperatorCall> calls = small_step();
  calls[1].gpu_ns.reset();
  CHECK(make_fingerprint(run_of_calls(calls)).items.size() == 2);
  for (OperatorCall& call : calls) call.gpu_ns.reset(), call.host_ns = 10;
  calls[2].depth = 1;
  CHECK(make_fingerprint(run_of_calls(calls)).items.size() == 2);
}

TEST_CASE("fingerprint: decode is told by its steps where these have operators") {
  Run run = run_of_calls(small_step());
  run.operator_steps.push_back(run.operator_steps[0]);
  run.operator_steps[1].stage = "decode";
  CHECK(make_fingerprint(run).items.size() == 3);
  run.operator_steps[1].stage = "prefill";
  CHECK(make_fingerprint(run).items.size() == 6);
}

TEST_CASE("fingerprint: an empty run, and stages without operators, have no items and break nothing") {
  const Fingerprint none = make_fingerprint(Run());
  CHECK(none.items.empty());
  CHECK(make_fingerprint(run_of_calls({})).items.empty());
  CHECK(similarity(none, none).similarity == 1);
  CHECK(similarity(none, make_fingerprint(counted_run())).similarity == 0);
  CHECK(similarity(make_fingerprint(counted_run()), none).similarity == 0);
}

TEST_CASE("similarity: a run with itself is exactly 1") {
  const Run run = counted_run();
  CHECK(alike(run, run) == 1);
  std::vector<OperatorCall> many;
  for (int i = 1; i < 500; ++i)
    many.push_back(timed_call("op", static_cast<OperatorType>(i % 19), i % 3 ? "[[1, 3]]" : "[[7]]", 1000 / i + 1));
  const FingerprintMatch match = similarity(make_fingerprint(run_of_calls(many)), make_fingerprint(run_of_calls(many)));
  CHECK(match.similarity == 1);
  CHECK(match.pairs.size() == many.size());
  CHECK(match.only_a + match.only_b == 0);
}

TEST_CASE("similarity: the cosine of each pair counts by its time, by hand") {
  // lat_norm 0.9 and 0.1, occupancies (1, 0) against (0, 1) of the first kernel.
  Run a, b;
  a.kernels = {{timed_kernel("x", 900), timed_kernel("y", 100)}};
  b.kernels = a.kernels;
  (*a.kernels)[0].ncu = {launch(1, 1, 1)};
  (*a.kernels)[0].ncu[0].values[Metric::kOccupancy] = 100;
  const double cosine = 0.9 * 0.9 / std::sqrt((0.81 + 1) * 0.81);
  CHECK(alike(a, b) == Approx(0.9 * cosine + 0.1));
}

TEST_CASE("similarity: what has no partner adds nothing") {
  Run a, b;
  a.kernels = {{timed_kernel("x", 600), timed_kernel("gemm", 400)}};
  b.kernels = {{timed_kernel("x", 600), timed_kernel("layer_norm_kernel", 400)}};
  const FingerprintMatch match = similarity(make_fingerprint(a), make_fingerprint(b));
  CHECK(match.similarity == Approx(0.6));
  CHECK(match.only_a == 1);
  CHECK(match.only_b == 1);
}

TEST_CASE("similarity: what signatures do not pair is paired by type, in the order of the step") {
  std::vector<OperatorCall> other = small_step();
  for (OperatorCall& call : other) call.shapes = "[[2, 8]]";  // another batch: no signature is the same
  const FingerprintMatch match = similarity(make_fingerprint(run_of_calls(small_step())), make_fingerprint(run_of_calls(other)));
  REQUIRE(match.pairs.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK_FALSE(match.pairs[i].by_signature);
    CHECK(match.pairs[i].a == match.pairs[i].b);
  }
  CHECK(match.similarity == Approx(1));
  // In the other order only one kind can be paired.
  std::swap(other[0], other[1]);
  other.pop_back();
  const FingerprintMatch crossed =
      similarity(make_fingerprint(run_of_calls({small_step()[0], small_step()[1]})), make_fingerprint(run_of_calls(other)));
  REQUIRE(crossed.pairs.size() == 1);
  CHECK(crossed.pairs[0].a == 0);
  CHECK(crossed.pairs[0].b == 1);
}

TEST_CASE("similarity: without counters, other shapes that take another time are other work") {
  std::vector<OperatorCall> same = small_step(), longer = small_step();
  for (OperatorCall& call : longer) {
    call.shapes = "[[2, 8]]";
    if (call.gpu_ns) *call.gpu_ns *= 4;
    if (call.host_ns) *call.host_ns *= 4;
  }
  CHECK(alike(run_of_calls(small_step()), run_of_calls(longer)) == Approx(0.25));
  // The same shapes are the same work, on a slower machine, too.
  for (OperatorCall& call : same)
    if (call.gpu_ns) *call.gpu_ns *= 4;
  CHECK(alike(run_of_calls(small_step()), run_of_calls(same)) == 1);
}

TEST_CASE("similarity: the same from either side") {
  std::vector<OperatorCall> left, right;
  for (int i = 1; i < 120; ++i)
    left.push_back(timed_call("a", static_cast<OperatorType>(i * 7 % 5), i % 2 ? "[[1]]" : "[[2]]", i * i % 97 + 1));
  for (int i = 1; i < 90; ++i)
    right.push_back(timed_call("b", static_cast<OperatorType>(i * 3 % 5), i % 2 ? "[[1]]" : "[[3]]", i * i % 89 + 1));
  const double forth = alike(run_of_calls(left), run_of_calls(right)), back = alike(run_of_calls(right), run_of_calls(left));
  CHECK(forth == back);
  CHECK(forth > 0);
  CHECK(forth < 1);
}

TEST_CASE("similarity: stages are not mixed") {
  Run other = run_of_calls(small_step());
  other.operator_steps[0].stage = "prefill";
  CHECK(alike(run_of_calls(small_step()), other) == 0);
}

TEST_CASE("a fingerprint without counters has the command that captures them, unless it was just refused") {
  Run run;
  run.workload.command = {"./llm"};
  run.kernels.emplace(1);
  run.kernels->at(0).name = "gemm";
  run.kernels->at(0).time.total_ns = 10;
  const Fingerprint without = make_fingerprint(run);
  CHECK(without.missing_features() == std::vector<std::size_t>{1, 2, 3, 4, 5});
  CHECK(without.counters_command == "nl-stage run --config deep -- ./llm");
  CHECK(without.counters_refused.empty());
  run.provenance.counters_missing = Problem{Code::kCountersDenied, "No permission.", "", "Ask root.", ErrorKind::kTool};
  CHECK(make_fingerprint(run).counters_refused == "No permission. Ask root.");
  CHECK(make_fingerprint(run).counters_command.empty());
}

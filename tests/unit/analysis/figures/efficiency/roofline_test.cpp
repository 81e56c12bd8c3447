#include "analysis/figures/efficiency/roofline.h"

#include "analysis/figures/counters/ncu_match.h"
#include "parsers/ncu/csv.h"
#include "parsers/nsys/sqlite.h"
#include "tests/catch.h"
#include "tests/unit/analysis/into_run.h"

namespace {

const std::string kFfma = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum";
const std::string kHfma = "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum";
const std::string kBf16 = "sm__ops_path_tensor_src_bf16_dst_fp32.sum";

nl::NcuSample sample(std::map<std::string, double> metrics) {
  nl::NcuSample one;
  one.ncu_id = 3;
  one.ncu_duration_ns = 1000;
  one.values[nl::Metric::kDramBytes] = 1e6;
  one.values[nl::Metric::kTensor] = 0;
  one.metrics = std::move(metrics);
  return one;
}

nl::Run run_with(std::vector<nl::NcuSample> samples) {
  nl::Run run;
  nl::KernelEntry kernel;
  kernel.name = "gemm";
  kernel.ncu = std::move(samples);
  run.kernels.emplace(1, kernel);
  run.peaks.emplace();
  run.peaks->flops_per_s = {{"bf16", 1e15}, {"f32", 50e12}};
  run.peaks->bytes_per_s = 5e12;
  nl::analysis::fill_roofline(run);
  return run;
}

}  // namespace

TEST_CASE("a point has its rate, its intensity and its roof") {
  auto measured = sample({{kBf16, 5e8}, {kFfma, 1e6}, {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", 30}});
  measured.values[nl::Metric::kSm] = 80;
  measured.stage = "prefill";
  const auto run = run_with({measured});
  REQUIRE(run.roofline.points.size() == 1);
  const auto& point = run.roofline.points[0];
  CHECK(point.kernel == "gemm");
  CHECK(point.stage == "prefill");
  CHECK(point.flops == 5.02e8);
  CHECK(point.flops_per_s == Approx(5.02e14));
  CHECK(point.intensity == Approx(502));
  CHECK(point.precision == "tensor bf16");
  CHECK(*point.roof_flops_per_s == 1e15);  // the slope is at 2.51e15 there
  CHECK(*point.roof_share == Approx(0.502));
  CHECK(point.bound_by == nl::Bound::kCompute);
  CHECK(point.margin == 20);
  CHECK(run.roofline.notes.empty());
}

TEST_CASE("left of the ridge the memory is the roof") {
  const auto run = run_with({sample({{kFfma, 1e6}}), sample({{kHfma, 1e6}}), sample({{kHfma, 1e8}})});
  REQUIRE(run.roofline.points.size() == 3);
  CHECK(*run.roofline.points[0].roof_flops_per_s == 5e12 * 2);
  CHECK(*run.roofline.points[1].roof_flops_per_s == 5e12 * 4);
  // The peak of half precision off the tensor cores is in no table.
  CHECK(run.roofline.points[2].precision == "f16");
  CHECK_FALSE(run.roofline.points[2].roof_flops_per_s);
}

TEST_CASE("a launch without what a point needs is left out, with the metrics to add") {
  auto tensor = sample({{kFfma, 1e6}});
  tensor.values[nl::Metric::kTensor] = 12;
  auto untold = sample({{kFfma, 1e6}});
  untold.values[nl::Metric::kTensor].reset();
  auto no_time = sample({{kFfma, 1e6}});
  no_time.ncu_duration_ns.reset();
  auto no_bytes = sample({{kFfma, 1e6}});
  no_bytes.values[nl::Metric::kDramBytes].reset();
  auto cached = sample({{kFfma, 1e6}});
  cached.values[nl::Metric::kDramBytes] = 0;
  const auto run = run_with({tensor, tensor, untold, no_time, no_bytes, cached, sample({}), sample({{kFfma, 0}})});
  CHECK(run.roofline.points.empty());
  REQUIRE(run.roofline.notes.size() == 7);
  std::string all;
  for (const auto& note : run.roofline.notes) all += note + "\n";
  INFO(all);
  CHECK(all.find("2 launches left out, first gemm: its tensor operations were not measured (sm__ops_path_tensor_src_*.sum") !=
        std::string::npos);
  CHECK(all.find("its FLOPs were not measured") != std::string::npos);
  CHECK(all.find("it has no floating-point work") != std::string::npos);
  CHECK(all.find("gpu__time_duration.sum") != std::string::npos);
  CHECK(all.find("dram__bytes_read.sum") != std::string::npos);
  CHECK(all.find("it moved no byte") != std::string::npos);
  auto derived = sample({{kFfma, 1e6}, {"dram__bytes.sum.per_second", 1e12}});
  derived.values[nl::Metric::kDramBytes].reset();
  CHECK(run_with({derived}).roofline.points.at(0).dram_bytes == Approx(1e6));  // a product of rounded factors
}

TEST_CASE("a run without kernels or peaks has no roof, and none of another GPU's") {
  nl::Run run;
  nl::analysis::fill_roofline(run);
  CHECK(run.roofline.points.empty());
  auto two = run_with({sample({{kFfma, 1e6}})});
  two.hardware.gpus.resize(2);
  two.hardware.gpus[1].name = "another";
  two.kernels->push_back(two.kernels->front());
  two.kernels->at(1).device = 1;
  nl::analysis::fill_roofline(two);
  REQUIRE(two.roofline.points.size() == 2);
  CHECK(two.roofline.points[0].roof_share);
  CHECK_FALSE(two.roofline.points[1].roof_share);
  two.peaks.reset();
  nl::analysis::fill_roofline(two);
  CHECK_FALSE(two.roofline.points[0].roof_share);
}

TEST_CASE("a real ncu report: what was counted gets a point, what was not is explained") {
  const auto trace = nl::parsers::read_nsys_sqlite(NL_FIXTURES "/h200-llama/nsys.sqlite");
  nl::Run run;
  nl::analysis::summarise(trace, {}, run);
  nl::analysis::match_ncu(nl::parsers::read_ncu_csv(NL_FIXTURES "/h200-llama/ncu_decode_raw.csv"), trace, run);
  nl::analysis::match_ncu(nl::parsers::read_ncu_csv(NL_FIXTURES "/h200-llama/ncu_prefill_raw.csv"), trace, run);
  run.peaks.emplace();
  run.peaks->flops_per_s = {{"f32", 67e12}};
  run.peaks->bytes_per_s = 4.8e12;
  nl::analysis::fill_roofline(run);
  std::string notes;
  for (const auto& note : run.roofline.notes) notes += note + "\n";
  INFO(notes);
  // The decode's launches were taken with the roofline set, the prefill's GEMMs with the basic one.
  CHECK(notes.find("its tensor operations were not measured") != std::string::npos);
  bool found = false;
  for (const auto& point : run.roofline.points) {
    CHECK(point.flops > 0);
    CHECK(point.intensity > 0);
    if (point.kernel.find("sgemm") == std::string::npos) continue;
    found = true;
    CHECK(point.flops == Approx(2 * 32768 + 4096).epsilon(1e-5));  // six digits of the counts per cycle
    CHECK(point.bound_by == nl::Bound::kLatency);
    CHECK(*point.roof_share < 0.01);
  }
  CHECK(found);
}

TEST_CASE("an f32 elementwise kernel stands on the roofline with the FLOPs it does") {
  nl::Run run;
  nl::KernelEntry kernel;
  kernel.name = "void at::native::vectorized_elementwise_kernel<(int)4, at::native::CUDAFunctor_add<float>>(int, T2, T3)";
  kernel.ncu = {sample({{"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", 1000}, {kHfma, 1000}})};
  run.kernels.emplace(1, kernel);
  nl::analysis::fill_roofline(run);
  REQUIRE(run.roofline.points.size() == 1);
  CHECK(run.roofline.points[0].precision == "f32");
  CHECK(run.roofline.points[0].flops == 1000);
}

TEST_CASE("a point says which launch it is, what it moved, and which memory it waits for") {
  auto measured = sample({{kFfma, 3e6},
                          {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", 90},
                          {"lts__throughput.avg.pct_of_peak_sustained_elapsed", 88}});
  measured.values[nl::Metric::kSm] = 20;
  const auto run = run_with({measured});
  REQUIRE(run.roofline.points.size() == 1);
  const auto& point = run.roofline.points[0];
  CHECK(point.ncu_id == 3);
  CHECK(point.dram_bytes == 1e6);
  CHECK(point.duration_ns == 1000);
  CHECK(point.bound_by == nl::Bound::kMemory);
  CHECK(point.bound_memory == nl::MemoryLevel::kL2);
  CHECK(point.margin == 30);
  measured.values[nl::Metric::kSm] = 94;  // neither is clearly busier
  const auto undecided = run_with({measured});
  CHECK_FALSE(undecided.roofline.points.at(0).bound_by);
  CHECK_FALSE(undecided.roofline.points.at(0).bound_memory);
}

TEST_CASE("tensor operations alone make a point; where only the vector's were counted, an idle tensor pipe must be known") {
  auto tensor = sample({{kBf16, 1e6}});
  tensor.values[nl::Metric::kTensor].reset();
  CHECK(run_with({tensor}).roofline.points.size() == 1);
  CHECK(run_with({sample({{kBf16, 0}})}).roofline.notes.at(0).find("its FLOPs were not measured") != std::string::npos);
  auto busy = sample({{kBf16, 1e6}, {kFfma, 0}});
  busy.values[nl::Metric::kTensor] = 50;
  CHECK(run_with({busy}).roofline.points.size() == 1);
  auto untold = sample({{kFfma, 1e6}});
  untold.values[nl::Metric::kTensor].reset();
  CHECK(run_with({untold}).roofline.notes.at(0) ==
        "1 launch left out, first gemm: its tensor core use was not measured (sm__ops_path_tensor_src_*.sum; the preset "
        "profiling/ncu/roofline "
        "measures them)");
  auto at_once = sample({{kFfma, 1e6}});
  at_once.ncu_duration_ns = 0;
  CHECK(run_with({at_once}).roofline.notes.at(0) ==
        "1 launch left out, first gemm: its duration was not measured (gpu__time_duration.sum)");
}

TEST_CASE("a reason for leaving launches out names the first, in 80 characters") {
  nl::Run run;
  for (const char name : {'a', 'b'}) {
    nl::KernelEntry kernel;
    kernel.name = std::string(90, name);
    kernel.ncu = {sample({{kFfma, 0}})};
    if (!run.kernels) run.kernels.emplace();
    run.kernels->push_back(kernel);
  }
  nl::analysis::fill_roofline(run);
  CHECK(run.roofline.notes ==
        std::vector<std::string>{"2 launches left out, first " + std::string(80, 'a') + ": it has no floating-point work"});
}

TEST_CASE("twins share a roof; without a bandwidth or a peak of the type there is none") {
  auto run = run_with({sample({{kFfma, 1e6}})});
  run.hardware.gpus.resize(2);
  run.hardware.gpus[0].name = run.hardware.gpus[1].name = "NVIDIA H200";
  run.kernels->push_back(run.kernels->front());
  run.kernels->at(1).device = 1;
  nl::analysis::fill_roofline(run);
  CHECK(run.roofline.points.at(1).roof_share);
  run.peaks->bytes_per_s = 0;
  nl::analysis::fill_roofline(run);
  CHECK_FALSE(run.roofline.points.at(0).roof_flops_per_s);
  run.peaks->bytes_per_s.reset();
  nl::analysis::fill_roofline(run);
  CHECK_FALSE(run.roofline.points.at(0).roof_flops_per_s);
  run.peaks->bytes_per_s = 5e12;
  run.peaks->flops_per_s.erase("f32");
  nl::analysis::fill_roofline(run);
  CHECK_FALSE(run.roofline.points.at(0).roof_flops_per_s);
  CHECK(run.roofline.points.size() == 2);  // filled anew, not added
}

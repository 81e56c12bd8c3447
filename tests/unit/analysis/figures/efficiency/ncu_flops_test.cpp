#include "analysis/figures/efficiency/roofline.h"

#include <algorithm>
#include <limits>

#include "analysis/trace/kernel_class.h"
#include "parsers/ncu/csv.h"
#include "tests/catch.h"

namespace {

const std::string kOp = "smsp__sass_thread_inst_executed_op_";
const std::string kTensor = "sm__ops_path_tensor_src_";

}  // namespace

TEST_CASE("a real product is counted to the multiply-add") {
  // The rotary embedding's angles: a small single-precision product.
  const auto report = nl::parsers::read_ncu_csv(NL_FIXTURES "/h200-llama/ncu_decode_raw.csv");
  const auto gemm = std::find_if(report.launches.begin(), report.launches.end(),
                                 [](const auto& launch) { return launch.kernel_name.find("sgemm") != std::string::npos; });
  REQUIRE(gemm != report.launches.end());
  const auto flops = nl::analysis::count_flops(gemm->metrics);
  CHECK(flops.vector_counted);
  CHECK(flops.main_precision().name == "f32");
  // 32,768 multiply-adds and 4,096 multiplications; six digits of each count per cycle are in the file.
  CHECK(flops.total() == Approx(2 * 32768 + 4096).epsilon(1e-5));
}

TEST_CASE("half precision works on two values at a time; whole counts win over counts per cycle") {
  const auto flops = nl::analysis::count_flops({{kOp + "hfma_pred_on.sum", 10},
                                                {kOp + "hadd_pred_on.sum", 5},
                                                {kOp + "hfma_pred_on.sum.per_cycle_elapsed", 99},
                                                {kOp + "dfma_pred_on.sum.per_cycle_elapsed", 0.5},
                                                {"smsp__cycles_elapsed.avg", 100}});
  CHECK(flops.by_precision.at({"f16"}) == 50);
  CHECK(flops.by_precision.at({"f64"}) == 100);
  CHECK(flops.total() == 150);
  CHECK(flops.main_precision().name == "f64");
  CHECK_FALSE(flops.tensor_counted);
}

TEST_CASE("tensor operations: a coarse count holds the finer ones") {
  const auto flops = nl::analysis::count_flops({{kTensor + "bf16_dst_fp32.sum", 1000},
                                                {kTensor + "bf16_dst_fp32_sparsity_off.sum", 1000},
                                                {kTensor + "fp16.sum", 70},
                                                {kTensor + "fp16_dst_fp16.sum", 30},
                                                {kTensor + "fp16_dst_fp32.sum", 40},
                                                {kTensor + "tf32_dst_fp32.avg", 7},
                                                {kTensor + "fp8.sum", 0}});
  CHECK(flops.tensor_counted);
  CHECK(flops.by_precision.size() == 2);
  CHECK(flops.by_precision.at({"tensor bf16"}) == 1000);
  CHECK(flops.by_precision.at({"tensor f16"}) == 70);
  CHECK(nl::analysis::count_flops({{kTensor + "fp16_dst_fp16.sum", 30}, {kTensor + "fp16_dst_fp32.sum", 40}})
            .by_precision.at({"tensor f16"}) == 70);
  CHECK(nl::analysis::count_flops({{kTensor + "int8_sparsity_off.sum", 30}, {kTensor + "int8_sparsity_on.sum", 4}})
            .by_precision.at({"tensor int8"}) == 34);
  CHECK(nl::analysis::count_flops({{kTensor + "bf16_dst_fp32.sum.per_cycle_elapsed", 2}, {"sm__cycles_elapsed.avg", 50}}).total() == 100);
}

TEST_CASE("nothing counted, zero counted and nonsense counted are told apart") {
  CHECK_FALSE(nl::analysis::count_flops({}).vector_counted);
  CHECK_FALSE(nl::analysis::count_flops({{kOp + "ffma_pred_on.sum.per_cycle_elapsed", 4}}).vector_counted);  // of how many cycles?
  CHECK(nl::analysis::count_flops({{kOp + "ffma_pred_on.sum", 0}}).vector_counted);
  CHECK(nl::analysis::count_flops({{kOp + "ffma_pred_on.sum", 0}}).main_precision().name.empty());
  CHECK_FALSE(nl::analysis::count_flops({{kOp + "ffma_pred_on.sum", std::numeric_limits<double>::quiet_NaN()}}).vector_counted);
  CHECK_FALSE(nl::analysis::count_flops({{kOp + "ffma_pred_on.sum", -1}}).vector_counted);
  CHECK_FALSE(nl::analysis::count_flops({{kTensor + "bf16.sum", -1}}).tensor_counted);
  CHECK_FALSE(nl::analysis::count_flops({{kTensor + "bf16.sum.per_cycle_elapsed", 4}}).tensor_counted);
  CHECK(nl::analysis::count_flops({{kTensor + "bf16.sum", 0}}).tensor_counted);
  CHECK_FALSE(nl::analysis::count_flops({{"sm__cycles_elapsed.avg", 50}}).vector_counted);
  CHECK(nl::analysis::count_flops({{kTensor + "bf16.sum", 0}}).by_precision.empty());
}

TEST_CASE("half-precision instructions of kernels that compute in single precision convert and move values") {
  using nl::KernelClass;
  // A bf16 product of PyTorch, as measured: one multiplication in f32 and three conversions an element.
  const std::map<std::string, double> map = {{kOp + "fmul_pred_on.sum", 131072}, {kOp + "hfma_pred_on.sum", 393216}};
  const auto elementwise = nl::analysis::count_flops(map, KernelClass::kElementwise);
  CHECK(elementwise.main_precision().name == "f32");
  CHECK(elementwise.total() == 131072);
  CHECK(elementwise.vector_counted);
  // A gather: nothing but moves.
  CHECK(nl::analysis::count_flops({{kOp + "hfma_pred_on.sum", 1024}, {kOp + "ffma_pred_on.sum", 0}}, KernelClass::kCopy).total() == 0);
  // Constants that an f32 kernel loads with HFMA2, whatever it is called.
  const auto loop = nl::analysis::count_flops({{kOp + "ffma_pred_on.sum", 5000}, {kOp + "hfma_pred_on.sum", 40}}, KernelClass::kOther);
  CHECK(loop.main_precision().name == "f32");
  CHECK(loop.total() == 10000);
  // Products in half precision stay what they are.
  const auto half = nl::analysis::count_flops({{kOp + "hfma_pred_on.sum", 5000}, {kOp + "fadd_pred_on.sum", 40}}, KernelClass::kGemm);
  CHECK(half.by_precision.at({"f16"}) == 20000);
  const auto scaled =
      nl::analysis::count_flops({{kOp + "hmul_pred_on.sum", 50}, {kOp + "hfma_pred_on.sum", 10}}, KernelClass::kElementwise);
  CHECK(scaled.by_precision.at({"f16"}) == 140);
}

TEST_CASE("each instruction has its FLOPs and its precision, each tensor source the type of its peak") {
  const std::tuple<const char*, const char*, double> ops[] = {{"fadd", "f32", 1}, {"fmul", "f32", 1}, {"ffma", "f32", 2},
                                                              {"hadd", "f16", 2}, {"hmul", "f16", 2}, {"hfma", "f16", 4},
                                                              {"dadd", "f64", 1}, {"dmul", "f64", 1}, {"dfma", "f64", 2}};
  for (const auto& [op, precision, flops] : ops) {
    INFO(op);
    const auto counted = nl::analysis::count_flops({{kOp + op + "_pred_on.sum", 10}});
    CHECK(counted.main_precision().name == precision);
    CHECK(counted.total() == 10 * flops);
    CHECK(counted.main_precision().peak_is_higher == (std::string(precision) == "f16"));
    CHECK(counted.main_precision().peak_dtype == (std::string(precision) == "f64" ? "f64" : "f32"));
  }
  const std::pair<const char*, const char*> sources[] = {{"bf16", "bf16"}, {"fp16", "f16"},        {"tf32", "tf32"},
                                                         {"fp8", "fp8"},   {"fp4", "fp4"},         {"fp64", "f64"},
                                                         {"int8", "int8"}, {"fp4_fp6_fp8", "fp8"}, {"fp3", "fp3"}};
  for (const auto& [source, dtype] : sources) {
    INFO(source);
    const auto main = nl::analysis::count_flops({{kTensor + source + ".sum", 10}}).main_precision();
    CHECK(main.name == std::string("tensor ") + dtype);
    CHECK(main.peak_dtype == dtype);
    CHECK_FALSE(main.peak_is_higher);
  }
}

TEST_CASE("rates become counts by the first cycles that were measured") {
  const std::string rate = kOp + "fadd_pred_on.sum.per_cycle_elapsed";
  std::map<std::string, double> metrics = {{rate, 2}, {"gpc__cycles_elapsed.max", 1000}};
  CHECK(nl::analysis::count_flops(metrics).total() == 2000);
  metrics["gpc__cycles_elapsed.avg"] = 500;
  CHECK(nl::analysis::count_flops(metrics).total() == 1000);
  metrics["sm__cycles_elapsed.avg"] = 400;
  CHECK(nl::analysis::count_flops(metrics).total() == 800);
  metrics["smsp__cycles_elapsed.avg"] = 300;
  CHECK(nl::analysis::count_flops(metrics).total() == 600);
  metrics[kOp + "fadd_pred_on.sum"] = 7;  // the count itself
  CHECK(nl::analysis::count_flops(metrics).total() == 7);
}

#include "analysis/runs/compare/kernel_pairs.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.h"

using namespace nl;
using namespace nl::analysis;

namespace {

PairedKernel kernel(const std::string& name, double time_ns = 1000, double calls = 4) {
  return describe_kernel({name, name, calls, time_ns}, name);
}

PairedKernel launched_at(PairedKernel kernel, const std::string& site, const std::string& layer) {
  kernel.sites.insert(site);
  kernel.layers.insert(layer);
  return kernel;
}

constexpr const char* kVectorAdd =
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3>>(int)";
constexpr const char* kVectorMul =
    "void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, at::native::MulFunctor<float>>>(int)";

KernelMatchUp match_of(const std::vector<KernelMatchUp>& matches, std::size_t a) {
  for (const KernelMatchUp& match : matches)
    if (std::count(match.a.begin(), match.a.end(), a) > 0) return match;
  FAIL("kernel is in no match");
  return {};
}

}  // namespace

TEST_CASE("the words of a kernel's name, its root, and what a compiler fused") {
  CHECK(kernel("CUDAFunctor_add<float>").words == NameWords{"cudafunctor", "add", "float"});
  CHECK(kernel("MulFunctor").words == NameWords{"mul", "functor"});
  CHECK(kernel("void at::native::reduce_kernel<512, 1>(T3)").root == "at::native::reduce_kernel");
  CHECK(kernel("void at::native::(anonymous namespace)::CatArrayBatchedCopy<4>(T1)").root == "at::native::CatArrayBatchedCopy");
  CHECK(kernel("void at::native::<unnamed>::CatArrayBatchedCopy<4>(T1)").root == "at::native::CatArrayBatchedCopy");
  CHECK(kernel("nvjet_sm90_tst_8x64_64x16_2x1_v_bz_TNN").root == "nvjet_sm90_tst_8x64_64x16_2x1_v_bz_TNN");
  CHECK(kernel("triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_3").fused == NameWords{"copy", "add", "mean", "mul", "pow", "rsqrt"});
  CHECK(kernel("vectorized_elementwise_kernel").fused.empty());
}

TEST_CASE("the same symbol is the same kernel, also as another tool spells it") {
  const auto matches = match_kernels({kernel("gemm"), kernel("void at::native::reduce_kernel<(int)512, (int)1>(T3)")},
                                     {kernel("void at::native::reduce_kernel<512, 1>(T3)"), kernel("gemm")});
  REQUIRE(matches.size() == 2);
  for (const KernelMatchUp& match : matches) {
    CHECK(match.paired_by == KernelPairing::kExact);
    CHECK(match.relation == KernelRelation::kSame);
    CHECK(match.fit_for_tuning);
  }
  CHECK(match_of(matches, 0).b == std::vector<std::size_t>{1});
}

TEST_CASE("the same operator, layer and position pair kernels of any name") {
  const auto matches = match_kernels({launched_at(kernel("ampere_sgemm_32x32"), "aten::mm|mlp|0|0", "mlp")},
                                     {launched_at(kernel("nvjet_tst"), "aten::mm|mlp|0|0", "mlp"), kernel("other_thing")});
  const KernelMatchUp match = match_of(matches, 0);
  CHECK(match.paired_by == KernelPairing::kStructure);
  CHECK(match.relation == KernelRelation::kRenamed);
  CHECK(match.b == std::vector<std::size_t>{0});
}

TEST_CASE("other template arguments: renamed by its root; other tiles: by its words") {
  const auto matches = match_kernels(
      {kernel("void cublasLt::splitKreduce_kernel<32, 16, int, float>(T1)"), kernel("nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT")},
      {kernel("nvjet_sm90_tst_128x8_64x16_4x1_v_bz_TNT"), kernel("void cublasLt::splitKreduce_kernel<32, 16, int, half>(T1)")});
  CHECK(match_of(matches, 0).paired_by == KernelPairing::kRoot);
  CHECK(match_of(matches, 0).b == std::vector<std::size_t>{1});
  CHECK(match_of(matches, 1).paired_by == KernelPairing::kTokens);
  CHECK(match_of(matches, 1).relation == KernelRelation::kRenamed);
}

TEST_CASE("kernels that a compiler fused into one are fused, and split the other way round") {
  const std::vector<PairedKernel> eager = {kernel(kVectorAdd), kernel(kVectorMul), kernel("gemm_kernel")};
  const std::vector<PairedKernel> compiled = {kernel("triton_poi_fused_add_mul_0"), kernel("gemm_kernel")};
  const KernelMatchUp fused = match_of(match_kernels(eager, compiled), 0);
  CHECK(fused.relation == KernelRelation::kFused);
  CHECK(fused.a == std::vector<std::size_t>{0, 1});
  CHECK(fused.b == std::vector<std::size_t>{0});
  const KernelMatchUp split = match_of(match_kernels(compiled, eager), 0);
  CHECK(split.relation == KernelRelation::kSplit);
  CHECK(split.b == std::vector<std::size_t>{0, 1});
}

TEST_CASE("products and softmax become one attention kernel: a guess, and unfit for tuning") {
  const std::vector<PairedKernel> apart = {kernel("bmm_gemm_qk"), kernel("void (anonymous namespace)::softmax_warp_forward<float>(T1)"),
                                           kernel("bmm_gemm_pv")};
  const std::vector<PairedKernel> whole = {kernel("flash_fwd_kernel")};
  const KernelMatchUp match = match_of(match_kernels(apart, whole), 0);
  CHECK(match.relation == KernelRelation::kFused);
  CHECK(match.a.size() == 3);
  CHECK_FALSE(match.fit_for_tuning);
}

TEST_CASE("kernels of one layer without any pair belong together") {
  const auto matches =
      match_kernels({launched_at(kernel("first_part"), "a|attn|0|0", "attn"), launched_at(kernel("second_part"), "b|attn|0|0", "attn")},
                    {launched_at(kernel("one_for_all"), "c|attn|0|0", "attn")});
  CHECK(match_of(matches, 0).relation == KernelRelation::kFused);
  CHECK(match_of(matches, 0).paired_by == KernelPairing::kStructure);
  CHECK(match_of(matches, 0).a.size() == 2);
}

TEST_CASE("by rank only kernels of one class that run as often, and never for tuning") {
  const auto matches = match_kernels({kernel("alpha_gemm_x", 5000, 8), kernel("rms_norm_alpha", 100, 8)},
                                     {kernel("xmma_beta", 4000, 8), kernel("topk_other", 90, 8)});
  const KernelMatchUp match = match_of(matches, 0);
  CHECK(match.paired_by == KernelPairing::kRank);
  CHECK_FALSE(match.fit_for_tuning);
  CHECK(match_of(matches, 1).relation == KernelRelation::kRemoved);
  CHECK(std::count_if(matches.begin(), matches.end(), [](const KernelMatchUp& each) { return each.relation == KernelRelation::kAdded; }) ==
        1);
}

TEST_CASE("every kernel is in exactly one match") {
  std::vector<PairedKernel> a, b;
  for (int i = 0; i < 30; ++i) a.push_back(kernel("gemm_" + std::to_string(i), 100.0 * i, 1 + i % 3));
  for (int i = 10; i < 45; ++i)
    b.push_back(kernel(i % 2 ? "gemm_" + std::to_string(i) : "triton_poi_fused_add_" + std::to_string(i), 90.0 * i, 1 + i % 3));
  std::vector<int> seen_a(a.size()), seen_b(b.size());
  for (const KernelMatchUp& match : match_kernels(a, b)) {
    for (const std::size_t i : match.a) ++seen_a[i];
    for (const std::size_t i : match.b) ++seen_b[i];
  }
  CHECK(std::all_of(seen_a.begin(), seen_a.end(), [](int times) { return times == 1; }));
  CHECK(std::all_of(seen_b.begin(), seen_b.end(), [](int times) { return times == 1; }));
}

TEST_CASE("a backward kernel is not a forward one under another name") {
  const char* forward = "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128_4x1x1_cga1x1x1_kernel0_0";
  const char* backward = "cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_knob_26_64x64x128_1x4x1_cga1x1x1_kernel0_0";
  const char* data = "sm90_xmma_dgrad_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x64_execute_kernel__5x_cudnn";
  const char* weights = "sm90_xmma_wgrad_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x64_execute_kernel__5x_cudnn";
  for (const auto& [a, b] :
       {std::pair{backward, forward},
        {data, weights},
        {"void (anonymous namespace)::softmax_warp_forward<float, float, float, 4, true, false>(T2 *)",
         "void (anonymous namespace)::softmax_warp_backward<float, float, float, 4, true, false>(T2 *)"},
        {"void flash::flash_fwd_kernel<Traits<128, 64>>(Params)", "void flash::flash_bwd_kernel<Traits<128, 64>>(Params)"}}) {
    CAPTURE(a, b);
    const auto matches = match_kernels({kernel(a)}, {kernel(b)});
    CHECK(match_of(matches, 0).relation == KernelRelation::kRemoved);
    CHECK(matches.size() == 2);
  }
  // Each finds its own where both are there, whichever takes longer.
  const auto matches =
      match_kernels({kernel(forward, 100), kernel(backward, 900)},
                    {kernel("void flash::flash_bwd_kernel<128>(Params)", 90), kernel("void flash::flash_fwd_kernel<128>(Params)", 800)});
  CHECK(match_of(matches, 0).b == std::vector<std::size_t>{1});
  CHECK(match_of(matches, 1).b == std::vector<std::size_t>{0});
}

TEST_CASE("kernels of operators that do other work, or in the other direction, are no pair") {
  const auto launched_by = [](PairedKernel made, const char* name, OperatorType type) {
    OperatorCall call;
    call.name = name;
    call.type = type;
    made.add_operator(call);
    return made;
  };
  const PairedKernel product = launched_by(kernel("nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT"), "aten::mm", OperatorType::kMatmul);
  const PairedKernel other = kernel("nvjet_sm90_tst_128x8_64x16_4x1_v_bz_TNT");
  CHECK(match_of(match_kernels({product}, {launched_by(other, "aten::addmm", OperatorType::kMatmul)}), 0).relation ==
        KernelRelation::kRenamed);
  CHECK(match_of(match_kernels({product}, {other}), 0).relation == KernelRelation::kRenamed);  // not recorded
  CHECK(match_of(match_kernels({product}, {launched_by(other, "aten::convolution", OperatorType::kConvolution)}), 0).relation ==
        KernelRelation::kRemoved);
  const PairedKernel there = launched_by(kernel("nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT"), "jvp(main)/dot_general", OperatorType::kMatmul);
  CHECK(match_of(match_kernels({there}, {launched_by(other, "transpose(jvp(main))/dot_general", OperatorType::kMatmul)}), 0).relation ==
        KernelRelation::kRemoved);
}

TEST_CASE("at one place of the model a kernel of another kind is no pair") {
  const auto matches = match_kernels({launched_at(kernel("flash_fwd_kernel"), "aten::sdpa|attn|0|0", "attn")},
                                     {launched_at(kernel("nvjet_sm90_tst"), "aten::sdpa|attn|0|0", "attn")});
  CHECK(match_of(matches, 0).relation == KernelRelation::kRemoved);
}

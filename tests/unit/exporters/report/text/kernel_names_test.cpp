#include <fstream>
#include <string>

#include "exporters/report/text/figure_text.h"
#include "exporters/report/text/told_apart_names.h"
#include "tests/catch.h"

using nl::exporters::readable_kernel_name;

TEST_CASE("a kernel's functor, tile and type stand for its name") {
  const auto check = [](const char* name, const char* readable) { CHECK(readable_kernel_name(name) == readable); };
  check(
      "void at::native::vectorized_elementwise_kernel<(int)8, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char *, (unsigned "
      "long)3>>(int, T2, T3)",
      "elementwise add (bf16)");
  check(
      "void at::native::vectorized_elementwise_kernel<8, at::native::BinaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16, "
      "at::native::binary_internal::MulFunctor<float> >, std::array<char*, 3ul> >(int)",
      "elementwise mul (bf16)");
  check(
      "void at::native::elementwise_kernel<(int)128, (int)4, void "
      "at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase &)"
      "::[lambda() (instance 3)]::operator ()() const::[lambda(c10::Half) (instance 1)]>(at::TensorIteratorBase &, const T1 "
      "&)::[lambda(int) (instance 1)]>(int, T3)",
      "elementwise copy (fp16)");
  check(
      "void at::native::reduce_kernel<(int)512, (int)1, at::native::ReduceOp<float, at::native::MeanOps<float, float, float, float>, "
      "unsigned int, float, (int)4, (int)4>>(T3)",
      "reduce mean (fp32)");
  check(
      "void at::native::(anonymous namespace)::CatArrayBatchedCopy<at::native::(anonymous namespace)::OpaqueType<2u>, unsigned int, 4, 64, "
      "64>(char*)",
      "concatenate (2 bytes)");
  check("void at::native::<unnamed>::vectorized_layer_norm_kernel<c10::BFloat16, float, (bool)0>(int, T2)", "layer norm (bf16)");
  check("nvjet_sm90_tst_64x8_64x16_4x1_v_bz_splitK_TNT", "gemm 64x8x64 split-K (nvjet sm90)");
  check("void cutlass::Kernel2<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>(T1::Params)", "gemm 128x32x8 (cutlass fp32)");
  check("ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn", "gemm 128x64x64 (ampere bf16)");
  check("cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x64_4x1x1_cga1x1x1_kernel0_0",
        "attention 64x128x64 (cudnn sm90 fp16)");
  check("triton_poi_fused_add_mul_silu_3", "fused add mul silu (triton)");
  check("std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, __nv_bfloat16>(T1)", "kernel (bf16)");
}

TEST_CASE("a name that says nothing more stays as it is") {
  CHECK(readable_kernel_name("name 262") == "name 262");
  CHECK(readable_kernel_name("decode_attention(float *, int)") == "decode_attention");
  CHECK(readable_kernel_name("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)") ==
        "ncclDevKernel_AllReduce_Sum_bf16_RING_LL");
  CHECK(readable_kernel_name("") == "(no name)");
  for (const char* broken : {"<", "(", "void f<", "void f<(", "::", "a<b", "a>(", "<unnamed", "(anonymous namespace"})
    CHECK_FALSE(readable_kernel_name(broken).empty());
}

TEST_CASE("no name of the real kernels stays a wrapper, and none is longer than a line") {
  std::ifstream file(NL_FIXTURES "/h200-names/kernels.tsv");
  std::size_t names = 0;
  for (std::string line; std::getline(file, line);) {
    const std::string name = line.substr(line.find('\t') + 1, line.rfind('\t') - line.find('\t') - 1);
    const std::string readable = readable_kernel_name(name);
    INFO(name);
    CHECK(readable.size() <= 60);
    CHECK(readable.find('<') == std::string::npos);
    CHECK(readable.find("elementwise kernel") == std::string::npos);
    ++names;
  }
  CHECK(names > 80);
}

TEST_CASE("kernels that read alike are told apart by a word of their own, one kernel stays one name") {
  const std::string vectorized = "void at::native::vectorized_elementwise_kernel<(int)8, at::native::CUDAFunctor_add<c10::BFloat16>>(int)";
  const std::string narrow = "void at::native::vectorized_elementwise_kernel<(int)4, at::native::CUDAFunctor_add<c10::BFloat16>>(int)";
  const std::string unrolled = "void at::native::unrolled_elementwise_kernel<at::native::CUDAFunctor_add<c10::BFloat16>>(int)";
  const std::string gemm = "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_splitK_TNT";
  const auto told = nl::exporters::told_apart_kernel_names({vectorized, unrolled, gemm, vectorized, narrow});
  CHECK(told.at(0) == "elementwise add (bf16), 8");
  CHECK(told.at(1) == "elementwise add (bf16), unrolled_elementwise_kernel");
  CHECK(told.at(2) == readable_kernel_name(gemm));
  CHECK(told.at(3) == told.at(0));
  CHECK(told.at(4) == "elementwise add (bf16), 4");
}

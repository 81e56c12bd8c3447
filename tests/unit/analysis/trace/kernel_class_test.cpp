#include "analysis/trace/kernel_class.h"

#include <map>

#include "parsers/nsys/sqlite.h"
#include "tests/catch.h"

using nl::KernelClass;
using nl::analysis::classify_kernel;

TEST_CASE("kernels of PyTorch, its libraries and other engines by what they do") {
  const std::pair<const char*, KernelClass> known[] = {
      {"void at::native::vectorized_elementwise_kernel<(int)4, at::native::CUDAFunctorOnSelf_add<float>, std::array<char *, (unsigned "
       "long)2>>(int, T2, T3)",
       KernelClass::kElementwise},
      {"void at::native::vectorized_elementwise_kernel<(int)8, at::native::<unnamed>::silu_kernel(at::TensorIteratorBase &)::[lambda() "
       "(instance 1)]>(int, T2, T3)",
       KernelClass::kElementwise},
      {"void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase &)::[lambda() (instance "
       "3)]>(int)",
       KernelClass::kCopy},
      {"void at::native::vectorized_elementwise_kernel<(int)4, at::native::FillFunctor<float>, std::array<char *, (unsigned long)1>>(int, "
       "T2, T3)",
       KernelClass::kCopy},
      {"void at::native::index_elementwise_kernel<(int)128, (int)4, void at::native::gpu_index_kernel<void "
       "at::native::index_put_kernel_impl<at::native::OpaqueType<(int)2>>(at::TensorIterator &)>>(long)",
       KernelClass::kCacheCopy},
      {"void at::native::<unnamed>::CatArrayBatchedCopy<at::native::<unnamed>::OpaqueType<(unsigned int)2>, unsigned int, (int)4, (int)64, "
       "(int)64>(T1 *)",
       KernelClass::kCacheCopy},
      {"void (anonymous namespace)::CatArrayBatchedCopy_vectorized<float>(char*)", KernelClass::kCacheCopy},
      {"void at::native::reduce_kernel<(int)512, (int)1, at::native::ReduceOp<float, at::native::MeanOps<float, float, float, float>>>(T3)",
       KernelClass::kReduce},
      {"void <unnamed>::softmax_warp_forward<float, float, float, (int)5>(T2 *)", KernelClass::kReduce},
      {"void at::native::<unnamed>::vectorized_layer_norm_kernel<float, float>(int)", KernelClass::kNorm},
      {"void at::native::<unnamed>::distribution_elementwise_grid_stride_kernel<float, (int)4, void "
       "at::native::templates::cuda::normal_kernel>(long)",
       KernelClass::kElementwise},
      {"nvjet_sm90_tst_64x8_64x16_4x1_v_bz_splitK_TNT", KernelClass::kGemm},
      {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_execute_kernel__5x_cublas", KernelClass::kGemm},
      {"void cutlass::Kernel2<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>(T1::Params)", KernelClass::kGemm},
      {"void gemv2T_kernel_val<int, int, float, float, float, float, (int)128>(T1)", KernelClass::kGemm},
      {"void cublasLt::splitKreduce_kernel<(int)32, (int)16, int, float>(T1)", KernelClass::kGemm},
      {"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x64_4x1x1_cga1x1x1_kernel0_0", KernelClass::kAttention},
      {"void pytorch_flash::flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<(int)64>>(Flash_fwd_params)", KernelClass::kAttention},
      {"fmha_cutlassF_f16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel::Params)", KernelClass::kAttention},
      {"void cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnFwdSm90>>(T1::Params)", KernelClass::kAttention},
      {"void vllm::paged_attention_v1_kernel<float>(float *)", KernelClass::kAttention},
      {"void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16>(T1 *)", KernelClass::kCacheCopy},
      {"void vllm::act_and_mul_kernel<c10::BFloat16>(T1 *)", KernelClass::kElementwise},
      {"void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long)", KernelClass::kElementwise},
      {"void vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(T1 *)", KernelClass::kNorm},
      {"triton_poi_fused_add_mul_silu_3", KernelClass::kElementwise},
      {"triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_0", KernelClass::kNorm},
      {"triton_per_fused__softmax_1", KernelClass::kReduce},
      {"triton_tem_fused_mm_5", KernelClass::kGemm},
      {"mul_mat_vec_q<(ggml_type)8, 1>(void const*)", KernelClass::kGemm},
      // workloads/llm_kernels.cuh
      {"nl::llm::embed_rows(float *, const float *, const int *, int)", KernelClass::kCopy},
      {"nl::llm::rms_norm_rows(float *, const float *, const float *, int, float)", KernelClass::kNorm},
      {"nl::llm::gemv(float *, const float *, const float *, int, int)", KernelClass::kGemm},
      {"nl::llm::gemm(float *, const float *, const float *, int, int, int)", KernelClass::kGemm},
      {"nl::llm::rope(float *, float *, const int *, int, float)", KernelClass::kElementwise},
      {"nl::llm::store_values(float *, const float *, const int *, int)", KernelClass::kCacheCopy},
      {"nl::llm::attention(float *, const float *, const float *, const float *, const int *, int, int)", KernelClass::kAttention},
      {"nl::llm::silu_multiply(float *, const float *, int)", KernelClass::kElementwise},
      {"nl::llm::argmax(int *, const float *, int)", KernelClass::kReduce},
      {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)", KernelClass::kCommunication},
      {"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm *, unsigned long, ncclWork *)", KernelClass::kCommunication},
      {"ncclSymDevKernel_ReduceScatter_LD_sum_bf16(ncclSymDevArgs)", KernelClass::kCommunication},
      {"void nvshmemi_signal_op_kernel<(bool)1>(unsigned long *)", KernelClass::kCommunication},
      {"void deep_ep::intranode::dispatch<(int)8, (int)768>(int4 *, float *)", KernelClass::kCommunication},
      {"void vllm::cross_device_reduce_1stage<__nv_bfloat16, (int)8>(vllm::RankData *)", KernelClass::kCommunication},
      {"void <unnamed>::two_shot_all_reduce_kernel<c10::BFloat16, (int)8>(T1 *)", KernelClass::kCommunication},
      {"void tensorrt_llm::kernels::oneShotAllReduceKernel<__half, (int)4>(AllReduceParams)", KernelClass::kCommunication},
      {"triton_poi_fused_all_reduce_wait_tensor_3", KernelClass::kElementwise},
      {"void cutlass::device_kernel<flash::enable_sm90<nvshmem_thing>>(T1)", KernelClass::kAttention},
      {"void at::native::reduce_kernel<(int)512, at::native::all_reduce_functor>(T3)", KernelClass::kReduce},
      {"my_own_kernel(float *)", KernelClass::kOther},
      {"", KernelClass::kOther},
      {"<", KernelClass::kOther},
      {"void foo<", KernelClass::kOther},
  };
  for (const auto& [name, expected] : known) {
    INFO(name);
    CHECK(static_cast<int>(classify_kernel(name)) == static_cast<int>(expected));
  }
}

TEST_CASE("nearly all kernels of a real capture have a class") {
  const auto trace = nl::parsers::read_nsys_sqlite(NL_FIXTURES "/h200-llama/nsys.sqlite");
  std::map<KernelClass, int> kernels;
  for (const auto& kernel : trace.kernels) ++kernels[classify_kernel(trace.strings[trace.shapes[kernel.shape].name])];
  CHECK(kernels[KernelClass::kOther] == 0);
  for (const auto kind : {KernelClass::kGemm, KernelClass::kAttention, KernelClass::kElementwise, KernelClass::kCopy,
                          KernelClass::kCacheCopy, KernelClass::kReduce})
    CHECK(kernels[kind] > 0);
}

TEST_CASE("collectives by their kernels' names") {
  using nl::Collective;
  const std::pair<const char*, Collective> known[] = {
      {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)", Collective::kAllReduce},
      {"ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclDevComm *, unsigned long, ncclWork *)", Collective::kAllGather},
      {"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(x)", Collective::kReduceScatter},
      {"ncclDevKernel_Reduce_Sum_f32_RING_LL(x)", Collective::kReduce},
      {"ncclDevKernel_Broadcast_RING_LL(x)", Collective::kBroadcast},
      {"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<(unsigned long)4096>)", Collective::kSendRecv},
      {"ncclDevKernel_Generic_4(x)", Collective::kOther},
      {"void deep_ep::internode::combine<(int)8, __nv_bfloat16>(T2 *)", Collective::kAllToAll},
      {"void deep_ep::intranode::dispatch<(int)8, (int)768>(int4 *, float *)", Collective::kAllToAll},
      {"ncclDevKernel_AllToAll_RING_LL(x)", Collective::kAllToAll},
      {"void vllm::cross_device_reduce_2stage<__half, (int)4>(vllm::RankData *)", Collective::kAllReduce},
      {"void <unnamed>::one_shot_all_reduce_kernel<c10::BFloat16, (int)8>(T1 *)", Collective::kAllReduce},
      {"void flashinfer::trtllm_alltoall::moe_all_to_all_kernel<(int)8>(int)", Collective::kAllToAll},
  };
  for (const auto& [name, expected] : known) {
    INFO(name);
    CHECK(nl::analysis::classify_kernel(name) == KernelClass::kCommunication);
    CHECK(nl::analysis::collective_of(name) == expected);
  }
}

TEST_CASE("the function of a kernel's name: without scopes, arguments and parameters") {
  const std::pair<const char*, const char*> known[] = {{"void at::native::reduce_kernel<(int)512, a::b<c>>(T3)", "reduce_kernel"},
                                                       {"void <unnamed>::softmax<float>(T2 *)", "softmax"},
                                                       {"(anonymous namespace)::copy(char*)", "copy"},
                                                       {"gemm(float *, int)", "gemm"},
                                                       {"nvjet_sm90_tst", "nvjet_sm90_tst"},
                                                       {"", ""}};
  for (const auto& [name, function] : known) {
    INFO(name);
    CHECK(nl::analysis::kernel_function(name) == function);
  }
}

TEST_CASE("each word that tells a class does so") {
  const std::pair<KernelClass, std::vector<const char*>> words[] = {
      {KernelClass::kCacheCopy,
       {"reshape_and_cache_kernel", "concat_and_cache_mla", "CatArrayBatchedCopy", "index_put_kernel", "index_copy_kernel",
        "copy_blocks_kernel", "store_values", "store_kv_cache", "append_paged_kv_cache", "triton_poi_fused_cat_0",
        "triton_poi_fused_index_put_1", "triton_poi_fused_index_copy_2"}},
      {KernelClass::kCopy,
       {"copy_kernel", "cpy_f32_f16", "fill_zeros", "memset32", "transpose_kernel", "vectorized_gather_kernel", "scatter_kernel",
        "indexSelectSmallIndex", "index_select", "embed_rows", "k_get_rows", "repeat_rows", "triton_poi_fused_gather_0",
        "elementwise_kernel<index_kernel>", "elementwise_kernel<FillFunctor>", "elementwise_kernel<fill_kernel_cuda>",
        "elementwise_kernel<direct_copy_kernel_cuda>"}},
      {KernelClass::kAttention,
       {"sdpa_fwd", "fmha_v2", "flash_fwd", "paged_attention_v2", "attn_fwd", "BatchDecodeWithPagedKVCacheKernel", "mla_decode_kernel"}},
      {KernelClass::kGemm,
       {"sgemm_128", "gemvNSP", "nvjet_tst", "cutlass_80_wmma", "sm80_xmma_x", "matmul_kernel", "mul_mat_q", "splitKreduce",
        "fused_moe_kernel", "Marlin", "triton_mm", "triton_tem_fused_mm", "triton_tem_fused_addmm_1", "triton_tem_fused_bmm_2",
        "dot_kernel"}},
      {KernelClass::kReduce,
       {"reduce_1Block", "softmax_warp", "soft_max_f32", "argmax_kernel", "topk_stage1", "radixSort", "DeviceScanKernel", "cumsum_kernel",
        "multinomial_sample", "triton_red_fused_1", "triton_per_fused_2", "k_sum_rows_f32", "top_p_sampling"}},
      {KernelClass::kElementwise, {"silu_and_mul", "gelu_tanh", "relu_kernel", "swiglu", "act_and_mul_kernel"}},
      {KernelClass::kNorm, {"rms_norm_kernel", "triton_red_fused_mean_rsqrt_0", "triton_per_fused_rsqrt_var_1", "layernorm"}}};
  for (const auto& [kind, names] : words)
    for (const std::string name : names) {
      INFO(name);
      CHECK(static_cast<int>(classify_kernel(name)) == static_cast<int>(kind));
    }
  for (const char* name :
       {"rope_kernel", "rotary_embedding", "bin_bcast", "unary_op_kernel", "quantize_q8", "scale_f32", "pointwise_op", "advance_step"}) {
    INFO(name);
    CHECK(classify_kernel(name) == KernelClass::kElementwise);
  }
  CHECK(classify_kernel("normal_kernel") == KernelClass::kOther);  // random numbers, no norm
  CHECK(classify_kernel("rsqrt_mean") == KernelClass::kOther);
}

TEST_CASE("Products of experts are told by the names that libraries and engines give them") {
  using nl::analysis::is_expert_product;
  for (const char* name : {
           "fused_moe_kernel",
           "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cutlass::gemm::GroupProblemShape<cute::tuple<int, int, "
           "int>>>>",
           "void tensorrt_llm::kernels::cutlass_kernels::MoeFCGemm<__nv_bfloat16>(Params)",
           "void deep_gemm::sm90_fp8_gemm_1d2d_impl<(unsigned int)0, (unsigned int)4096, (deep_gemm::GemmType)1>(float *)",
           "void marlin_moe_wna16::Marlin<(long)1125899906909960>(int4 const *)",
           "_grouped_gemm_kernel",
           "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x256x128",
           "bmm_Bfloat16_E4m3E4m3_Fp32_t128x8x128_s8_et64x8_m64x8x32_cga1x1x1_16dp256b_TN_transOut_schS_dynBatch_sm100f",
       }) {
    INFO(name);
    CHECK(is_expert_product(name));
  }
  for (const char* name : {
           "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN",
           "void deep_gemm::sm90_fp8_gemm_1d2d_impl<(unsigned int)0, (unsigned int)4096, (deep_gemm::GemmType)0>(float *)",
           "void vllm::moe::topkGatingSoftmax<(int)8, (int)128>(float const *)",
           "void vllm::moe::moe_align_block_size_kernel<int>(int const *)",
           "void at::native::vectorized_elementwise_kernel<(int)4, at::native::GeluCUDAKernel>(int)",
           "flash_fwd_splitkv_kernel",
       }) {
    INFO(name);
    CHECK_FALSE(is_expert_product(name));
  }
}

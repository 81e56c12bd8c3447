#include "analysis/trace/kernel_direction.h"

#include <string>

#include "tests/catch.h"

using namespace nl::analysis;

TEST_CASE("direction: kernels of cuDNN and CUTLASS, as H200 captures name them") {
  using enum Direction;
  CHECK(direction_of("cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128_4x1x1_cga1x1x1_kernel0_0") == kForward);
  CHECK(direction_of("cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_knob_26_64x64x128_1x4x1_cga1x1x1_kernel0_0") ==
        kBackward);
  CHECK(direction_of("sm90_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x64_execute_kernel__5x_cudnn") ==
        kForward);
  CHECK(direction_of("sm90_xmma_dgrad_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x32_execute_kernel__5x_cudnn") ==
        kDataGradient);
  CHECK(direction_of("sm90_xmma_wgrad_indexed_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_execute_split_k_kernel__5x_cudnn") ==
        kWeightGradient);
  CHECK(direction_of("void cutlass__5x_cudnn::Kernel<cutlass_tensorop_bf16_s16816fprop_optimized_bf16_128x128_32x5_nhwc_align8>(T1)") ==
        kForward);
  CHECK(direction_of("void cutlass::Kernel<cutlass::conv::kernel::ImplicitGemmConvolution<Conv2dWgradOutputGradientTileAccessIterator>>") ==
        kWeightGradient);
  CHECK(direction_of("void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, 512>(T1)") == kForward);
  CHECK(direction_of("void cudnn::bn_bw_1C11_kernel_new<float, float, float2, 512>(T1)") == kBackward);
  CHECK(direction_of("void LSTM_elementWise_bp1<__half, __half, float, 1>(int)") == kBackward);
}

TEST_CASE("direction: attention kernels and their helpers") {
  using enum Direction;
  CHECK(direction_of("void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4>>(Flash_fwd_params)") == kForward);
  CHECK(direction_of("void flash::flash_fwd_splitkv_combine_kernel<Flash_fwd_kernel_traits<128>>(Flash_fwd_params)") == kForward);
  CHECK(direction_of("void flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<128>>(Flash_bwd_params)") ==
        kBackward);
  CHECK(
      direction_of("void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<flash::CollectiveMainloopFwdSm90>>>") ==
      kForward);
  CHECK(
      direction_of("void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnBwdSm90<flash::CollectiveMainloopBwdSm90>>>") ==
      kBackward);
  CHECK(direction_of("fmha_cutlassF_bf16_aligned_64x128_rf_sm80(PyTorchMemEffAttention::AttentionKernel<cutlass::bfloat16_t>::Params)") ==
        kForward);
  CHECK(direction_of("fmha_cutlassB_bf16_aligned_64x64_k64_sm80(PyTorchMemEffAttention::AttentionBackwardKernel<cutlass::bfloat16_t>)") ==
        kBackward);
  CHECK(direction_of("_attn_fwd") == kForward);
  CHECK(direction_of("_attn_bwd_preprocess") == kBackward);
}

TEST_CASE("direction: kernels of PyTorch, Triton, Inductor and Transformer Engine") {
  using enum Direction;
  CHECK(
      direction_of("void at::native::vectorized_elementwise_kernel<8, at::native::GeluBackwardCUDAKernelImpl(at::TensorIteratorBase&)>") ==
      kBackward);
  CHECK(direction_of("void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, float, LogSoftMaxForwardEpilogue>(T1)") == kForward);
  CHECK(direction_of("void at::native::(anonymous namespace)::cunn_SoftMaxBackward<8, float, LogSoftMaxBackwardEpilogue>(T1)") ==
        kBackward);
  CHECK(direction_of("void (anonymous namespace)::softmax_warp_backward<float, float, float, 4, true, false>(T2 *)") == kBackward);
  CHECK(direction_of("void at::native::nll_loss_forward_reduce_cuda_kernel_2d<float, float, long>(T1 *)") == kForward);
  CHECK(direction_of("void at::native::layer_norm_grad_input_kernel_vectorized<float, float>(T1 *)") == kBackward);
  CHECK(direction_of("void at::native::GammaBetaBackwardCUDAKernelTemplate<float, float, 32, 32, 256>(long)") == kBackward);
  CHECK(direction_of("triton_poi_fused_gelu_backward_2") == kBackward);
  CHECK(direction_of("triton_red_fused_native_layer_norm_native_layer_norm_backward_5") == kBackward);
  CHECK(direction_of("_layer_norm_fwd_fused") == kForward);
  CHECK(direction_of("_rms_norm_backward_kernel") == kBackward);
  CHECK(direction_of("void transformer_engine::normalization::rmsnorm_bwd_tuned_kernel<Kernel_traits<bf16>>(T1)") == kBackward);
}

TEST_CASE("direction: operators of PyTorch and of JAX") {
  using enum Direction;
  CHECK(direction_of("autograd::engine::evaluate_function: MmBackward0") == kBackward);
  CHECK(direction_of("aten::_scaled_dot_product_flash_attention_backward") == kBackward);
  CHECK(direction_of("aten::_cudnn_attention_forward") == kForward);
  CHECK(direction_of("jit(train_step)/transpose(jvp(Block))/dot_general") == kBackward);
  CHECK(direction_of("jit(train_step)/jvp(Block)/dot_general") == kForward);
}

TEST_CASE("direction: names that do not say it") {
  using enum Direction;
  for (const char* name : {"nvjet_sm90_tst_8x64_64x16_2x1_v_bz_TNN", "ampere_sgemm_128x64_tn", "loop_add_fusion", "input_reduce_fusion_3",
                           "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)",
                           "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int)",
                           "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096>)", "feed_forward_kernel",
                           "FeedForwardGemm", "triton_poi_fused_add_mul_3", ""}) {
    CAPTURE(name);
    CHECK(direction_of(name) == kUnknown);
  }
}

TEST_CASE("direction: which may be the same") {
  using enum Direction;
  CHECK(same_direction(kForward, kUnknown));  // a forward kernel need not say so
  CHECK_FALSE(same_direction(kBackward, kUnknown));
  CHECK_FALSE(same_direction(kForward, kBackward));
  CHECK_FALSE(same_direction(kDataGradient, kWeightGradient));
  CHECK(same_direction(kBackward, kWeightGradient));
  CHECK_FALSE(opposed(kBackward, kUnknown));
  CHECK(opposed(kWeightGradient, kForward));
  CHECK(opposed(kDataGradient, kWeightGradient));
}

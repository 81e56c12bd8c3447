#include "analysis/operators/types.h"

#include "model/words.h"
#include "tests/catch.h"

using nl::key_of;
using nl::analysis::operator_type;

TEST_CASE("operators of every backend have one of the few types") {
  const std::pair<const char*, const char*> known[] = {
      {"aten::mm", "matmul"}, {"aten::addmm", "matmul"}, {"aten::linear", "matmul"}, {"aten::_scaled_mm", "matmul"}, {"Gemm", "matmul"}, {"MatMul", "matmul"},
      {"MatrixMultiply", "matmul"}, {"_C::cutlass_scaled_mm", "matmul"}, {"aten::scaled_dot_product_attention", "attention"},
      {"aten::_scaled_dot_product_flash_attention", "attention"}, {"aten::_flash_attention_forward", "attention"}, {"vllm::unified_attention_with_output", "attention"},
      {"flash_attn::_flash_attn_forward", "attention"}, {"GroupQueryAttention", "attention"}, {"aten::native_layer_norm", "norm"}, {"aten::rms_norm", "norm"},
      {"_C::fused_add_rms_norm", "norm"}, {"SimplifiedLayerNormalization", "norm"}, {"aten::silu", "activation"}, {"aten::gelu", "activation"},
      {"_C::silu_and_mul", "activation"}, {"Sigmoid", "activation"}, {"aten::add_", "elementwise"}, {"aten::mul", "elementwise"}, {"aten::add.Tensor", "elementwise"},
      {"aten::rsqrt", "elementwise"}, {"PointWise", "elementwise"}, {"aten::fill_", "elementwise"}, {"_C::rotary_embedding", "elementwise"}, {"aten::mean", "reduction"},
      {"ReduceMean", "reduction"}, {"aten::_softmax", "softmax"}, {"SoftMax", "softmax"}, {"aten::embedding", "embedding"}, {"aten::conv2d", "convolution"},
      {"aten::cudnn_convolution", "convolution"}, {"Conv", "convolution"}, {"aten::copy_", "copy"}, {"aten::clone", "copy"}, {"aten::cat", "copy"},
      {"Concat", "copy"}, {"Reformat", "copy"}, {"aten::to", "cast"}, {"aten::_to_copy", "cast"}, {"Cast", "cast"}, {"QuantizeLinear", "cast"}, {"aten::view", "shape"},
      {"aten::transpose", "shape"}, {"aten::t", "shape"}, {"aten::as_strided", "shape"}, {"aten::empty", "shape"}, {"Unsqueeze", "shape"}, {"Shuffle", "shape"},
      {"aten::index_select", "index"}, {"aten::index_put_", "index"}, {"Gather", "index"}, {"aten::argmax", "sampling"}, {"aten::multinomial", "sampling"},
      {"aten::topk", "sampling"}, {"c10d::allreduce_", "collective"}, {"nccl:all_reduce", "collective"}, {"_c10d_functional::all_gather_into_tensor", "collective"},
      {"vllm::all_reduce", "collective"}, {"triton_poi_fused_add_mul_0", "fused"}, {"## Call CompiledFxGraph fabc ##", "fused"}, {"Myelin", "fused"},
      {"{ForeignNode[a...b]}", "fused"}, {"_C_cache_ops::reshape_and_cache_flash", "cache"}, {"vllm::moe_forward", "moe"}, {"_moe_C::topk_softmax", "softmax"},
      {"aten::_grouped_mm", "moe"},
      {"FusedMatMul", "matmul"}, {"QLinearMatMul", "matmul"}, {"MatMulNBits", "matmul"}, {"SkipLayerNormalization", "norm"}, {"Attention", "attention"},
      {"Transpose", "shape"}, {"Reshape", "shape"}, {"If", "control_flow"}, {"Loop", "control_flow"}, {"Scan", "control_flow"}, {"TripLimit", "control_flow"},
      {"MemcpyToHost", "copy"}, {"MemcpyFromHost", "copy"}, {"Resize", "copy"}, {"aten::resize_", "shape"}, {"Split", "shape"}, {"LSTM", "fused"},
      {"gemm", "matmul"}, {"kgen", "fused"}, {"Convolution", "convolution"}, {"CaskConvolution", "convolution"}, {"ElementWise", "elementwise"},
      {"ParametricReLU", "activation"}, {"PluginV2", "fused"}, {"QMoE", "moe"}, {"DynamicQuantizeLinear", "cast"}, {"GatherND", "index"},
      {"my_op", "other"}, {"", "other"}, {"__", "other"}, {"aten::", "other"},
  };
  for (const auto& [name, type] : known) {
    INFO(name);
    CHECK(key_of(operator_type(name)) == type);
  }
}

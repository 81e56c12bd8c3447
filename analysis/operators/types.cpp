#include "analysis/operators/types.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace nl::analysis {
namespace {

using Type = OperatorType;

struct Names {
  Type type;
  std::string_view words;  // as bare_name() leaves them, separated by blanks
};

constexpr std::array<Names, 17> kNames = {{
    {Type::kMatmul, "mm addmm bmm baddbmm addbmm addmv mv dot vdot matmul linear einsum scaled_mm int_mm addmm_activation weight_int4pack_mm "
                    "gemm matmulinteger matmulnbits matmulfpq4 qlinearmatmul fusedmatmul matrixmultiply fullyconnected awq_gemm marlin_gemm "
                    "cutlass_scaled_mm machete_mm"},
    {Type::kAttention, "groupqueryattention multiheadattention decodermaskedmultiheadattention qattention unified_attention paged_attention_v1 "
                       "paged_attention_v2 varlen_fwd fwd_kvcache"},
    {Type::kNorm, "layernormalization simplifiedlayernormalization skiplayernormalization skipsimplifiedlayernormalization rmsnormalization "
                  "groupnormalization batchnormalization instancenormalization normalization batch_norm instance_norm group_norm"},
    {Type::kActivation, "relu relu6 leaky_relu leakyrelu prelu elu celu selu gelu fastgelu quickgelu biasgelu silu swish hardswish hardsigmoid mish glu softplus "
                        "threshold sigmoid tanh silu_and_mul gelu_and_mul gelu_new gelu_fast activation"},
    {Type::kElementwise, "add sub rsub mul div floor_divide remainder fmod pow square neg exp exp2 expm1 log log2 log1p sqrt rsqrt reciprocal abs sign sin cos "
                         "erf floor ceil round clip clamp clamp_min clamp_max maximum minimum where masked_fill eq ne lt le gt ge equal less greater "
                         "lessorequal greaterorequal logical_and logical_or logical_not logical_xor bitwise_and bitwise_or bitwise_not and or not "
                         "isnan isinf isin addcmul addcdiv lerp tril triu trilu dropout native_dropout fill zero arange range full full_like ones ones_like "
                         "zeros zeros_like linspace eye constantofshape pointwise elementwise unary rotary_embedding rotaryembedding apply_rotary nan_to_num "
                         "normal uniform rand randn scale bernoulli"},
    {Type::kReduction, "sum mean amax amin max min prod any all norm linalg_vector_norm var std var_mean cumsum cumprod logsumexp count_nonzero "
                       "reducesum reducemean reducemax reducemin reduceprod reducel2 reduce max_pool2d avg_pool2d adaptive_avg_pool2d globalaveragepool pooling bincount "
                       "histc unique unique2 is_nonzero"},
    {Type::kSoftmax, "softmax log_softmax logsoftmax safe_softmax"},
    {Type::kEmbedding, "embedding embedding_bag embedlayernormalization"},
    {Type::kConvolution, "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv convtranspose convolution deconvolution cudnn_convolution "
                         "cudnn_convolution_relu slow_conv2d_forward thnn_conv2d qlinearconv fusedconv causal_conv1d_fwd causal_conv1d_update"},
    {Type::kCopy, "copy clone contiguous cat concat stack repeat repeat_interleave tile pad constant_pad_nd roll flip lift_fresh_copy memcpyfromhost "
                  "memcpytohost memcpy memset reformat concatenation"},
    {Type::kCast, "to to_copy type_as cast float half bfloat16 double quantizelinear dequantizelinear dynamicquantizelinear scaled_fp8_quant "
                  "static_scaled_fp8_quant dynamic_scaled_fp8_quant fake_quantize quantize dequantize"},
    {Type::kShape, "view reshape reshape_alias unsafe_view view_as transpose swapaxes permute t mt numpy_t expand expand_as slice select unsqueeze squeeze flatten "
                   "unflatten as_strided split split_with_sizes unsafe_split chunk narrow detach alias unbind movedim size shape result_type resolve_conj resolve_neg "
                   "lift_fresh empty empty_like empty_strided new_empty empty_permuted resize set broadcast_tensors broadcast_to meshgrid identity shuffle conj real "
                   "view_as_complex view_as_real item local_scalar_dense is_same_size atleast_1d ravel constant"},
    {Type::kIndex, "index index_select gather gathernd gatherelements index_put index_put_impl index_add index_copy index_fill scatter scatter_add scatter_reduce "
                   "scatternd scatterelements take take_along_dim masked_select masked_scatter nonzero nonzero_numpy searchsorted bucketize onehot one_hot"},
    {Type::kSampling, "argmax argmin topk sort argsort multinomial exponential top_k_top_p_sampling_from_probs gumbel_softmax"},
    {Type::kCollective, "allreduce allgather reducescatter broadcast alltoall barrier send recv isend irecv allreduce_ allgather_into_tensor reduce_scatter_tensor "
                        "wait_tensor"},
    {Type::kFused, "compiledfxgraph compiledfunction myelin kgen foreignnode fusedgraph"},
    {Type::kCache, "reshape_and_cache reshape_and_cache_flash concat_and_cache_mla copy_blocks swap_blocks append_paged_kv_cache update_kv_cache kv_cache_update"},
}};

// Names that makers of libraries vary: what they contain says it, the first that applies.
struct Part {
  Type type;
  std::string_view part;
};
constexpr auto kParts = std::to_array<Part>({
    {Type::kFused, "triton_"},
    {Type::kFused, "compiledfxgraph"},
    {Type::kFused, "compiled_region"},
    {Type::kFused, "compiledfunction"},
    {Type::kFused, "foreignnode"},
    {Type::kFused, "myelin"},
    {Type::kMoe, "moe"},
    {Type::kMoe, "grouped_mm"},
    {Type::kMoe, "grouped_gemm"},
    {Type::kCollective, "nccl"},
    {Type::kCollective, "all_reduce"},
    {Type::kCollective, "all_gather"},
    {Type::kCollective, "reduce_scatter"},
    {Type::kCollective, "all_to_all"},
    {Type::kCache, "and_cache"},
    {Type::kCache, "kv_cache"},
    {Type::kAttention, "attention"},
    {Type::kAttention, "flash_attn"},
    {Type::kAttention, "_attn"},
    {Type::kAttention, "_mha"},
    {Type::kNorm, "rms_norm"},
    {Type::kNorm, "rmsnorm"},
    {Type::kNorm, "layer_norm"},
    {Type::kNorm, "layernorm"},
    {Type::kConvolution, "convolution"},
    {Type::kMatmul, "gemm"},
    {Type::kMatmul, "matmul"},
    {Type::kMatmul, "scaled_mm"},
    {Type::kSoftmax, "softmax"},
    {Type::kEmbedding, "embedding"},
});

// "aten::_softmax" → softmax, "aten::add_" → add, "aten::mul.Tensor" → mul, "Gemm" → gemm.
std::string bare_name(std::string_view name) {
  if (const auto space = name.rfind("::"); space != std::string_view::npos) name.remove_prefix(space + 2);
  name = name.substr(0, name.find('.'));
  while (!name.empty() && name.front() == '_') name.remove_prefix(1);
  while (!name.empty() && name.back() == '_') name.remove_suffix(1);
  std::string bare(name);
  std::transform(bare.begin(), bare.end(), bare.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return bare;
}

bool is_word_of(std::string_view words, std::string_view word) {
  for (std::size_t at = words.find(word); at != std::string_view::npos; at = words.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' ')) return true;
  }
  return false;
}

}  // namespace

OperatorType operator_type(std::string_view name) {
  const std::string bare = bare_name(name);
  if (bare.empty()) return Type::kOther;
  if (name.starts_with("c10d::") || name.starts_with("nccl:")) return Type::kCollective;
  for (const Names& names : kNames)
    if (is_word_of(names.words, bare)) return names.type;
  for (const Part& part : kParts)
    if (bare.find(part.part) != std::string::npos) return part.type;
  return Type::kOther;
}

}  // namespace nl::analysis

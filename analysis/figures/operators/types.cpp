#include "analysis/figures/operators/types.h"

#include <algorithm>
#include <cctype>

namespace nl::analysis {
namespace {

using Type = OperatorType;

struct TypeNames {
  Type type;
  std::string_view words;  // as bare_name() leaves them, separated by blanks
};

// PyTorch's names without their namespace, ONNX's operator types (com.microsoft's among them) and TensorRT's layer types.
constexpr TypeNames kNames[] = {
    {Type::kMatmul,
     "mm addmm bmm baddbmm addbmm addmv mv dot vdot matmul linear einsum scaled_mm int_mm addmm_activation weight_int4pack_mm gemm "
     "matmulinteger matmulnbits matmulfpq4 qlinearmatmul fusedmatmul matrixmultiply fullyconnected awq_gemm marlin_gemm "
     "cutlass_scaled_mm machete_mm qgemm fusedgemm gemmfastgelu gemmfloat8 transposematmul dynamicquantizematmul matmulintegertofloat "
     "matmulbnb4 fusedmatmulactivation matrix_multiply gemm_bias addr ger inner outer chain_matmul multi_dot mkldnn_linear fc"},
    {Type::kAttention,
     "groupqueryattention multiheadattention decodermaskedmultiheadattention qattention unified_attention paged_attention_v1 "
     "paged_attention_v2 varlen_fwd fwd_kvcache attention packedattention packedmultiheadattention longformerattention pagedattention "
     "sparseattention decoderattention linearattention mha"},
    {Type::kNorm,
     "layernormalization simplifiedlayernormalization skiplayernormalization skipsimplifiedlayernormalization rmsnormalization "
     "groupnormalization batchnormalization instancenormalization normalization batch_norm instance_norm group_norm lrn lpnormalization "
     "meanvariancenormalization groupnorm skipgroupnorm normalize skiplayernorm biassplitlayernorm local_response_norm"},
    {Type::kActivation,
     "relu relu6 leaky_relu leakyrelu prelu elu celu selu gelu fastgelu quickgelu biasgelu silu swish hardswish hardsigmoid mish glu "
     "softplus threshold sigmoid tanh silu_and_mul gelu_and_mul gelu_new gelu_fast activation hardtanh softsign thresholdedrelu hardmax "
     "shrink log_sigmoid quicksilu biassplitgelu parametricrelu qlinearsigmoid qlinearleakyrelu swiglu rrelu"},
    {Type::kElementwise,
     "add sub rsub random affinegrid blackmanwindow hammingwindow hannwindow complexmul mul div floor_divide remainder fmod pow square "
     "neg exp exp2 expm1 log log2 log1p sqrt rsqrt reciprocal abs sign sin cos erf floor ceil round clip clamp clamp_min clamp_max "
     "maximum minimum where masked_fill eq ne lt le gt ge equal less greater lessorequal greaterorequal logical_and logical_or "
     "logical_not logical_xor bitwise_and bitwise_or bitwise_not and or not isnan isinf isin addcmul addcdiv lerp tril triu trilu "
     "dropout native_dropout fill zero arange range full full_like ones ones_like zeros zeros_like linspace eye constantofshape "
     "pointwise pointwisev2 elementwise unary rotary_embedding rotaryembedding apply_rotary nan_to_num normal uniform rand randn scale "
     "bernoulli xor mod bitwiseand bitwiseor bitwisexor bitwisenot bitshift tan asin acos atan sinh cosh asinh acosh atanh atan2 biasadd "
     "addgelu qlinearadd qlinearmul eyelike randomnormal randomnormallike randomuniform randomuniformlike randint true_divide "
     "scalar_tensor isneginf isposinf isfinite new_zeros new_ones new_full sigmoid_mul special_erf trunc frac heaviside hypot log10 "
     "xlogy signbit copysign bitwise_xor bitwise_left_shift bitwise_right_shift complex polar"},
    {Type::kReduction,
     "sum mean amax amin max min prod any all norm linalg_vector_norm var std var_mean cumsum cumprod logsumexp count_nonzero reducesum "
     "reducemean reducemax reducemin reduceprod reducel1 reducel2 reducelogsum reducelogsumexp reducesumsquare reduce max_pool2d "
     "avg_pool2d adaptive_avg_pool2d globalaveragepool globalmaxpool globallppool averagepool maxpool lppool nhwcmaxpool caskpooling "
     "negativeloglikelihoodloss qlinearaveragepool qlinearglobalaveragepool qlinearreducemean pooling pool bincount histc unique unique2 "
     "is_nonzero cumulative median aminmax max_pool2d_with_indices std_mean max_pool1d avg_pool1d adaptive_max_pool2d "
     "adaptive_avg_pool1d cummax cummin nansum"},
    {Type::kSoftmax, "softmax log_softmax logsoftmax safe_softmax biassoftmax qlinearsoftmax softmaxcrossentropyloss raggedsoftmax"},
    {Type::kEmbedding, "embedding embedding_bag embedlayernormalization"},
    {Type::kConvolution,
     "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv convtranspose convolution deconvolution cudnn_convolution "
     "cudnn_convolution_relu slow_conv2d_forward thnn_conv2d qlinearconv fusedconv causal_conv1d_fwd causal_conv1d_update convinteger "
     "deformconv nhwcconv nhwcfusedconv qlinearconvtranspose convtransposewithdynamicpads caskconvolution caskdeconvolution "
     "conv_depthwise2d mkldnn_convolution convolution_overrideable conv_transpose3d causalconv"},
    {Type::kCopy,
     "copy clone contiguous cat concat stack repeat repeat_interleave tile pad constant_pad_nd roll flip lift_fresh_copy memcpyfromhost "
     "memcpytohost memcpy memset reformat concatenation qlinearconcat reversesequence sequenceconstruct sequenceat sequenceinsert "
     "concatfromsequence splittosequence sequencelength sequenceempty sequenceerase copytohost noop reformattingcopynode centercroppad "
     "maxunpool shapehosttodevicecopy trainstation reflection_pad1d reflection_pad2d replication_pad2d padding reorderinput "
     "reorderoutput upsample interpolate upsample_nearest2d upsample_bilinear2d gridsample grid_sampler depthtospace spacetodepth crop "
     "pin_memory"},
    {Type::kCast,
     "to to_copy type_as cast castlike float half bfloat16 double quantizelinear dequantizelinear dynamicquantizelinear scaled_fp8_quant "
     "static_scaled_fp8_quant dynamic_scaled_fp8_quant fake_quantize quantize dequantize bitcast dynamicquantize quantize_per_tensor "
     "quantize_per_channel quantizebfp dequantizebfp"},
    {Type::kShape,
     "view reshape reshape_alias unsafe_view view_as transpose swapaxes permute t mt numpy_t expand expand_as slice select unsqueeze "
     "squeeze flatten unflatten as_strided split split_with_sizes unsafe_split chunk narrow detach alias unbind movedim size shape "
     "result_type resolve_conj resolve_neg lift_fresh empty empty_like empty_strided new_empty empty_permuted resize set "
     "broadcast_tensors broadcast_to meshgrid identity shuffle conj real view_as_complex view_as_real item local_scalar_dense "
     "is_same_size atleast_1d ravel constant qlinearexpand expanddims shape_call optional optionalgetelement optionalhaselement "
     "assertion shape_as_tensor sym_size dim numel unfold diagonal tensor_split infer_size adjoint hsplit vsplit im2col stride col2im "
     "sym_numel sym_stride data is_pinned has_compatible_shallow_copy_type"},
    {Type::kIndex,
     "index index_select gather gathernd gatherelements index_put index_put_impl index_add index_copy index_fill scatter scatter_add "
     "scatter_reduce scatternd scatterelements take take_along_dim masked_select masked_scatter nonzero nonzero_numpy searchsorted "
     "bucketize onehot one_hot compress nonmaxsuppression gatherblockquantized tensorscatter roialign maxroipool nms select_scatter "
     "slice_scatter"},
    {Type::kSampling,
     "argmax argmin topk sort argsort multinomial exponential top_k_top_p_sampling_from_probs gumbel_softmax sampling greedysearch "
     "beamsearch whisperbeamsearch"},
    {Type::kCollective,
     "allreduce allgather reducescatter broadcast alltoall barrier send recv isend irecv allgather_into_tensor reduce_scatter_tensor "
     "wait_tensor distcollective"},
    {Type::kFused,
     "compiledfxgraph compiledfunction myelin kgen foreignnode fusedgraph pluginv2 pluginv3 plugin plugin_v2 plugin_v3 epcontext lstm "
     "gru rnn lstm_cell gru_cell dynamicquantizelstm"},
    {Type::kCache,
     "reshape_and_cache reshape_and_cache_flash concat_and_cache_mla copy_blocks swap_blocks append_paged_kv_cache update_kv_cache "
     "kv_cache_update kvcacheupdate"},
    {Type::kControlFlow,
     "if loop scan sequencemap condition conditional conditionalinput conditionaloutput recurrence iterator triplimit loopoutput "
     "conditional_input conditional_output trip_limit loop_output cond while_loop"},
};

// Names that makers of libraries vary: what they contain says it, the first that applies.
constexpr TypeNames kParts[] = {
    {Type::kFused, "triton_ compiledfxgraph compiled_region compiledfunction foreignnode myelin"},
    {Type::kMoe, "moe grouped_mm grouped_gemm"},
    {Type::kCollective, "nccl all_reduce all_gather reduce_scatter all_to_all"},
    {Type::kCache, "and_cache kv_cache"},
    {Type::kAttention, "attention flash_attn _attn _mha"},
    {Type::kNorm, "rms_norm rmsnorm layer_norm layernorm"},
    {Type::kCopy, "copynode reformat"},
    {Type::kConvolution, "convolution"},
    {Type::kMatmul, "gemm matmul scaled_mm"},
    {Type::kSoftmax, "softmax"},
    {Type::kEmbedding, "embedding"},
};

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

bool has_part_of(std::string_view words, std::string_view name) {
  for (std::size_t at = 0, end = 0; at < words.size(); at = end + 1) {
    end = std::min(words.find(' ', at), words.size());
    if (name.find(words.substr(at, end - at)) != std::string_view::npos) return true;
  }
  return false;
}

// "/layers.0/attn/MatMul_12" → MatMul, "conv1 + relu1" → conv1, "Reformatting CopyNode for Input Tensor 0 to x" stays.
std::string_view last_name(std::string_view node) {
  if (node.starts_with("Reformatting")) return "CopyNode";
  node = node.substr(0, node.find(" + "));
  if (const auto slash = node.rfind('/'); slash != std::string_view::npos) node.remove_prefix(slash + 1);
  while (!node.empty() && (std::isdigit(static_cast<unsigned char>(node.back())) || node.back() == '_')) node.remove_suffix(1);
  return node;
}

bool says_little(Type type) { return type == Type::kOther || type == Type::kFused; }

template <class Map, class Key>
void add_agreeing(Map& map, Key key, const std::string& dtypes) {
  const auto [found, added] = map.try_emplace(std::move(key), dtypes);
  if (!added && found->second != dtypes) found->second.clear();
}

}  // namespace

OperatorType operator_type(std::string_view name) {
  const std::string bare = bare_name(name);
  if (bare.empty()) return Type::kOther;
  if (name.starts_with("c10d::") || name.starts_with("nccl:")) return Type::kCollective;
  if (bare == "resize" && !name.starts_with("aten::")) return Type::kCopy;  // ONNX's interpolates, PyTorch's moves nothing
  for (const TypeNames& names : kNames)
    if (is_word_of(names.words, bare)) return names.type;
  for (const TypeNames& parts : kParts)
    if (has_part_of(parts.words, bare)) return parts.type;
  return Type::kOther;
}

OperatorType type_of_call(const OperatorCall& call) {
  Type type = operator_type(call.name);
  for (std::size_t i = 0; says_little(type) && i < call.kernels.size(); ++i)
    if (const Type kernel = operator_type(call.kernels[i].name); !says_little(kernel)) type = kernel;
  if (type == Type::kOther) type = operator_type(last_name(call.node));
  return type;
}

DtypeTable::DtypeTable(std::span<const OperatorDtypes> recorded) {
  for (const OperatorDtypes& row : recorded) {
    add_agreeing(by_shapes_, Key(row.name, row.shapes), row.dtypes);
    add_agreeing(by_count_, std::pair(row.name, count_arguments(row.shapes)), row.dtypes);
  }
}

std::string DtypeTable::of(const std::string& name, const std::string& shapes) const {
  if (const auto exact = by_shapes_.find({name, shapes}); exact != by_shapes_.end()) return exact->second;
  const auto similar = by_count_.find({name, count_arguments(shapes)});
  return similar == by_count_.end() ? std::string() : similar->second;
}

std::size_t count_arguments(std::string_view shapes) {
  std::size_t count = 0;
  int depth = 0;
  for (const char c : shapes) {
    if (c == '[' && ++depth == 2) ++count;
    if (c == ']') --depth;
  }
  return count;
}

}  // namespace nl::analysis

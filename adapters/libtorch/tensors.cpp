#include "adapters/libtorch/tensors.h"

#include <ATen/ops/empty.h>
#include <fmt/format.h>
#include <torch/cuda.h>

#include <cstring>

#include "adapters/tensor_types.h"

namespace nl::adapters {
namespace {

using c10::ScalarType;

constexpr std::pair<ScalarType, const char*> kTypes[] = {
    {ScalarType::Float, "float32"}, {ScalarType::Double, "float64"}, {ScalarType::Half, "float16"}, {ScalarType::BFloat16, "bfloat16"},
    {ScalarType::Long, "int64"},    {ScalarType::Int, "int32"},      {ScalarType::Short, "int16"},  {ScalarType::Char, "int8"},
    {ScalarType::Byte, "uint8"},    {ScalarType::Bool, "bool"}};

ScalarType type_named(const Tensor& tensor) {
  for (const auto& [type, name] : kTypes)
    if (name == tensor.dtype) return type;
  throw Error(ErrorKind::kUsage, fmt::format("LibTorch has no tensors of {}", tensor.dtype), "input " + tensor.name,
              "give an array of another type");
}

std::string last_line_with(const std::string& text, const std::string& start) {
  const auto at = text.rfind("\n" + start);
  return at == std::string::npos ? text : text.substr(at + 1 + start.size());
}

}  // namespace

std::string name_of_type(ScalarType type) {
  for (const auto& [known, name] : kTypes)
    if (known == type) return name;
  return c10::toString(type);
}

c10::Device device_of(const SessionOptions& options) {
  if (options.provider == "cpu") return c10::Device(c10::kCPU);
  const std::string where = "--provider " + options.provider;
  if (options.provider != "cuda")
    throw Error(ErrorKind::kUsage, fmt::format("LibTorch has no provider \"{}\"", options.provider), where, "give cpu or cuda");
  if (!torch::cuda::is_available())
    throw Error(ErrorKind::kUsage, "CUDA is not available to this LibTorch", where,
                "nl-stage backends shows what is; or give --provider cpu");
  return c10::Device(c10::kCUDA, 0);
}

std::optional<ScalarType> precision_of(const SessionOptions& options) {
  if (options.precision.empty()) return std::nullopt;
  if (options.precision == "fp32") return ScalarType::Float;
  if (options.precision == "fp16") return ScalarType::Half;
  if (options.precision == "bf16") return ScalarType::BFloat16;
  throw Error(ErrorKind::kUsage, fmt::format("LibTorch cannot turn a model into {}", options.precision), "--precision",
              "give fp32, fp16 or bf16, or quantize the model before it is saved");
}

at::Tensor to_torch(const Tensor& tensor, c10::Device device, std::optional<ScalarType> precision) {
  at::Tensor copy = at::empty(tensor.shape, at::TensorOptions(type_named(tensor)));
  if (copy.nbytes() != tensor.data.size())
    throw Error(ErrorKind::kUsage, fmt::format("{} bytes are no tensor of {}", tensor.data.size(), shape_text(tensor.shape)),
                "input " + tensor.name);
  if (!tensor.data.empty()) std::memcpy(copy.data_ptr(), tensor.data.data(), tensor.data.size());
  return copy.is_floating_point() && precision ? copy.to(device, *precision) : copy.to(device);
}

Tensor from_torch(const at::Tensor& tensor, std::string name) {
  const at::Tensor dense = tensor.detach().cpu().contiguous();
  Tensor out{std::move(name), name_of_type(dense.scalar_type()), dense.sizes().vec(), {}};
  const auto* begin = static_cast<const std::byte*>(dense.data_ptr());
  out.data.assign(begin, begin + dense.nbytes());
  return out;
}

// Sample: The following operation failed in the TorchScript interpreter.
//         Traceback of TorchScript (most recent call last):
//           ...
//         RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 16x32)
std::string words_of(const std::exception& exception) {
  const auto* error = dynamic_cast<const c10::Error*>(&exception);
  const std::string whole = error != nullptr ? error->what_without_backtrace() : exception.what();
  const std::string text = last_line_with(whole, "RuntimeError: ");
  return text.substr(0, text.find('\n'));
}

Error run_failure(const std::exception& exception, const SessionOptions& options) {
  const std::string words = words_of(exception), where = options.model.string();
  // LibTorch has one type for all of this. Its words choose the fix, and whether the precision is at fault.
  const bool no_kernel =
      words.find("not implemented for") != std::string::npos || words.find("precision dtypes not supported") != std::string::npos;
  if (!options.precision.empty() && no_kernel)
    return Error(ErrorKind::kUsage, fmt::format("{} has no kernel for {}: {}", options.provider, options.precision, words), where,
                 "leave --precision out, or give another");
  const bool memory = dynamic_cast<const std::bad_alloc*>(&exception) != nullptr || words.find("allocate memory") != std::string::npos ||
                      words.find("out of memory") != std::string::npos;
  return Error(ErrorKind::kWorkload, "the model failed: " + words, where,
               memory ? "give it smaller inputs (--shape, --dim)" : "check the shapes and types of its inputs (--shape, --inputs)");
}

Error load_failure(const std::exception& exception, const SessionOptions& options, std::string fix) {
  return Error(ErrorKind::kInput, "LibTorch cannot read the model: " + words_of(exception), options.model.string(), std::move(fix));
}

}  // namespace nl::adapters

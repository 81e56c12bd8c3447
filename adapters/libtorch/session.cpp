#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <fmt/format.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>
#include <torch/cuda.h>
#include <torch/version.h>

#include <optional>

#include "adapters/libtorch/iteration.h"
#include "adapters/libtorch/plugin.h"
#include "adapters/libtorch/tensors.h"

namespace nl::adapters {
namespace {

using c10::TypeKind;

// TorchScript declares types of arguments, but no shapes; a number is fed as a tensor without dimensions.
TensorSpec spec_of_argument(const c10::Argument& argument) {
  c10::TypePtr type = argument.type();
  if (const auto optional = type->cast<c10::OptionalType>()) type = optional->getElementType();
  switch (type->kind()) {
    case TypeKind::TensorType: return {argument.name(), "", {}, false};
    case TypeKind::IntType: return {argument.name(), "int64", {}, true};
    case TypeKind::FloatType:
    case TypeKind::NumberType: return {argument.name(), "float64", {}, true};
    case TypeKind::BoolType: return {argument.name(), "bool", {}, true};
    default: break;
  }
  throw Error(ErrorKind::kInput, fmt::format("its type, {}, cannot be made from an array", argument.type()->repr_str()),
              "input " + argument.name(), "save a model whose forward() takes tensors and numbers");
}

// Arguments with a default keep it.
std::vector<TensorSpec> specs_of_inputs(const c10::FunctionSchema& schema) {
  std::vector<TensorSpec> specs;
  for (std::size_t n = 1; n < schema.arguments().size(); ++n)
    if (!schema.arguments()[n].default_value()) specs.push_back(spec_of_argument(schema.arguments()[n]));
  return specs;
}

std::string part_name(const std::string& whole, const std::string& part) { return whole.empty() ? part : whole + "_" + part; }

// A tuple counts as its parts: output_0, output_1 …, or as a named tuple calls them.
void add_outputs(const c10::TypePtr& type, const std::string& name, std::vector<TensorSpec>& specs) {
  if (type->kind() == TypeKind::TensorType) return specs.push_back({name, "", {}, false});
  const auto tuple = type->cast<c10::TupleType>();
  for (std::size_t n = 0; tuple && n < tuple->elements().size(); ++n)
    add_outputs(tuple->elements()[n], tuple->schema() ? tuple->schema()->arguments()[n].name() : part_name(name, std::to_string(n)), specs);
}

void add_results(const c10::IValue& value, const std::string& name, std::vector<Tensor>& results) {
  if (value.isTensor()) return results.push_back(from_torch(value.toTensor(), name));
  if (value.isGenericDict())
    for (const auto& entry : value.toGenericDict())
      add_results(entry.value(), entry.key().isString() ? entry.key().toStringRef() : part_name(name, std::to_string(results.size())),
                  results);
  if (value.isList()) {
    std::size_t n = 0;
    for (const c10::IValue& element : value.toListRef()) add_results(element, part_name(name, std::to_string(n++)), results);
  }
  if (!value.isTuple()) return;
  const auto tuple = value.toTuple();
  const auto type = tuple->type()->cast<c10::TupleType>();
  for (std::size_t n = 0; n < tuple->elements().size(); ++n)
    add_results(tuple->elements()[n], type->schema() ? type->schema()->arguments()[n].name() : part_name(name, std::to_string(n)), results);
}

// Module::to(type) would turn indices into floats too.
void change_precision(torch::jit::Module& module, c10::ScalarType type) {
  const auto change = [type](at::Tensor tensor) {
    if (tensor.is_floating_point()) tensor.set_data(tensor.detach().to(type));
  };
  for (const at::Tensor& tensor : module.parameters()) change(tensor);
  for (const at::Tensor& tensor : module.buffers()) change(tensor);
}

class ScriptSession : public Session {
 public:
  ScriptSession(const SessionOptions& options, torch::jit::Module module, c10::Device device)
      : options_(options), device_(device), precision_(precision_of(options)), module_(std::move(module)),
        schema_(module_.get_method("forward").function().getSchema()), specs_(specs_of_inputs(schema_)) {
    module_.eval();
    if (precision_) change_precision(module_, *precision_);
    if (options.profiled) recorder_.emplace();
  }

  std::vector<TensorSpec> inputs() const override { return specs_; }

  std::vector<TensorSpec> outputs() const override {
    std::vector<TensorSpec> specs;
    for (const c10::Argument& result : schema_.returns()) add_outputs(result.type(), "output", specs);
    return specs;
  }

  void bind(std::vector<Tensor> inputs) override {
    if (inputs.size() != specs_.size())
      throw Error(ErrorKind::kUsage, fmt::format("the model takes {} inputs and was given {}", specs_.size(), inputs.size()),
                  options_.model.string());
    try {
      inputs_.clear();
      for (std::size_t n = 0; n < inputs.size(); ++n) inputs_.push_back(value_of(inputs[n], specs_[n]));
    } catch (const c10::Error& error) {
      throw run_failure(error, options_);
    }
  }

  void run() override {
    run_iteration(options_, device_, recorder_, [&] { output_ = module_.forward(inputs_); });
  }

  std::vector<Tensor> results() override {
    std::vector<Tensor> results;
    add_results(output_, "output", results);
    return results;
  }

  Executions executions() override { return recorder_ ? recorder_->executions() : Executions{}; }

  ModelWeights weights() const override {
    ModelWeights weights;
    for (const at::Tensor& tensor : module_.parameters()) weights.bytes_by_dtype[name_of_type(tensor.scalar_type())] += tensor.nbytes();
    return weights;
  }

 private:
  c10::IValue value_of(const Tensor& tensor, const TensorSpec& spec) const {
    if (!spec.shape_known) return to_torch(tensor, device_, precision_);
    const at::Tensor number = to_torch(tensor, c10::kCPU, std::nullopt);
    if (spec.dtype == "int64") return number.item<std::int64_t>();
    return spec.dtype == "bool" ? c10::IValue(number.item<bool>()) : c10::IValue(number.item<double>());
  }

  SessionOptions options_;
  c10::Device device_;
  std::optional<c10::ScalarType> precision_;
  torch::jit::Module module_;
  c10::FunctionSchema schema_;
  std::vector<TensorSpec> specs_;
  std::vector<c10::IValue> inputs_;
  c10::IValue output_;
  std::optional<Recorder> recorder_;
};

constexpr const char* kSaveFix = "save it with torch.jit.script(model).save(file); a state dict or torch.save's pickle has no code to run";

torch::jit::Module loaded(const SessionOptions& options, c10::Device device) {
  if (!std::filesystem::is_regular_file(options.model))
    throw Error(ErrorKind::kInput, "the model cannot be read", options.model.string(), "give a TorchScript file (.pt)");
  torch::jit::Module module = torch::jit::load(options.model.string(), device);
  if (!module.find_method("forward")) throw Error(ErrorKind::kInput, "the model has no method forward", options.model.string(), kSaveFix);
  return module;
}

std::unique_ptr<Session> open(const SessionOptions& options) {
  const c10::Device device = device_of(options);
  if (options.threads > 0) at::set_num_threads(static_cast<int>(options.threads));
  if (options.model.extension() == ".pt2") return open_package(options);
  try {
    return std::make_unique<ScriptSession>(options, loaded(options, device), device);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& exception) {
    throw load_failure(exception, options, kSaveFix);
  }
}

// "… Build settings: BUILD_TYPE=Release, …, TORCH_VERSION=1.13.1, …"
std::string library_version() {
  const std::string config = at::show_config(), key = "TORCH_VERSION=";
  const auto at = config.find(key);
  return at == std::string::npos ? "" : config.substr(at + key.size(), config.find_first_of(", \n", at) - at - key.size());
}

bool has_cuda() { return torch::cuda::is_available(); }

constexpr LibtorchPlugin kPlugin = {kLibtorchLayout, NL_VERSION, TORCH_VERSION, library_version, has_cuda, open};

}  // namespace
}  // namespace nl::adapters

extern "C" __attribute__((visibility("default"))) const nl::adapters::LibtorchPlugin* nl_libtorch_plugin() {
  return &nl::adapters::kPlugin;
}

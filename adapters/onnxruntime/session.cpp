#include <fmt/format.h>
#include <fmt/ranges.h>
#include <onnxruntime_cxx_api.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>

#include "adapters/adapter.h"
#include "adapters/onnxruntime/graph_nodes.h"
#include "adapters/onnxruntime/library.h"
#include "adapters/tensor_types.h"
#include "model/error.h"

namespace nl::adapters {
namespace {

// "…/bfc_arena.cc:376 void* onnxruntime::BFCArena::AllocateRawInternal(…) Failed to allocate memory for requested buffer of size 288230376151711744"
// There is no code for it.
bool is_out_of_memory(std::string_view message) {
  return message.find("Failed to allocate memory") != message.npos || message.find("bad_alloc") != message.npos ||
         message.find("CUDA_ERROR_OUT_OF_MEMORY") != message.npos || message.find("out of memory") != message.npos;
}

std::string one_line(std::string_view message) {
  std::string line(message.substr(0, message.find_last_not_of(" \n") + 1));
  for (char& character : line)
    if (character == '\n') character = ' ';
  return line;
}

Error out_of_memory(const Ort::Exception& failure, const std::filesystem::path& model) {
  return {ErrorKind::kWorkload, fmt::format("ONNX Runtime is out of memory: {}", one_line(failure.what())), model.string(),
          "give smaller sizes (--batch, --seq, --dim)"};
}

constexpr const char* kWholeFile = "give a whole ONNX file, with the files of its weights beside it";

// ONNX Runtime's own format, a flatbuffer, has its name behind four bytes.
bool is_ort_format(const std::filesystem::path& file) {
  std::array<char, 8> head{};
  std::ifstream(file, std::ios::binary).read(head.data(), head.size());
  return std::string_view(head.data(), head.size()).substr(4) == "ORTM";
}

// What ONNX Runtime threw while it loaded a model, and while it ran one.
Error load_failure(const Ort::Exception& failure, const std::filesystem::path& model) {
  if (is_out_of_memory(failure.what())) return out_of_memory(failure, model);
  const std::string what = fmt::format("ONNX Runtime does not load the model: {}", one_line(failure.what()));
  if (failure.GetOrtErrorCode() == ORT_NOT_IMPLEMENTED)
    return {ErrorKind::kUsage, what, model.string(),
            "the provider has no kernel for an operator of this type; give another --provider, or convert the model"};
  return {ErrorKind::kInput, what, model.string(), kWholeFile};
}

Error run_failure(const Ort::Exception& failure, const std::filesystem::path& model) {
  if (is_out_of_memory(failure.what())) return out_of_memory(failure, model);
  return {ErrorKind::kWorkload, fmt::format("ONNX Runtime ends with an error: {}", one_line(failure.what())), model.string(),
          "check the sizes of the inputs (--dim, --inputs)"};
}

// The optimised graph is saved with its weights; past this size the names alone tell what a fusion holds.
constexpr std::uint64_t kLargestSaved = std::uint64_t{1} << 30;

template <class Clock>
Ns now_on() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}

// Never destroyed: threads of the library may still use it when the program ends. What goes wrong is thrown, so nothing is logged.
Ort::Env& ort_environment() {
  static auto* env = new Ort::Env(ORT_LOGGING_LEVEL_FATAL, "nl-stage");
  return *env;
}

TensorSpec ort_spec_of(std::string name, const Ort::TypeInfo& type) {
  TensorSpec spec{std::move(name), "no tensor", {}};
  if (type.GetONNXType() != ONNX_TYPE_TENSOR) return spec;
  const auto tensor = type.GetTensorTypeAndShapeInfo();
  spec.dtype = dtype_of_element(tensor.GetElementType());
  std::vector<const char*> symbols(tensor.GetDimensionsCount());
  tensor.GetSymbolicDimensions(symbols.data(), symbols.size());
  const std::vector<std::int64_t> sizes = tensor.GetShape();
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) spec.shape.push_back({sizes[axis], symbols[axis]});
  return spec;
}

Tensor ort_tensor_of(const std::string& name, const Ort::Value& value) {
  Tensor tensor{name, "no tensor", {}, {}};
  if (!value.IsTensor()) return tensor;
  const auto info = value.GetTensorTypeAndShapeInfo();
  tensor.dtype = dtype_of_element(info.GetElementType());
  tensor.shape = info.GetShape();
  const auto bytes = bytes_of(tensor.dtype);
  if (!bytes) return tensor;
  tensor.data.resize(values_in(tensor.shape) * *bytes);
  if (!tensor.data.empty()) std::memcpy(tensor.data.data(), value.GetTensorRawData(), tensor.data.size());
  return tensor;
}

class OnnxRuntimeSession : public Session {
 public:
  explicit OnnxRuntimeSession(const SessionOptions& options)
      : options_(options), graph_(read_model_graph(options.model)), session_(ort_environment(), options.model.c_str(), settings()) {
    profile_starts_ns_ = options.profiled ? static_cast<Ns>(session_.GetProfilingStartTimeNs()) : 0;
    Ort::AllocatorWithDefaultOptions allocator;
    for (std::size_t n = 0; n < session_.GetInputCount(); ++n)
      inputs_.push_back(ort_spec_of(session_.GetInputNameAllocated(n, allocator).get(), session_.GetInputTypeInfo(n)));
    for (std::size_t n = 0; n < session_.GetOutputCount(); ++n)
      outputs_.push_back(ort_spec_of(session_.GetOutputNameAllocated(n, allocator).get(), session_.GetOutputTypeInfo(n)));
    check_precision();
  }

  std::vector<TensorSpec> inputs() const override { return inputs_; }
  std::vector<TensorSpec> outputs() const override { return outputs_; }

  void bind(std::vector<Tensor> inputs) override {
    tensors_ = std::move(inputs);
    values_.clear();
    const auto memory = Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault);
    for (Tensor& tensor : tensors_) {
      const auto type = static_cast<ONNXTensorElementDataType>(element_of_dtype(tensor.dtype).value_or(0));
      values_.push_back(
          Ort::Value::CreateTensor(memory, tensor.data.data(), tensor.data.size(), tensor.shape.data(), tensor.shape.size(), type));
    }
  }

  // Outputs come back in host memory, so the device has finished.
  void run() override {
    std::vector<const char*> in, out;
    for (const Tensor& tensor : tensors_) in.push_back(tensor.name.c_str());
    for (const TensorSpec& spec : outputs_) out.push_back(spec.name.c_str());
    if (options_.profiled) note_clocks();
    try {
      results_ = session_.Run(Ort::RunOptions{nullptr}, in.data(), values_.data(), values_.size(), out.data(), out.size());
    } catch (const Ort::Exception& failure) {
      throw run_failure(failure, options_.model);
    }
  }

  std::vector<Tensor> results() override {
    std::vector<Tensor> tensors;
    for (std::size_t n = 0; n < results_.size(); ++n) tensors.push_back(ort_tensor_of(outputs_[n].name, results_[n]));
    return tensors;
  }

  Executions executions() override {
    Ort::AllocatorWithDefaultOptions allocator;
    Executions done;
    done.profile = SessionProfile{session_.EndProfilingAllocated(allocator).get(), std::move(zero_ns_),
                                  optimised_nodes(graph_.nodes, read_model_graph(optimised_file()).nodes)};
    return done;
  }

  ModelWeights weights() const override {
    ModelWeights weights;
    for (const auto& [type, bytes] : graph_.weight_types) weights.bytes_by_dtype[dtype_of_element(type)] += bytes;
    for (const std::string& file : graph_.weight_files) {
      const auto inside = std::filesystem::path(file).lexically_normal();  // what leads elsewhere is no file beside the model
      if (inside.is_relative() && *inside.begin() != "..") weights.files.push_back(options_.model.parent_path() / inside);
    }
    return weights;
  }

 private:
  std::filesystem::path optimised_file() const { return options_.scratch / "optimised.onnx"; }

  Ort::SessionOptions settings() const {
    Ort::SessionOptions settings;
    if (options_.threads > 0) settings.SetIntraOpNumThreads(static_cast<int>(options_.threads));
    if (options_.provider == "cuda") settings.AppendExecutionProvider_CUDA(OrtCUDAProviderOptions{});
    if (!options_.profiled) return settings;
    settings.EnableProfiling((options_.scratch / "onnxruntime").c_str());
    if (!graph_.nodes.empty() && graph_.weight_bytes <= kLargestSaved) settings.SetOptimizedModelFilePath(optimised_file().c_str());
    return settings;
  }

  // The profile counts on the clock of the day in builds with GCC's library, on CLOCK_MONOTONIC in others. Taken at each iteration: the clock
  // of the day may be set between two.
  void note_clocks() {
    const Ns monotonic = now_on<std::chrono::steady_clock>(), of_day = now_on<std::chrono::system_clock>();
    const bool is_of_day = std::llabs(of_day - profile_starts_ns_) < std::llabs(monotonic - profile_starts_ns_);
    zero_ns_.push_back(profile_starts_ns_ + (is_of_day ? monotonic - of_day : 0));
  }

  void check_precision() const {
    if (options_.precision.empty()) return;
    std::set<std::string> there;
    for (const auto& [type, bytes] : graph_.weight_types) there.insert(precision_of_element(type));
    for (const auto* specs : {&inputs_, &outputs_})
      for (const TensorSpec& spec : *specs) there.insert(precision_of_element(element_of_dtype(spec.dtype).value_or(0)));
    there.erase("");
    if (!there.contains(options_.precision))
      throw Error(ErrorKind::kUsage, fmt::format("the model has {}; ONNX Runtime runs a model as it is", fmt::join(there, " and ")),
                  "--precision " + options_.precision, "leave --precision out, or give a model of that precision");
  }

  SessionOptions options_;
  ModelGraph graph_;
  Ort::Session session_;
  Ns profile_starts_ns_ = 0;
  std::vector<Ns> zero_ns_;  // as SessionProfile's
  std::vector<TensorSpec> inputs_, outputs_;
  std::vector<Tensor> tensors_;
  std::vector<Ort::Value> values_, results_;  // values_ are views of tensors_
};

// The library is loaded, and it has the provider. Throws Error for a model that cannot be loaded or has not the precision that is asked for.
std::unique_ptr<Session> open_onnxruntime_session(const SessionOptions& options) {
  try {
    return std::make_unique<OnnxRuntimeSession>(options);
  } catch (const Ort::Exception& failure) {
    throw load_failure(failure, options.model);
  }
}

// By ONNX Runtime's name and ours, those that a session here can use.
constexpr std::pair<std::string_view, const char*> kProviders[] = {{"CPUExecutionProvider", "cpu"}, {"CUDAExecutionProvider", "cuda"}};

std::vector<std::string> providers_there() {
  std::vector<std::string> providers;
  const std::vector<std::string> available = Ort::GetAvailableProviders();
  for (const auto& [theirs, ours] : kProviders)
    if (std::find(available.begin(), available.end(), theirs) != available.end()) providers.emplace_back(ours);
  return providers;
}

class OnnxRuntime : public Adapter {
 public:
  std::string name() const override { return "onnxruntime"; }
  std::string title() const override { return "ONNX Runtime"; }

  Availability availability() const override {
    Availability found;
    found.built_in = true;
    try {
      const OnnxRuntimeLibrary& library = onnxruntime_library();
      found.version = library.version;
      found.library = library.path;
      found.providers = providers_there();
      found.loads = true;
    } catch (const Error& error) {
      found.reason = error.where.empty() ? error.message : fmt::format("{} ({})", error.message, error.where);
    }
    return found;
  }

  std::optional<std::vector<TensorSpec>> declared_inputs(const std::filesystem::path& file) const override {
    ModelGraph graph = read_model_graph(file);
    if (graph.found) return std::move(graph.inputs);
    if (is_ort_format(file)) return std::nullopt;
    throw Error(ErrorKind::kInput, "this is no ONNX file, or a part of one", file.string(), kWholeFile);
  }

  std::unique_ptr<Session> open(const SessionOptions& options) const override {
    const OnnxRuntimeLibrary& library = onnxruntime_library();
    const std::vector<std::string> providers = providers_there();
    if (std::find(providers.begin(), providers.end(), options.provider) == providers.end())
      throw Error(ErrorKind::kUsage, fmt::format("{} has no provider \"{}\"", library.path, options.provider),
                  "--provider " + options.provider, fmt::format("give one of: {}", fmt::join(providers, ", ")));
    return open_onnxruntime_session(options);
  }
};

}  // namespace

std::unique_ptr<Adapter> onnxruntime_adapter() { return std::make_unique<OnnxRuntime>(); }

}  // namespace nl::adapters

#include <NvInfer.h>
#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "adapters/adapter.h"
#include "adapters/tensor_types.h"
#include "adapters/tensorrt/buffers.h"
#include "adapters/tensorrt/cuda_runtime.h"
#include "adapters/tensorrt/layer_times.h"
#include "adapters/tensorrt/libraries.h"
#include "adapters/tensorrt/network.h"
#include "adapters/tensorrt/tensors.h"
#include "model/error.h"

namespace nl::adapters::tensorrt {
namespace {

using nvinfer1::OptProfileSelector;

bool within(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& least, const std::vector<std::int64_t>& most) {
  if (least.size() != shape.size() || most.size() != shape.size()) return false;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] < least[axis] || shape[axis] > most[axis]) return false;
  return true;
}

// A shape without open sizes is in no profile.
std::vector<std::int64_t> bound_of(const nvinfer1::ICudaEngine& engine, const Tensor& input, std::int32_t profile,
                                   OptProfileSelector bound) {
  const nvinfer1::Dims declared = engine.getTensorShape(input.name.c_str());
  return has_open_size(declared) ? shape_of(engine.getProfileShape(input.name.c_str(), profile, bound)) : shape_of(declared);
}

// An input that the profile does not fit; null where it fits all.
const Tensor* misfit(const nvinfer1::ICudaEngine& engine, const std::vector<Tensor>& inputs, std::int32_t profile) {
  for (const Tensor& input : inputs)
    if (!within(input.shape, bound_of(engine, input, profile, OptProfileSelector::kMIN),
                bound_of(engine, input, profile, OptProfileSelector::kMAX)))
      return &input;
  return nullptr;
}

// The engine's first optimisation profile whose range has the shapes of all inputs. Throws Error(kUsage) that names the input and its range.
std::int32_t profile_for(const nvinfer1::ICudaEngine& engine, const std::vector<Tensor>& inputs) {
  const std::int32_t profiles = engine.getNbOptimizationProfiles();
  for (std::int32_t profile = 0; profile < profiles; ++profile)
    if (misfit(engine, inputs, profile) == nullptr) return profile;
  const Tensor* input = profiles > 0 ? misfit(engine, inputs, 0) : nullptr;
  if (input == nullptr) return 0;
  throw Error(ErrorKind::kUsage, fmt::format("the engine was not built for the shape {}", shape_text(input->shape)), "input " + input->name,
              fmt::format("give sizes from {} to {}, or build the engine for others",
                          shape_text(bound_of(engine, *input, 0, OptProfileSelector::kMIN)),
                          shape_text(bound_of(engine, *input, 0, OptProfileSelector::kMAX))));
}

std::vector<char> engine_bytes(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw Error(ErrorKind::kInput, "the model cannot be read", file.string(), "check its path and permissions");
  return {std::istreambuf_iterator<char>(stream), {}};
}

// An engine file, or an ONNX file (by its name) of which an engine is built at bind(), when the shapes are known.
class EngineSession : public Session {
 public:
  explicit EngineSession(const SessionOptions& options);

  std::vector<TensorSpec> inputs() const override { return network_ ? network_->inputs() : specs(nvinfer1::TensorIOMode::kINPUT); }
  std::vector<TensorSpec> outputs() const override { return network_ ? network_->outputs() : specs(nvinfer1::TensorIOMode::kOUTPUT); }
  void bind(std::vector<Tensor> inputs) override;
  void run() override;
  std::vector<Tensor> results() override;
  Executions executions() override;

 private:
  void load(const std::vector<char>& bytes);
  void check_formats() const;
  void make_context(std::int32_t shape_profile);
  void bind_input(Tensor input);
  void bind_outputs();
  std::vector<TensorSpec> specs(nvinfer1::TensorIOMode mode) const;
  [[noreturn]] void fail(const std::string& what) { throw Error(ErrorKind::kWorkload, what + quoted(log_), options_.model.string()); }

  // Each refers to those above it.
  const SessionOptions options_;
  Log log_;
  const InferLibrary library_;
  const CudaRuntime cuda_;
  const CudaStream stream_{cuda_};
  const std::unique_ptr<nvinfer1::IRuntime> runtime_;
  std::unique_ptr<Network> network_;  // of an ONNX file
  std::unique_ptr<nvinfer1::ICudaEngine> engine_;
  std::vector<std::unique_ptr<InputBuffer>> inputs_;
  std::vector<std::unique_ptr<OutputBuffer>> outputs_;
  LayerTimes times_;
  std::unique_ptr<nvinfer1::IExecutionContext> context_;
};

EngineSession::EngineSession(const SessionOptions& options) : options_(options), runtime_(library_.runtime(log_)) {
  if (options.model.extension() == ".onnx") {
    network_ = std::make_unique<Network>(library_, options, log_);
    return;
  }
  if (!options.precision.empty())
    throw Error(ErrorKind::kUsage, "an engine has the precision that it was built with", "--precision " + options.precision,
                "leave --precision out, or give the ONNX file");
  load(engine_bytes(options.model));
}

void EngineSession::load(const std::vector<char>& bytes) {
  engine_.reset(runtime_->deserializeCudaEngine(bytes.data(), bytes.size()));
  if (!engine_)
    throw Error(ErrorKind::kInput, fmt::format("TensorRT {} cannot load this engine{}", library_.version, quoted(log_)),
                options_.model.string(),
                "an engine runs on the GPU and the TensorRT that it was built with: build it again here, or give the ONNX file");
  check_formats();
}

// Others pad or interleave: their sizes are not those of the tensor.
void EngineSession::check_formats() const {
  for (std::int32_t n = 0; n < engine_->getNbIOTensors(); ++n)
    if (const char* name = engine_->getIOTensorName(n); engine_->getTensorFormat(name) != nvinfer1::TensorFormat::kLINEAR)
      throw Error(ErrorKind::kUsage,
                  fmt::format("the engine has its tensor {} in another format: {}", name, engine_->getTensorFormatDesc(name)),
                  options_.model.string(),
                  "build it with inputs and outputs in the linear format (trtexec without --inputIOFormats and --outputIOFormats)");
}

std::vector<TensorSpec> EngineSession::specs(nvinfer1::TensorIOMode mode) const {
  std::vector<TensorSpec> found;
  for (std::int32_t n = 0; n < engine_->getNbIOTensors(); ++n) {
    const char* name = engine_->getIOTensorName(n);
    if (engine_->getTensorIOMode(name) == mode) found.push_back(spec_of(*engine_, name));
  }
  return found;
}

void EngineSession::make_context(std::int32_t shape_profile) {
  context_.reset(engine_->createExecutionContext());
  if (!context_) fail("TensorRT cannot set up a run of this engine: the GPU's memory may not suffice");
  if (shape_profile != 0 && !context_->setOptimizationProfileAsync(shape_profile, stream_.get()))
    fail("TensorRT cannot choose a profile of shapes");
  if (!options_.profiled) return;
  // Times are asked for after each iteration, so that a launch does not wait for them.
  context_->setProfiler(&times_);
  context_->setEnqueueEmitsProfile(false);
}

void EngineSession::bind(std::vector<Tensor> inputs) {
  context_.reset();
  inputs_.clear();
  outputs_.clear();
  if (network_) load(network_->engine_for(inputs));
  make_context(profile_for(*engine_, inputs));
  for (Tensor& input : inputs) bind_input(std::move(input));
  if (context_->inferShapes(0, nullptr) != 0) fail("TensorRT cannot work out the shapes of the outputs");
  bind_outputs();
  stream_.wait("copying the inputs");
  log_.take_errors();  // of what went well nevertheless
}

void EngineSession::bind_input(Tensor input) {
  const std::string name = input.name;
  const nvinfer1::Dims dims = dims_of(input.shape);
  const bool on_host = engine_->getTensorLocation(name.c_str()) == nvinfer1::TensorLocation::kHOST;
  inputs_.push_back(std::make_unique<InputBuffer>(cuda_, stream_, std::move(input), on_host));
  if (!context_->setInputShape(name.c_str(), dims) || !context_->setTensorAddress(name.c_str(), inputs_.back()->address()))
    fail("TensorRT does not take the input " + name);
}

void EngineSession::bind_outputs() {
  for (const TensorSpec& spec : specs(nvinfer1::TensorIOMode::kOUTPUT)) {
    outputs_.push_back(std::make_unique<OutputBuffer>(cuda_, *engine_, spec.name.c_str()));
    outputs_.back()->attach(*context_);
  }
}

void EngineSession::run() {
  const bool launched = context_->enqueueV3(stream_.get());
  for (const auto& output : outputs_) output->rethrow();
  if (!launched) fail("an iteration failed");
  stream_.wait("running the engine");
  if (!options_.profiled) return;
  if (!context_->reportToProfiler()) fail("TensorRT does not tell the times of its layers");
  times_.end_iteration();
}

std::vector<Tensor> EngineSession::results() {
  std::vector<Tensor> tensors;
  for (const auto& output : outputs_) tensors.push_back(output->result(stream_));
  return tensors;
}

Executions EngineSession::executions() {
  Executions done = times_.executions(layers_of(*engine_, *context_));
  for (SessionNode& node : done.nodes) node.provider = fmt::format("cuda:{}", cuda_.device());
  return done;
}

class TensorRt : public Adapter {
 public:
  std::string name() const override { return "tensorrt"; }
  std::string title() const override { return "TensorRT"; }

  Availability availability() const override {
    Availability here;
    here.built_in = true;
    try {
      const InferLibrary library;
      here.version = library.version;
      here.library = library.path;
      const CudaRuntime cuda;  // throws where there is no GPU
      here.loads = true;
      here.providers = {"cuda"};
    } catch (const Error& missing) {
      here.reason = missing.message + (missing.where.empty() ? "" : ": " + missing.where);
    }
    return here;
  }

  std::unique_ptr<Session> open(const SessionOptions& options) const override {
    if (!options.provider.empty() && options.provider != "cuda")
      throw Error(ErrorKind::kUsage, "TensorRT runs on a GPU only", "--provider " + options.provider, "give --provider cuda");
    return std::make_unique<EngineSession>(options);
  }
};

}  // namespace

}  // namespace nl::adapters::tensorrt

std::unique_ptr<nl::adapters::Adapter> nl::adapters::tensorrt_adapter() { return std::make_unique<tensorrt::TensorRt>(); }

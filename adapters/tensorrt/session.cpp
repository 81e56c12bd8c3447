#include "adapters/tensorrt/session.h"

#include <NvInfer.h>
#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "adapters/tensorrt/buffers.h"
#include "adapters/tensorrt/cuda_runtime.h"
#include "adapters/tensorrt/layer_times.h"
#include "adapters/tensorrt/libraries.h"
#include "adapters/tensorrt/network.h"
#include "adapters/tensorrt/shape_profiles.h"
#include "adapters/tensorrt/tensors.h"
#include "model/error.h"

namespace nl::adapters::tensorrt {
namespace {

std::vector<char> engine_bytes(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw Error(ErrorKind::kInput, "the model cannot be read", file.string(), "check its path and permissions");
  return {std::istreambuf_iterator<char>(stream), {}};
}

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

}  // namespace

std::unique_ptr<Session> open_session(const SessionOptions& options) { return std::make_unique<EngineSession>(options); }

}  // namespace nl::adapters::tensorrt

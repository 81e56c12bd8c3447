#include "tests/unit/adapters/tensorrt/fake_engine.h"

#include <algorithm>

namespace nl::fake {
namespace {

std::int64_t values_of(const nvinfer1::Dims& dims) {
  std::int64_t values = 1;
  for (int axis = 0; axis < dims.nbDims; ++axis) values *= dims.d[axis];
  return values;
}

class Inspector : public Played<nvinfer1::IEngineInspector, nvinfer1::stubs::EngineInspector> {
 public:
  explicit Inspector(const Engine& engine) : engine_(engine) {}
  bool setExecutionContext(const nvinfer1::IExecutionContext*) noexcept override { return true; }
  const char* getLayerInformation(std::int32_t layer, nvinfer1::LayerInformationFormat) const noexcept override {
    return engine_.model.layers[layer].json.c_str();
  }

 private:
  const Engine& engine_;
};

}  // namespace

void log_error(nvinfer1::ILogger& log, const std::string& line) { log.log(nvinfer1::ILogger::Severity::kERROR, line.c_str()); }

nvinfer1::TensorIOMode Engine::getTensorIOMode(const char* name) const noexcept {
  return model.tensor(name)->is_input ? nvinfer1::TensorIOMode::kINPUT : nvinfer1::TensorIOMode::kOUTPUT;
}

nvinfer1::TensorFormat Engine::getTensorFormat(const char*) const noexcept {
  return model.fault == "format" ? nvinfer1::TensorFormat::kCHW4 : nvinfer1::TensorFormat::kLINEAR;
}

std::int32_t Engine::getNbOptimizationProfiles() const noexcept {
  std::int32_t count = 1;
  for (const ProfileLine& line : model.profiles) count = std::max(count, line.profile + 1);
  return count;
}

nvinfer1::Dims Engine::getProfileShape(const char* name, std::int32_t profile, nvinfer1::OptProfileSelector bound) const noexcept {
  for (const ProfileLine& line : model.profiles)
    if (line.profile == profile && line.tensor == name) return bound == nvinfer1::OptProfileSelector::kMIN ? line.least : line.most;
  nvinfer1::Dims none{};
  none.nbDims = -1;
  return none;
}

nvinfer1::IExecutionContext* Engine::createExecutionContext(nvinfer1::ExecutionContextAllocationStrategy) noexcept {
  if (model.fault != "context") return new Context(*this);
  log_error(log, "[resizableMemory] Requested amount of GPU memory (8589934592 bytes) could not be allocated");
  return nullptr;
}

nvinfer1::IEngineInspector* Engine::createEngineInspector() const noexcept { return new Inspector(*this); }

bool Context::setInputShape(const char* name, const nvinfer1::Dims& dims) noexcept {
  const nvinfer1::Dims most = engine_.getProfileShape(name, profile_, nvinfer1::OptProfileSelector::kMAX);
  for (int axis = 0; axis < most.nbDims; ++axis)
    if (dims.d[axis] > most.d[axis]) return false;
  shapes_[name] = dims;
  return true;
}

// A word stands for the same size everywhere; an engine has lost the words, and its first sizes are the batch.
nvinfer1::Dims Context::getTensorShape(const char* name) const noexcept {
  if (const auto found = shapes_.find(name); found != shapes_.end()) return found->second;
  const TensorLine& line = *engine_.model.tensor(name);
  nvinfer1::Dims dims = line.dims;
  for (int axis = 0; axis < dims.nbDims; ++axis)
    if (dims.d[axis] < 0 && line.symbols[axis] != "?") dims.d[axis] = shapes_.begin()->second.d[axis];
  return dims;
}

float Context::sum_of_inputs() const {
  float sum = 0;
  for (const auto& [name, dims] : shapes_)
    for (std::int64_t n = 0; n < values_of(dims); ++n) sum += static_cast<const float*>(addresses_.at(name))[n];
  return sum;
}

bool Context::write_output(const TensorLine& output, float value, cudaStream_t stream) {
  nvinfer1::Dims dims = getTensorShape(output.name.c_str());
  void* address = nullptr;
  if (const auto found = allocators_.find(output.name); found != allocators_.end()) {
    std::replace(dims.d, dims.d + dims.nbDims, std::int64_t{-1}, 2 + iterations_);
    address = found->second->reallocateOutputAsync(output.name.c_str(), nullptr, values_of(dims) * sizeof(float), 256, stream);
    found->second->notifyShape(output.name.c_str(), dims);
  } else {
    address = addresses_.at(output.name);
  }
  if (address != nullptr) std::fill_n(static_cast<float*>(address), values_of(dims), value);
  return address != nullptr;
}

bool Context::enqueueV3(cudaStream_t stream) noexcept {
  if (engine_.model.fault == "iteration") {
    log_error(engine_.log, "Error Code 1: Cask (Cask convolution execution)");
    return false;
  }
  ++iterations_;
  for (const TensorLine& tensor : engine_.model.tensors)
    if (!tensor.is_input && !write_output(tensor, sum_of_inputs(), stream)) return false;
  if (emits_ && profiler_ != nullptr) tell_profiler();
  return true;
}

void Context::tell_profiler() const {
  for (const LayerLine& layer : engine_.model.layers) profiler_->reportLayerTime(layer.name.c_str(), layer.ms);
}

bool Context::reportToProfiler() const noexcept {
  if (profiler_ != nullptr && !emits_) tell_profiler();
  return profiler_ != nullptr;
}

}  // namespace nl::fake

// Builders, networks and the parser of ONNX files. An engine that is "built" is the file's text and how it was built.
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>

#include "tests/unit/adapters/tensorrt/fake_engine.h"

namespace nl::fake {
namespace {

class NetworkTensor : public Played<nvinfer1::ITensor, nvinfer1::stubs::Tensor> {
 public:
  NetworkTensor(TensorLine line, bool decides_shapes) : line_(std::move(line)), decides_shapes_(decides_shapes) {}
  ~NetworkTensor() noexcept override = default;
  const char* getName() const noexcept override { return line_.name.c_str(); }
  nvinfer1::Dims getDimensions() const noexcept override { return line_.dims; }
  nvinfer1::DataType getType() const noexcept override { return line_.type; }
  bool isShapeTensor() const noexcept override { return decides_shapes_; }
  const char* getDimensionName(std::int32_t axis) const noexcept override {
    return line_.symbols[axis].empty() ? nullptr : line_.symbols[axis].c_str();
  }

 private:
  TensorLine line_;
  bool decides_shapes_;
};

class FakeNetwork : public Played<nvinfer1::INetworkDefinition, nvinfer1::stubs::NetworkDefinition> {
 public:
  explicit FakeNetwork(unsigned flags) : flags(flags) {}

  void take(Model read) {
    model = std::move(read);
    for (const TensorLine& line : model.tensors)
      (line.is_input ? inputs_ : outputs_).push_back(std::make_unique<NetworkTensor>(line, model.fault == "shape-tensor"));
  }
  std::int32_t getNbInputs() const noexcept override { return static_cast<std::int32_t>(inputs_.size()); }
  std::int32_t getNbOutputs() const noexcept override { return static_cast<std::int32_t>(outputs_.size()); }
  nvinfer1::ITensor* getInput(std::int32_t n) const noexcept override { return inputs_[n].get(); }
  nvinfer1::ITensor* getOutput(std::int32_t n) const noexcept override { return outputs_[n].get(); }

  const unsigned flags;
  Model model;

 private:
  std::vector<std::unique_ptr<NetworkTensor>> inputs_, outputs_;
};

class ShapeProfile : public Played<nvinfer1::IOptimizationProfile, nvinfer1::stubs::OptimizationProfile> {
 public:
  bool setDimensions(const char* input, nvinfer1::OptProfileSelector bound, const nvinfer1::Dims& dims) noexcept override {
    auto& range = ranges[input];
    (bound == nvinfer1::OptProfileSelector::kMIN ? range.first : range.second) = dims;
    return true;
  }
  std::map<std::string, std::pair<nvinfer1::Dims, nvinfer1::Dims>> ranges;
};

class Config : public Played<nvinfer1::IBuilderConfig, nvinfer1::stubs::BuilderConfig> {
 public:
  std::int32_t addOptimizationProfile(const nvinfer1::IOptimizationProfile* added) noexcept override {
    return profile = static_cast<const ShapeProfile*>(added), 0;
  }
  void setProfilingVerbosity(nvinfer1::ProfilingVerbosity wanted) noexcept override { verbosity = static_cast<int>(wanted); }
  void setProgressMonitor(nvinfer1::IProgressMonitor* wanted) noexcept override { monitor = wanted; }
  void setFlag(nvinfer1::BuilderFlag flag) noexcept override { flags |= 1u << static_cast<int>(flag); }
  void clearFlag(nvinfer1::BuilderFlag flag) noexcept override { flags &= ~(1u << static_cast<int>(flag)); }

  const ShapeProfile* profile = nullptr;
  nvinfer1::IProgressMonitor* monitor = nullptr;
  unsigned flags = 1u << static_cast<int>(nvinfer1::BuilderFlag::kTF32);
  int verbosity = -1;
};

class Builder : public Played<nvinfer1::IBuilder, nvinfer1::stubs::Builder> {
 public:
  explicit Builder(nvinfer1::ILogger& log) : log_(log) {}

  // Of version 10 only; not marked as overriding, for 11 has none of them.
  bool platformHasFastFp16() const noexcept { return !is_kind("old-gpu"); }
  bool platformHasFastInt8() const noexcept { return !is_kind("old-gpu"); }
  bool platformHasTf32() const noexcept { return !is_kind("old-gpu"); }

  bool setMaxThreads(std::int32_t) noexcept override { return true; }
  nvinfer1::INetworkDefinition* createNetworkV2(unsigned flags) noexcept override { return new FakeNetwork(flags); }
  nvinfer1::IBuilderConfig* createBuilderConfig() noexcept override { return new Config; }
  nvinfer1::IOptimizationProfile* createOptimizationProfile() noexcept override { return &profile_; }
  nvinfer1::IHostMemory* buildSerializedNetwork(nvinfer1::INetworkDefinition& network, nvinfer1::IBuilderConfig& config) noexcept override;

 private:
  nvinfer1::ILogger& log_;
  ShapeProfile profile_;
};

// False: the build is to end.
bool report_progress(nvinfer1::IProgressMonitor& monitor) {
  monitor.phaseStart("Building Engine", nullptr, 2);
  const bool go_on = monitor.stepComplete("Building Engine", 0) && monitor.stepComplete("Building Engine", 1);
  monitor.phaseFinish("Building Engine");
  return go_on;
}

nvinfer1::IHostMemory* Builder::buildSerializedNetwork(nvinfer1::INetworkDefinition& network, nvinfer1::IBuilderConfig& with) noexcept {
  const auto& from = static_cast<const FakeNetwork&>(network);
  const auto& config = static_cast<const Config&>(with);
  if (config.monitor != nullptr && !report_progress(*config.monitor)) return nullptr;
  if (from.model.fault == "build") {
    log_error(log_, "Error Code 10: Internal Error (Could not find any implementation for node /block/Foo.)");
    return nullptr;
  }
  std::ostringstream text;
  text << "engine " << NV_TENSORRT_MAJOR << "\n" << from.model.text;
  if (config.profile != nullptr)
    for (const auto& [name, range] : config.profile->ranges)
      text << "profile 0 " << name << " " << sizes_text(range.first) << " " << sizes_text(range.second) << "\n";
  text << "built network-flags " << from.flags << " builder-flags " << config.flags << " verbosity " << config.verbosity << "\n";
  return new Bytes(text.str());
}

class ParserError : public nvonnxparser::stubs::ParserError {
 public:
  std::string description, node_name, type;
  const char* desc() const noexcept override { return description.c_str(); }
  const char* nodeName() const noexcept override { return node_name.c_str(); }
  const char* nodeOperator() const noexcept override { return type.c_str(); }
  int node() const noexcept override { return type.empty() ? -1 : 4; }
};

class Parser : public nvonnxparser::stubs::Parser {
 public:
  explicit Parser(FakeNetwork& network) : network_(network) {}
  bool parseFromFile(const char* path, int) noexcept override;
  int getNbErrors() const noexcept override { return failed_ ? 1 : 0; }
  const nvonnxparser::IParserError* getError(int) const noexcept override { return &error_; }

 private:
  bool fail(std::string description) { return error_.description = std::move(description), failed_ = true, false; }

  FakeNetwork& network_;
  ParserError error_;
  bool failed_ = false;
};

bool Parser::parseFromFile(const char* path, int) noexcept {
  std::ifstream file(path, std::ios::binary);
  Model model = model_of(std::string(std::istreambuf_iterator<char>(file), {}));
  if (model.kind != "onnx") return fail("Failed to parse ONNX model from file");
  error_.node_name = model.unsupported_node;
  error_.type = model.unsupported_operator;
  if (!error_.type.empty()) return fail("No importer registered for op: " + error_.type);
  network_.take(std::move(model));
  return true;
}

}  // namespace
}  // namespace nl::fake

extern "C" void* createInferBuilder_INTERNAL(void* log, std::int32_t) noexcept {
  return static_cast<nvinfer1::IBuilder*>(new nl::fake::Builder(*static_cast<nvinfer1::ILogger*>(log)));
}

extern "C" void* createNvOnnxParser_INTERNAL(void* network, void*, int) noexcept {
  return static_cast<nvonnxparser::IParser*>(
      new nl::fake::Parser(static_cast<nl::fake::FakeNetwork&>(*static_cast<nvinfer1::INetworkDefinition*>(network))));
}

#include "adapters/tensorrt/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <string>

#include "adapters/tensor_types.h"
#include "adapters/tensorrt/tensors.h"
#include "model/error.h"

namespace nl::adapters::tensorrt {
namespace {

// Tells how far the build of an engine is, at most once a second, and ends it where Ctrl-C was pressed.
// TensorRT calls from several threads, and lets no exception through.
class BuildProgress : public nvinfer1::IProgressMonitor {
 public:
  BuildProgress(std::function<void(const std::string&)> tell, std::function<void()> check_interrupt);

  void phaseStart(const char* phase, const char* parent, std::int32_t steps) noexcept override;
  bool stepComplete(const char* phase, std::int32_t step) noexcept override;
  void phaseFinish(const char* phase) noexcept override;

  void rethrow() const;  // what check_interrupt threw, if it did

 private:
  std::function<void(const std::string&)> tell_;
  std::function<void()> check_interrupt_;
  std::mutex mutex_;
  std::map<std::string, std::int32_t> steps_;
  std::chrono::steady_clock::time_point told_{};
  std::exception_ptr interrupt_;
};

BuildProgress::BuildProgress(std::function<void(const std::string&)> tell, std::function<void()> check_interrupt)
    : tell_(std::move(tell)), check_interrupt_(std::move(check_interrupt)) {}

void BuildProgress::phaseStart(const char* phase, const char*, std::int32_t steps) noexcept {
  const std::lock_guard lock(mutex_);
  steps_[phase] = steps;
}

bool BuildProgress::stepComplete(const char* phase, std::int32_t step) noexcept {
  const std::lock_guard lock(mutex_);
  if (interrupt_) return false;
  const auto now = std::chrono::steady_clock::now();
  try {
    check_interrupt_();
    if (now - told_ < std::chrono::seconds(1)) return true;
    told_ = now;
    tell_(fmt::format("building the engine: {}, step {} of {}", phase, step + 1, steps_[phase]));
  } catch (...) {
    interrupt_ = std::current_exception();
  }
  return !interrupt_;
}

void BuildProgress::phaseFinish(const char* phase) noexcept {
  const std::lock_guard lock(mutex_);
  steps_.erase(phase);
}

void BuildProgress::rethrow() const {
  if (interrupt_) std::rethrow_exception(interrupt_);
}

constexpr int kMostParserErrors = 3;

std::string text_of(const char* text) { return text == nullptr ? "" : text; }

// "node /block/Foo (Foo): no importer registered for op Foo"
std::string parser_errors(const nvonnxparser::IParser& parser) {
  std::string lines;
  for (int n = 0; n < parser.getNbErrors() && n < kMostParserErrors; ++n) {
    const nvonnxparser::IParserError* error = parser.getError(n);
    const std::string node = text_of(error->nodeName()), type = text_of(error->nodeOperator());
    lines += lines.empty() ? "" : "; ";
    if (!type.empty()) lines += fmt::format("node {} ({}): ", node.empty() ? std::to_string(error->node()) : node, type);
    lines += text_of(error->desc());
  }
  return lines;
}

std::string built_name(const SessionOptions& options, const std::vector<Tensor>& inputs) {
  std::string key = options.model.string() + " " + options.precision;
  for (const Tensor& input : inputs) key += " " + input.name + shape_text(input.shape);
  return fmt::format("{:016x}.engine", std::hash<std::string>()(key));
}

std::vector<char> bytes_of_file(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

Network::Network(const InferLibrary& library, const SessionOptions& options, Log& log)
    : options_(options), log_(log), builder_(library.builder(log)) {
  check_precision(*builder_, options.precision);
  if (options.threads > 0) builder_->setMaxThreads(static_cast<std::int32_t>(options.threads));
  network_.reset(builder_->createNetworkV2(network_flags(options.precision)));
  if (!network_) throw Error(ErrorKind::kTool, "TensorRT cannot begin a network" + quoted(log), library.path);
  parser_ = onnx_parser(*network_, log);
  parse();
}

void Network::parse() {
  const auto warnings_and_worse = static_cast<int>(nvinfer1::ILogger::Severity::kWARNING);
  if (parser_->parseFromFile(options_.model.c_str(), warnings_and_worse)) return;
  std::string reason = parser_errors(*parser_);
  if (reason.empty()) reason = log_.take_errors();
  throw Error(ErrorKind::kInput, "TensorRT cannot read this model: " + (reason.empty() ? "no reason given" : reason),
              options_.model.string(),
              "check that it is a whole ONNX file, with its external data beside it; for an operator that is not supported run --backend "
              "onnxruntime");
}

std::vector<TensorSpec> Network::inputs() const {
  std::vector<TensorSpec> specs;
  for (std::int32_t n = 0; n < network_->getNbInputs(); ++n) specs.push_back(spec_of(*network_->getInput(n)));
  return specs;
}

std::vector<TensorSpec> Network::outputs() const {
  std::vector<TensorSpec> specs;
  for (std::int32_t n = 0; n < network_->getNbOutputs(); ++n) specs.push_back(spec_of(*network_->getOutput(n)));
  return specs;
}

// Only inputs with open sizes are in a profile.
void Network::set_shapes(const std::vector<Tensor>& inputs, nvinfer1::IBuilderConfig& config) {
  using enum nvinfer1::OptProfileSelector;
  nvinfer1::IOptimizationProfile* profile = nullptr;  // the builder's own
  for (std::int32_t n = 0; n < network_->getNbInputs(); ++n) {
    const nvinfer1::ITensor& input = *network_->getInput(n);
    const auto given = std::find_if(inputs.begin(), inputs.end(), [&](const Tensor& tensor) { return tensor.name == input.getName(); });
    if (given == inputs.end() || !has_open_size(input.getDimensions())) continue;
    if (profile == nullptr) profile = builder_->createOptimizationProfile();
    for (const auto bound : {kMIN, kOPT, kMAX})
      if (profile == nullptr || !profile->setDimensions(given->name.c_str(), bound, dims_of(given->shape))) refuse_shape(*given);
  }
  if (profile != nullptr && config.addOptimizationProfile(profile) < 0) refuse_shape(inputs.front());
}

void Network::refuse_shape(const Tensor& input) {
  throw Error(ErrorKind::kUsage, fmt::format("TensorRT cannot take the shape {}{}", shape_text(input.shape), quoted(log_)),
              "input " + input.name, "give other sizes with --dim or --inputs");
}

std::unique_ptr<nvinfer1::IBuilderConfig> Network::configuration(const std::vector<Tensor>& inputs) {
  std::unique_ptr<nvinfer1::IBuilderConfig> config(builder_->createBuilderConfig());
  if (!config) throw Error(ErrorKind::kTool, "TensorRT cannot begin a build" + quoted(log_), options_.model.string());
  set_shapes(inputs, *config);
  config->setProfilingVerbosity(nvinfer1::ProfilingVerbosity::kDETAILED);  // types, shapes and the model's nodes for each layer
  set_precision(*config, options_.precision);
  return config;
}

std::vector<char> Network::build(const std::vector<Tensor>& inputs) {
  for (std::int32_t n = 0; n < network_->getNbInputs(); ++n)
    if (const nvinfer1::ITensor& input = *network_->getInput(n); input.isShapeTensor())
      throw Error(ErrorKind::kUsage, "its values decide the shapes of other tensors, which nl-stage cannot build an engine for",
                  fmt::format("input {}", input.getName()),
                  "build the engine with trtexec --minShapes --optShapes --maxShapes, and give that");
  const std::unique_ptr<nvinfer1::IBuilderConfig> config = configuration(inputs);
  BuildProgress progress(options_.progress, options_.check_interrupt);
  config->setProgressMonitor(&progress);
  options_.progress("building the engine; this can take minutes");
  log_.take_errors();  // of what went well nevertheless
  const std::unique_ptr<nvinfer1::IHostMemory> built(builder_->buildSerializedNetwork(*network_, *config));
  progress.rethrow();
  if (!built)
    throw Error(ErrorKind::kWorkload, "TensorRT cannot build an engine for this model" + quoted(log_), options_.model.string(),
                "give smaller sizes where memory did not suffice; run --backend onnxruntime for an operator that is not supported");
  const auto* bytes = static_cast<const char*>(built->data());
  return {bytes, bytes + built->size()};
}

std::vector<char> Network::engine_for(const std::vector<Tensor>& inputs) {
  const std::filesystem::path kept = options_.scratch / built_name(options_, inputs);
  if (!options_.scratch.empty() && std::filesystem::exists(kept)) return bytes_of_file(kept);
  std::vector<char> engine = build(inputs);
  if (options_.scratch.empty()) return engine;
  std::ofstream file(kept, std::ios::binary);
  file.write(engine.data(), static_cast<std::streamsize>(engine.size()));
  file.close();
  if (!file) std::filesystem::remove(kept);  // a full disk: it is built again
  return engine;
}

}  // namespace nl::adapters::tensorrt

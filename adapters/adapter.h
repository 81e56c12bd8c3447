#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/session.h"

// Runs a model file in this process and reports each operator. A backend is one folder behind this interface; its library is loaded when a
// session is opened, never before.
namespace nl::adapters {

// Size of one dimension of a model's input; a symbol where the model leaves it open.
struct Dimension {
  std::int64_t size = -1;  // -1: open
  std::string symbol;      // "batch"; may be empty for an open one
};

struct TensorSpec {
  std::string name;
  std::string dtype;  // as TensorInfo's
  std::vector<Dimension> shape;
  bool shape_known = true;  // TorchScript files do not say: the shape comes from --inputs or --shape
};

struct Tensor {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> data;  // dense, row by row, little endian
};

struct SessionOptions {
  std::filesystem::path model;
  std::string provider = "cpu";
  std::string precision;  // "fp32", "fp16", "bf16", "int8"; empty: as the model has it
  std::uint32_t threads = 0;
  std::filesystem::path scratch;                                                 // an empty folder for what the backend writes by itself
  bool profiled = false;                                                         // report the executions of operators
  std::function<void(const std::string&)> progress = [](const std::string&) {};  // a line, while a load takes minutes
  std::function<void()> check_interrupt = [] {};  // throws where Ctrl-C was pressed; between iterations, and while an engine is built
};

// What was executed since the session was opened: nodes and runs, or the profile that the library wrote of them.
struct Executions {
  std::vector<SessionNode> nodes;
  std::vector<NodeRun> runs;  // iterations count from 0, warm-up included
  bool host_times_known = true;
  std::optional<SessionProfile> profile = {};
};

// The weights of a model file, as far as its format tells.
struct ModelWeights {
  std::map<std::string, std::uint64_t> bytes_by_dtype;  // as TensorInfo's dtype
  std::vector<std::filesystem::path> files;             // beside the model file, with weights of it
};

class Session {
 public:
  virtual ~Session() = default;
  virtual std::vector<TensorSpec> inputs() const = 0;
  virtual std::vector<TensorSpec> outputs() const = 0;
  virtual void bind(std::vector<Tensor> inputs) = 0;  // they fit inputs()
  virtual void run() = 0;                             // one iteration; returns when the device has finished
  virtual std::vector<Tensor> results() = 0;          // of the last iteration
  virtual Executions executions() = 0;                // of a profiled session, once, at its end
  virtual ModelWeights weights() const { return {}; }
};

struct Availability {
  bool built_in = false;               // headers were there when nl-stage was built
  bool loads = false;                  // its library was found here and has the version that is needed
  std::string version;                 // of the library
  std::string library;                 // its path
  std::string reason;                  // why not
  std::vector<std::string> providers;  // "cpu", "cuda"
};

class Adapter {
 public:
  virtual ~Adapter() = default;
  virtual std::string name() const = 0;   // "onnxruntime"
  virtual std::string title() const = 0;  // "ONNX Runtime"
  virtual bool for_tests() const { return false; }
  virtual Availability availability() const = 0;
  // The inputs that the file declares, read without loading it; nothing where its format or this backend does not tell. Throws Error(kInput) where the file
  // is no model of this backend.
  virtual std::optional<std::vector<TensorSpec>> declared_inputs(const std::filesystem::path&) const { return std::nullopt; }
  // Throws Error: kTool where the library is missing, kInput for a model that it cannot read, kUsage for what the model or the device lacks.
  virtual std::unique_ptr<Session> open(const SessionOptions& options) const = 0;
};

// All backends, those for tests last. Throws Error(kUsage) with the nearest name for one that is not there.
const std::vector<std::unique_ptr<Adapter>>& registry();
const Adapter& adapter_named(const std::string& name);

// Each is defined in its own folder, or in a file <name>_none.cpp where Meson did not find its headers.
std::unique_ptr<Adapter> onnxruntime_adapter();
std::unique_ptr<Adapter> libtorch_adapter();
std::unique_ptr<Adapter> tensorrt_adapter();

// Does no work: what it reports is written in the "model" file, line by line (fake.cpp). For tests.
std::unique_ptr<Adapter> fake_adapter();

// Stands in for a backend that nl-stage was built without. fix: how to build it in.
std::unique_ptr<Adapter> not_built(std::string name, std::string title, std::string fix);

}  // namespace nl::adapters

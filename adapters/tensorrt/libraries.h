#pragma once

#include <NvInfer.h>
#include <NvOnnxParser.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace nl::adapters::tensorrt {

// Collects what TensorRT logs. Its functions return null or false; only these lines say why.
// TensorRT calls it from its own threads, and every object of TensorRT refers to the log: the log must outlive them.
class Log : public nvinfer1::ILogger {
 public:
  void log(Severity severity, const char* line) noexcept override;

  // Errors since the last call, without repetitions. Of many it gives the first two, which tend to name the cause, and the
  // last three: a build tries kernels that fail, and goes on.
  std::string take_errors();

 private:
  std::mutex mutex_;
  std::vector<std::string> errors_;
};

// " (TensorRT: line; line)", or nothing; goes behind the sentence that says what did not work.
std::string quoted(Log& log);

// The folder that NL_STAGE_TENSORRT names, and no other; without it the places where the system has its libraries.
std::vector<std::string> library_folders();

// Opens the first of the names that is in one of the folders and never closes it (TensorRT and CUDA have threads). null: `trouble` says why.
void* open_library(const std::vector<std::string>& folders, const std::vector<std::string>& names, std::string& path, std::string& trouble);

// libnvinfer.so of the major version that nl-stage was built for. Only functions of that version's first release are called, so that a
// library older than the headers works too.
class InferLibrary {
 public:
  InferLibrary();  // throws Error(kTool) where it is missing or of another major version

  std::unique_ptr<nvinfer1::IRuntime> runtime(Log& log) const;
  std::unique_ptr<nvinfer1::IBuilder> builder(Log& log) const;

  std::string version;  // "10.3.0"
  std::string path;

 private:
  void* create(const char* function, Log& log) const;

  void* handle_ = nullptr;
  std::int32_t version_code_ = 0;
};

// libnvonnxparser.so, which only an ONNX file needs. Throws Error(kTool).
std::unique_ptr<nvonnxparser::IParser> onnx_parser(nvinfer1::INetworkDefinition& network, Log& log);

}  // namespace nl::adapters::tensorrt

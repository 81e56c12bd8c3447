#pragma once

#include <NvInfer.h>

#include <mutex>
#include <string>
#include <vector>

namespace nl::adapters::tensorrt {

// What TensorRT says while it works. Its functions return null or false; only these lines tell why.
// It calls from threads of its own, and everything it made refers to the log: the log lives longest.
class Log : public nvinfer1::ILogger {
 public:
  void log(Severity severity, const char* line) noexcept override;

  // Errors since the last call, without the repetitions that TensorRT is fond of. Of many the first two, which tend to name the cause, and the
  // last three: a build tries kernels that fail, and goes on.
  std::string take_errors();

 private:
  std::mutex mutex_;
  std::vector<std::string> errors_;
};

// " (TensorRT: line; line)", or nothing; goes behind the sentence that says what did not work.
std::string quoted(Log& log);

}  // namespace nl::adapters::tensorrt

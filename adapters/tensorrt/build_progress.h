#pragma once

#include <NvInfer.h>

#include <chrono>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <string>

namespace nl::adapters::tensorrt {

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

}  // namespace nl::adapters::tensorrt

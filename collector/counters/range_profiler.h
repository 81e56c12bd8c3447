#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/counters/metric_set.h"
#include "collector/gpu/cupti_library.h"

namespace nl::collector {

// CUPTI's Range Profiler on one context: counters between two points of the program (UserRange), or of one launch
// (AutoRange), which is replayed where the metrics need several passes.
class RangeProfiler {
 public:
  static bool offered(const cupti::ProfilerApi& api);  // CUDA 12.6 and later

  CounterTrouble open(const CuptiLibrary& library, void* context, std::uint32_t device);
  CounterTrouble prepare(MetricSet& metrics, bool one_pass);  // for this device
  CounterTrouble configure(MetricSet& metrics, Image& image, cupti::RangeMode mode, std::size_t ranges);

  CounterTrouble start();
  CounterTrouble stop();  // what was measured lies in the image then
  CounterTrouble push(const char* name);
  CounterTrouble pop();
  std::size_t ranges() const;
  const char* range_name(std::size_t range) const;
  CounterTrouble clear();  // the image, for what comes next
  CounterTrouble close();  // no calls but open() after it
  void forget();           // the same where the context is gone already

  void* context() const { return context_; }
  std::uint32_t device() const { return device_; }
  bool is_open() const { return profiler_ != nullptr; }
  bool started() const { return started_; }
  std::size_t dropped() const { return dropped_; }

 private:
  CounterTrouble renew();

  const CuptiLibrary* library_ = nullptr;
  const cupti::ProfilerApi* api_ = nullptr;
  void* context_ = nullptr;
  std::uint32_t device_ = 0;
  const char* chip_ = nullptr;
  Image availability_;
  void* profiler_ = nullptr;
  Image* image_ = nullptr;
  bool started_ = false;
  std::size_t dropped_ = 0;
};

}  // namespace nl::collector

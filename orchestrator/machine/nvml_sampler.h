#pragma once

#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "model/perturbation.h"

namespace nl::orchestrator {

// The meters of all GPUs. Tests script one.
class PowerMeter {
 public:
  virtual ~PowerMeter() = default;
  // One sample a GPU, without the time. Energy and power always; `everything`: the slow ones too.
  virtual std::vector<PowerSample> read(bool everything) = 0;
  virtual std::vector<std::string> uuids() const = 0;  // by PowerSample::device; empty texts where unknown
};

// Null where NVML does not answer or knows no GPU; `trouble` says why.
std::unique_ptr<PowerMeter> open_nvml_meter(const std::filesystem::path& library, std::string& trouble);

// Reads a meter in a thread of its own while a pass runs. Time is that of CLOCK_REALTIME at the start plus
// what CLOCK_MONOTONIC has gone on since, as in the collector's traces: a stepped clock does not move the two apart.
class PowerSampler {
 public:
  PowerSampler(std::unique_ptr<PowerMeter> meter, double interval_ms);
  ~PowerSampler();
  PowerSampler(const PowerSampler&) = delete;
  PowerSampler& operator=(const PowerSampler&) = delete;

  void begin();
  std::vector<PowerSample> end();  // everything since begin()
  std::vector<std::string> uuids() const { return meter_->uuids(); }

 private:
  void sample_until_told();
  void store(std::vector<PowerSample> reading, std::int64_t utc_ns);

  std::unique_ptr<PowerMeter> meter_;
  const double interval_ms_;
  std::vector<PowerSample> samples_;
  std::uint32_t keep_one_in_ = 1;
  std::uint64_t readings_ = 0;
  std::int64_t realtime_ns_ = 0, monotonic_ns_ = 0;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;
};

// How long to wait before the next reading: the interval that was asked for, or so much more that reading
// stays below 5 % of a processor: on an H200 a reading takes some 5 ms of system time, and the counter moves every 100 ms.
double sampling_pause_ms(double interval_ms, double cpu_ms_per_reading);

// Keeps the first, third, fifth … reading of so many GPUs each.
void drop_every_other(std::vector<PowerSample>& samples, std::size_t gpus);

}  // namespace nl::orchestrator

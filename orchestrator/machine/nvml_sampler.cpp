#include "orchestrator/machine/nvml_sampler.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <algorithm>
#include <chrono>

#include "orchestrator/machine/nvml.h"
#include "orchestrator/sampling/clock.h"

namespace nl::orchestrator {
namespace {

constexpr double kProcessorShare = 0.05;
constexpr int kSlowEvery = 5;                 // clocks, temperature and the like change slowly
constexpr std::size_t kMostSamples = 200000;  // 27 MB; beyond it every other reading is dropped
constexpr unsigned kPowerInstant = 186;       // NVML_FI_DEV_POWER_INSTANT, driver 535 and later

class NvmlMeter : public PowerMeter {
 public:
  NvmlMeter(std::unique_ptr<Nvml> nvml, std::vector<NvmlDevice> devices) : nvml_(std::move(nvml)), devices_(std::move(devices)) {}

  std::vector<PowerSample> read(bool everything) override {
    std::vector<PowerSample> samples(devices_.size());
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      samples[i].device = static_cast<std::int32_t>(i);
      unsigned long long millijoules = 0;
      if (nvml_->total_energy && nvml_->total_energy(devices_[i], &millijoules) == 0)
        samples[i].energy_j = static_cast<double>(millijoules) * 1e-3;
      samples[i].power_w = power(devices_[i]);
      if (everything) read_slow(devices_[i], samples[i]);
    }
    return samples;
  }

  std::vector<std::string> uuids() const override {
    std::vector<std::string> all;
    for (const NvmlDevice device : devices_) all.push_back(nvml_->uuid(device));
    return all;
  }

 private:
  // The plain reading is the mean of the last second on most GPUs since Ampere: too slow for a stage.
  std::optional<double> power(NvmlDevice device) const {
    if (nvml_->field_values) {
      NvmlFieldValue field;
      field.field = kPowerInstant;
      if (nvml_->field_values(device, 1, &field) == 0 && field.result == 0) {
        if (field.value_type == 0) return field.value.number * 1e-3;
        if (field.value_type == 1) return field.value.whole32 * 1e-3;
        return static_cast<double>(field.value.whole64) * 1e-3;
      }
    }
    unsigned milliwatts = 0;
    if (nvml_->power_usage && nvml_->power_usage(device, &milliwatts) == 0) return milliwatts * 1e-3;
    return std::nullopt;
  }

  void read_slow(NvmlDevice device, PowerSample& sample) const {
    unsigned value = 0;
    if (nvml_->clock_info && nvml_->clock_info(device, 1, &value) == 0) sample.sm_clock_mhz = value;
    if (nvml_->clock_info && nvml_->clock_info(device, 2, &value) == 0) sample.memory_clock_mhz = value;
    if (nvml_->temperature && nvml_->temperature(device, 0, &value) == 0) sample.temperature_c = value;
    if (nvml_->enforced_power_limit && nvml_->enforced_power_limit(device, &value) == 0) sample.power_limit_w = value * 1e-3;
    NvmlUtilization use;
    if (nvml_->utilization && nvml_->utilization(device, &use) == 0) sample.gpu_utilisation = use.gpu / 100.0;
    unsigned long long reasons = 0;
    if (nvml_->clocks_event_reasons && nvml_->clocks_event_reasons(device, &reasons) == 0) sample.throttle_reasons = reasons;
  }

  std::unique_ptr<Nvml> nvml_;
  std::vector<NvmlDevice> devices_;
};

}  // namespace

std::unique_ptr<PowerMeter> open_nvml_meter(const std::filesystem::path& library, std::string& trouble) {
  auto nvml = Nvml::load(library, trouble);
  if (!nvml) return nullptr;
  auto devices = nvml->devices(trouble);
  if (devices.empty()) {
    if (trouble.empty()) trouble = "NVML knows no GPU";
    return nullptr;
  }
  return std::make_unique<NvmlMeter>(std::move(nvml), std::move(devices));
}

double sampling_pause_ms(double interval_ms, double cpu_ms_per_reading) {
  return std::max(interval_ms, cpu_ms_per_reading / kProcessorShare);
}

PowerSampler::PowerSampler(std::unique_ptr<PowerMeter> meter, double interval_ms) : meter_(std::move(meter)), interval_ms_(interval_ms) {}

PowerSampler::~PowerSampler() { end(); }

void PowerSampler::begin() {
  end();
  samples_.clear();
  keep_one_in_ = 1;
  readings_ = 0;
  stop_ = false;
  realtime_ns_ = clock_now_ns(CLOCK_REALTIME);
  monotonic_ns_ = clock_now_ns(CLOCK_MONOTONIC);
  sigset_t all, before;
  sigfillset(&all);
  // The thread inherits it: Ctrl-C and the death of a child are the main thread's business.
  pthread_sigmask(SIG_BLOCK, &all, &before);
  thread_ = std::thread([this] { sample_until_told(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

std::vector<PowerSample> PowerSampler::end() {
  if (!thread_.joinable()) return {};
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
  return std::move(samples_);
}

void PowerSampler::sample_until_told() {
  const std::int64_t cpu_start_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);
  std::unique_lock lock(mutex_);
  while (!stop_) {
    lock.unlock();
    const std::int64_t utc_ns = realtime_ns_ + clock_now_ns(CLOCK_MONOTONIC) - monotonic_ns_;
    store(meter_->read(readings_ % kSlowEvery == 0), utc_ns);
    const double cpu_ms = static_cast<double>(clock_now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_start_ns) * 1e-6;
    const double pause_ms = sampling_pause_ms(interval_ms_, cpu_ms / static_cast<double>(readings_));
    lock.lock();
    wake_.wait_for(lock, std::chrono::duration<double, std::milli>(pause_ms), [this] { return stop_; });
  }
}

// A long pass thins out what it has rather than filling the memory; the counter loses nothing by it.
void PowerSampler::store(std::vector<PowerSample> reading, std::int64_t utc_ns) {
  if (readings_++ % keep_one_in_ != 0) return;
  for (PowerSample& sample : reading) sample.utc_ns = utc_ns;
  samples_.insert(samples_.end(), reading.begin(), reading.end());
  if (samples_.size() < kMostSamples || reading.empty()) return;
  keep_one_in_ *= 2;
  drop_every_other(samples_, reading.size());
}

void drop_every_other(std::vector<PowerSample>& samples, std::size_t gpus) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < samples.size(); i += 2 * gpus)
    for (std::size_t j = i; j < std::min(i + gpus, samples.size()); ++j) samples[kept++] = samples[j];
  samples.resize(kept);
}

}  // namespace nl::orchestrator

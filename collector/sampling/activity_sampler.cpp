#include "collector/sampling/samplers.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

#include "collector/counters/metric_set.h"
#include "collector/gpu/log.h"
#include "collector/host_program.h"
#include "collector/lock.h"
#include "collector/nvtx/recorder.h"

namespace nl::collector {
namespace {

using namespace trace_format;

// Rows of samples, as many as fit into a record of the trace at a time.
class SampleWriter {
 public:
  SampleWriter(std::uint32_t set, std::size_t metrics, bool lost)
      : set_(set), metrics_(metrics), row_bytes_(kSampleBytes + metrics * sizeof(float)), lost_(lost) {}
  SampleWriter(const SampleWriter&) = delete;
  SampleWriter& operator=(const SampleWriter&) = delete;
  ~SampleWriter() { flush(); }
  void add(std::int64_t start_ns, std::uint32_t duration_ns, const double* values) {
    if (used_ + row_bytes_ + 8 > sizeof buffer_) flush();
    char* at = buffer_ + used_;
    std::memcpy(at, &start_ns, sizeof start_ns);
    std::memcpy(at + 8, &duration_ns, sizeof duration_ns);
    for (std::size_t i = 0; i < metrics_; ++i) {
      auto value = static_cast<float>(values[i]);
      std::memcpy(at + kSampleBytes + i * sizeof value, &value, sizeof value);
    }
    used_ += row_bytes_;
    ++count_;
  }

 private:
  void flush() {
    if (count_ == 0) return;
    std::size_t bytes = (used_ + 7) & ~std::size_t{7};
    std::memset(buffer_ + used_, 0, bytes - used_);
    Samples record{{Kind::kSamples, static_cast<std::uint16_t>(bytes), set_}, count_, lost_};
    std::memcpy(buffer_, &record, sizeof record);
    GpuLog().append(buffer_, bytes);
    used_ = sizeof(Samples);
    count_ = 0;
    lost_ = false;
  }
  std::uint32_t set_, count_ = 0;
  std::size_t metrics_, row_bytes_, used_ = sizeof(Samples);
  bool lost_;
  alignas(8) char buffer_[16 * 1024];
};

constexpr std::size_t kMaxDevices = 16;
// What does not fit into CUPTI's image, of some 36 KB a sample, is lost: it is emptied four times as often as it fills.
constexpr std::uint32_t kImageSamples = 512, kSamplesAtOnce = kImageSamples / 4;
constexpr std::size_t kHardwareBytes = 32 * 1024 * 1024;  // on the GPU; a sample takes less than 9 KB there
constexpr int kImageFull = 1;

struct GpuSampler {  // of one device
  std::uint32_t device = 0;
  void* sampler = nullptr;
  MetricSet metrics;
  Image availability, image;
  std::uint32_t set = 0;
  bool running = false;
  bool lost = false;  // samples, before the next one that is written
};

struct Sampling {
  // Devices are added in CUPTI's callbacks, maybe with the driver's locks held, and so never wait for a drain.
  pthread_mutex_t add_mutex = PTHREAD_MUTEX_INITIALIZER, drain_mutex = PTHREAD_MUTEX_INITIALIZER;
  const CuptiLibrary* library = nullptr;
  const char* metric_list = nullptr;
  long interval_us = 0;
  GpuSampler devices[kMaxDevices];
  std::atomic<std::size_t> device_count{0};
  std::atomic<bool> over{false};
  pid_t pid = 0;
  bool told_left_out = false;
};

constinit Sampling sampling;

const cupti::ProfilerApi& api() { return sampling.library->profiler; }

bool offered(const cupti::ProfilerApi& api) {
  return MetricSet::offered(api) && api.cuptiPmSamplingEnable != nullptr && api.cuptiPmSamplingSetConfig != nullptr &&
         api.cuptiPmSamplingStart != nullptr && api.cuptiPmSamplingStop != nullptr && api.cuptiPmSamplingDisable != nullptr &&
         api.cuptiPmSamplingGetCounterAvailability != nullptr && api.cuptiPmSamplingGetCounterDataSize != nullptr &&
         api.cuptiPmSamplingCounterDataImageInitialize != nullptr && api.cuptiPmSamplingDecodeData != nullptr &&
         api.cuptiPmSamplingGetCounterDataInfo != nullptr && api.cuptiPmSamplingCounterDataGetSampleInfo != nullptr;
}

template <typename Params>
Params of(const GpuSampler& gpu) {
  Params made = cupti::params<Params>();
  made.sampler = gpu.sampler;
  return made;
}

CounterTrouble prepare_metrics(GpuSampler& gpu) {
  auto initialize = cupti::params<cupti::ProfilerInitialize>();
  if (auto result = api().cuptiProfilerInitialize(&initialize)) return {result, "cuptiProfilerInitialize"};
  auto chip = cupti::params<cupti::ChipName>();
  chip.device = gpu.device;
  if (auto result = api().cuptiDeviceGetChipName(&chip)) return {result, "cuptiDeviceGetChipName"};
  auto available = cupti::params<cupti::PmAvailability>();
  available.device = gpu.device;
  if (auto result = api().cuptiPmSamplingGetCounterAvailability(&available)) return {result, "cuptiPmSamplingGetCounterAvailability"};
  if (!gpu.availability.create(available.bytes)) return {cupti::kNotReady, "memory"};
  available.image = gpu.availability.data();
  if (auto result = api().cuptiPmSamplingGetCounterAvailability(&available)) return {result, "cuptiPmSamplingGetCounterAvailability"};
  gpu.metrics.choose(sampling.metric_list);
  return {gpu.metrics.prepare(api(), cupti::kPmSampling, chip.name, gpu.availability.data(), true), "the metrics"};
}

// Chips without a timer for it (Turing, GA100) count cycles; before CUDA 12.9 the arguments were shorter.
CounterTrouble configure(GpuSampler& gpu) {
  auto config = of<cupti::PmSetConfig>(gpu);
  config.config_bytes = gpu.metrics.config().bytes();
  config.config = gpu.metrics.config().data();
  config.hardware_bytes = kHardwareBytes;
  cupti::Result result = cupti::kSuccess;
  for (auto trigger : {cupti::kEveryNanoseconds, cupti::kEveryCycles})
    for (std::size_t shorter : {0, 4}) {
      config.head.size = cupti::kParamsBytes<cupti::PmSetConfig> - shorter;
      config.trigger = trigger;
      constexpr std::uint64_t kUsualClockMhz = 1600;
      config.interval = static_cast<std::uint64_t>(sampling.interval_us) * (trigger == cupti::kEveryNanoseconds ? 1000 : kUsualClockMhz);
      result = api().cuptiPmSamplingSetConfig(&config);
      if (result == cupti::kSuccess) return {};
      if (result == cupti::kNoPrivilege || result == cupti::kHardwareBusy) return {result, "cuptiPmSamplingSetConfig"};
    }
  return {result, "cuptiPmSamplingSetConfig"};
}

CounterTrouble clear_image(GpuSampler& gpu) {
  auto fresh = of<cupti::PmDataInitialize>(gpu);
  fresh.bytes = gpu.image.bytes();
  fresh.image = gpu.image.data();
  return {api().cuptiPmSamplingCounterDataImageInitialize(&fresh), "cuptiPmSamplingCounterDataImageInitialize"};
}

CounterTrouble open_sampler(GpuSampler& gpu) {
  if (auto trouble = prepare_metrics(gpu)) return trouble;
  auto enable = cupti::params<cupti::PmEnable>();
  enable.device = gpu.device;
  if (auto result = api().cuptiPmSamplingEnable(&enable)) return {result, "cuptiPmSamplingEnable"};
  gpu.sampler = enable.sampler;
  if (auto trouble = configure(gpu)) return trouble;
  auto size = of<cupti::PmDataSize>(gpu);
  size.metrics = gpu.metrics.names();
  size.count = gpu.metrics.size();
  size.samples = kImageSamples;
  if (auto result = api().cuptiPmSamplingGetCounterDataSize(&size)) return {result, "cuptiPmSamplingGetCounterDataSize"};
  if (!gpu.image.create(size.bytes)) return {cupti::kNotReady, "memory"};
  if (auto trouble = clear_image(gpu)) return trouble;
  auto start = of<cupti::PmCall>(gpu);
  return {api().cuptiPmSamplingStart(&start), "cuptiPmSamplingStart"};
}

void close_sampler(GpuSampler& gpu) {
  gpu.running = false;
  if (gpu.sampler == nullptr) return;
  auto call = of<cupti::PmCall>(gpu);
  gpu.sampler = nullptr;
  api().cuptiPmSamplingDisable(&call);
}

void add_device(std::uint32_t device) {
  std::size_t count = sampling.device_count.load(std::memory_order_relaxed);
  if (count == kMaxDevices) return;
  GpuSampler& gpu = sampling.devices[count];
  gpu.device = device;
  auto trouble = open_sampler(gpu);
  if (!trouble) gpu.set = gpu.metrics.write(MetricUse::kSamples, device, static_cast<std::uint64_t>(sampling.interval_us) * 1000);
  gpu.running = !trouble;
  if (trouble) close_sampler(gpu);
  sampling.device_count.store(count + 1, std::memory_order_release);
  if (trouble) return note_trouble(*sampling.library, kNoActivity, trouble);
  if (*gpu.metrics.left_out() != '\0')
    note_once(sampling.told_left_out, "samples leave out what this GPU does not have or does not measure in one pass: %s",
              gpu.metrics.left_out());
}

void write_samples(GpuSampler& gpu) {
  auto count = cupti::params<cupti::PmCount>();
  count.image = gpu.image.data();
  count.bytes = gpu.image.bytes();
  if (api().cuptiPmSamplingGetCounterDataInfo(&count) != cupti::kSuccess) return;
  SampleWriter writer(gpu.set, gpu.metrics.size(), gpu.lost);
  double values[MetricSet::kMaxMetrics];
  for (std::size_t i = 0; i < count.completed; ++i) {
    auto info = of<cupti::PmSampleInfo>(gpu);
    info.image = gpu.image.data();
    info.bytes = gpu.image.bytes();
    info.sample = i;
    if (api().cuptiPmSamplingCounterDataGetSampleInfo(&info) != cupti::kSuccess) continue;
    std::uint64_t duration_ns = info.end - info.start;
    // The first one reaches back to when the counters were last read, by us or by another program; some are empty.
    if (duration_ns == 0 || duration_ns > 4'000 * static_cast<std::uint64_t>(sampling.interval_us)) continue;
    if (gpu.metrics.evaluate(gpu.image, i, values) != cupti::kSuccess) continue;
    writer.add(static_cast<std::int64_t>(info.start), static_cast<std::uint32_t>(duration_ns), values);
    gpu.lost = false;
  }
}

void drain(GpuSampler& gpu, std::int64_t until_ns) {
  while (gpu.running && now_ns() < until_ns) {
    auto decode = of<cupti::PmDecode>(gpu);
    decode.image = gpu.image.data();
    decode.bytes = gpu.image.bytes();
    cupti::Result result = api().cuptiPmSamplingDecodeData(&decode);
    if (result != cupti::kSuccess && decode.overflow == 0) {
      gpu.running = false;
      return note_trouble(*sampling.library, kNoMoreActivity, {result, "cuptiPmSamplingDecodeData"});
    }
    bool full = decode.stop_reason == kImageFull;
    gpu.lost = gpu.lost || decode.overflow != 0 || full;
    write_samples(gpu);
    if (clear_image(gpu) || !full) return;
  }
}

constexpr std::int64_t kOneDrainNs = 1'000'000'000;

void drain_all() {
  Lock lock(sampling.drain_mutex);
  std::size_t count = sampling.device_count.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count && !sampling.over.load(std::memory_order_acquire); ++i)
    drain(sampling.devices[i], now_ns() + kOneDrainNs);
}

void* sample_regularly(void*) {
  pthread_setname_np(pthread_self(), "nl-stage sample");
  long period_us = std::clamp(sampling.interval_us * long{kSamplesAtOnce}, 1'000L, 200'000L);
  while (!sampling.over.load(std::memory_order_relaxed)) {
    usleep(static_cast<useconds_t>(period_us));
    drain_all();
  }
  return nullptr;
}

}  // namespace

void sample_activity(const CuptiLibrary& library) {
  sampling.interval_us = number_from("NL_STAGE_PM_SAMPLING_US", 0, 50, 1'000'000);
  if (sampling.interval_us == 0) return;
  sampling.metric_list = kept_text_from("NL_STAGE_PM_METRICS");
  sampling.pid = getpid();
  if (sampling.metric_list == nullptr)
    return note(NoteCode::kActivityFailed, "%s: NL_STAGE_PM_METRICS names no metric", kActivityNotSampled);
  if (!offered(library.profiler))
    return note(NoteCode::kActivityFailed, "%s: that needs the CUPTI of CUDA 12.6 or later (this is %s)", kActivityNotSampled,
                library.path);
  if (stalls_are_sampled())
    return note(NoteCode::kActivityFailed, "%s: stalls are, and the GPU does only one of the two at a time", kActivityNotSampled);
  if (!run_in_background(sample_regularly)) return note(NoteCode::kActivityFailed, "%s: there is no thread for it", kActivityNotSampled);
  sampling.library = &library;
}

void sample_activity_of(std::uint32_t device) {
  if (sampling.library == nullptr || getpid() != sampling.pid) return;
  Lock lock(sampling.add_mutex);
  if (sampling.over.load(std::memory_order_acquire)) return;
  for (std::size_t i = 0; i < sampling.device_count.load(std::memory_order_relaxed); ++i)
    if (sampling.devices[i].device == device) return;
  add_device(device);
  std::atexit(finish_at_exit);
}

void finish_activity_samples() {
  if (sampling.library == nullptr || getpid() != sampling.pid || sampling.over.exchange(true)) return;
  AskedLock lock(sampling.drain_mutex, kPatienceSeconds);
  if (!lock) return;
  for (std::size_t i = 0; i < sampling.device_count.load(std::memory_order_acquire); ++i) {
    GpuSampler& gpu = sampling.devices[i];
    if (gpu.sampler == nullptr) continue;
    auto call = of<cupti::PmCall>(gpu);
    api().cuptiPmSamplingStop(&call);
    drain(gpu, now_ns() + kOneDrainNs);
    close_sampler(gpu);
  }
}

}  // namespace nl::collector

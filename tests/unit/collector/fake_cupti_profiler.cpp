// The counters of the stand-in libcupti: what they show is made of the launches that the program made. It keeps the
// rules of the real one that were learnt the hard way: more ranges than announced end the program, a profiler that
// measured one set of metrics has no values for another, samples beyond the image are lost.
#include "tests/unit/collector/fake_cupti_profiler.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include <dlfcn.h>

#include "collector/gpu/cupti_profiler_api.h"

#define FAKE extern "C" __attribute__((visibility("default")))

namespace {

using namespace nl::collector::cupti;

constexpr Result kWrongParameter = 1, kMadeToFail = 998;

// FAKE_CUPTI_FAIL: the function that fails.
bool fails(const char* function) {
  const char* chosen = std::getenv("FAKE_CUPTI_FAIL");
  return chosen != nullptr && std::strcmp(chosen, function) == 0;
}

std::atomic<std::uint64_t> launches{0};

// FAKE_CUPTI_LOG: which of these were called, one a line.
void log_call(const char* name) {
  const char* path = std::getenv("FAKE_CUPTI_LOG");
  if (path == nullptr) return;
  std::FILE* file = std::fopen(path, "ae");
  if (file == nullptr) return;
  std::fprintf(file, "%s\n", name);
  std::fclose(file);
}

Result denied() {
  const char* result = std::getenv("FAKE_CUPTI_DENY");
  return result != nullptr ? std::atoi(result) : 0;
}

// FAKE_CUPTI_CAPTURING: a graph is captured all the time, by a thread that is not named. As with the real driver, a thread must
// then have left the captures of others alone (CU_STREAM_CAPTURE_MODE_RELAXED) before it asks for what would spoil them.
Result spoils_capture() {
  if (std::getenv("FAKE_CUPTI_CAPTURING") == nullptr) return 0;
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (driver == nullptr) return 901;
  auto exchange = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuThreadExchangeStreamCaptureMode"));
  int mode = 0, ignored = 0;
  exchange(&mode);
  ignored = mode;
  exchange(&ignored);
  return mode == 2 ? 0 : 901;
}

std::uint64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

struct Host {
  std::vector<std::string> metrics;
};

struct Config {
  std::uint64_t passes, hash;
};

struct Entry {
  char name[24];
  std::uint64_t launches, start, end;
};

struct Data {  // at the front of a counter data image
  std::uint64_t room, count, hash;
  Entry entries[1];
};
std::size_t data_bytes(std::size_t room) { return sizeof(Data) + room * sizeof(Entry); }

struct Range {
  RangeSetConfig config;
  std::uint64_t hash = 0, pushes = 0, before = 0;
  bool started = false, open = false, configured_twice = false;
  std::string name;
  std::uint64_t next = 0;
};

struct Pm {
  std::uint64_t interval = 0, from = 0, stopped = 0;
};

Data& data_of(const std::uint8_t* image) { return *reinterpret_cast<Data*>(const_cast<std::uint8_t*>(image)); }

std::uint64_t hash_of(const Host& host) {
  std::uint64_t hash = 1;
  for (const auto& metric : host.metrics) hash = hash * 31 + std::hash<std::string>{}(metric);
  return hash;
}

void add_range(Range& range, const std::string& name, std::uint64_t count) {
  Data& data = data_of(range.config.image);
  for (std::uint64_t i = 0; i < data.count; ++i)
    if (name == data.entries[i].name) {
      data.entries[i].launches += count;
      return;
    }
  if (data.count == data.room) return;
  Entry& entry = data.entries[data.count++];
  std::strncpy(entry.name, name.c_str(), sizeof entry.name - 1);
  entry.launches = count;
  data.hash = range.configured_twice ? 0 : range.hash;
}

Range* automatic = nullptr;  // the one that makes a range of every launch

}  // namespace

void fake_profiler_launch() {
  ++launches;
  if (automatic != nullptr && automatic->started) add_range(*automatic, std::to_string(automatic->next++), 1);
}

FAKE Result cuptiProfilerInitialize(ProfilerInitialize*) {
  if (fails("cuptiProfilerInitialize")) return kMadeToFail;
  if (const char* ms = std::getenv("FAKE_CUPTI_SLOW_MS")) {
    timespec pause{0, std::atol(ms) * 1'000'000};
    nanosleep(&pause, nullptr);
  }
  return log_call("initialize"), 0;
}
FAKE Result cuptiDeviceGetChipName(ChipName* params) {
  if (fails("cuptiDeviceGetChipName")) return kMadeToFail;
  return params->name = "GH100", 0;
}
FAKE Result cuptiProfilerGetCounterAvailability(ContextAvailability* params) {
  if (fails("cuptiProfilerGetCounterAvailability")) return kMadeToFail;
  if (params->image == nullptr) params->bytes = 64;
  return denied();
}
FAKE Result cuptiProfilerHostInitialize(HostInitialize* params) {
  if (fails("cuptiProfilerHostInitialize")) return kMadeToFail;
  if (params->chip == nullptr || params->availability == nullptr) return kWrongParameter;
  return params->host = new Host, 0;
}
FAKE Result cuptiProfilerHostDeinitialize(HostDeinitialize* params) { return delete static_cast<Host*>(params->host), 0; }
FAKE Result cuptiProfilerHostConfigAddMetrics(HostAddMetrics* params) {
  for (std::size_t i = 0; i < params->count; ++i) {
    if (std::strncmp(params->metrics[i], "nosuch", 6) == 0) return 999;
    static_cast<Host*>(params->host)->metrics.push_back(params->metrics[i]);
  }
  return 0;
}
FAKE Result cuptiProfilerHostGetConfigImageSize(HostConfigSize* params) {
  if (fails("cuptiProfilerHostGetConfigImageSize")) return kMadeToFail;
  return params->bytes = sizeof(Config), params->host != nullptr ? 0 : kWrongParameter;
}
FAKE Result cuptiProfilerHostGetConfigImage(HostConfig* params) {
  if (fails("cuptiProfilerHostGetConfigImage")) return kMadeToFail;
  if (params->bytes < sizeof(Config)) return kWrongParameter;
  const Host& host = *static_cast<Host*>(params->host);
  bool many = std::any_of(host.metrics.begin(), host.metrics.end(), [](const auto& m) { return m.find("throughput") != m.npos; });
  Config config{many ? 11u : 1u, hash_of(host)};
  std::memcpy(params->config, &config, sizeof config);
  return 0;
}
FAKE Result cuptiProfilerHostGetNumOfPasses(HostPasses* params) {
  if (fails("cuptiProfilerHostGetNumOfPasses")) return kMadeToFail;
  if (params->bytes < sizeof(Config)) return kWrongParameter;
  return params->passes = reinterpret_cast<Config*>(params->config)->passes, 0;
}
FAKE Result cuptiProfilerHostEvaluateToGpuValues(HostEvaluate* params) {
  const Data& data = data_of(params->image);
  bool ours = data.hash == hash_of(*static_cast<Host*>(params->host));
  for (std::size_t i = 0; i < params->count; ++i) {
    std::string name = params->metrics[i];
    auto count = static_cast<double>(data.entries[params->range].launches);
    double value = name == "gpu__time_duration.sum" ? 1000 * count
                   : name == "dram__bytes_read.sum" ? 64 * count
                                                    : 10 + static_cast<double>(i);
    params->values[i] = ours ? value : std::nan("");
  }
  return 0;
}

FAKE Result cuptiRangeProfilerEnable(RangeEnable* params) {
  if (fails("cuptiRangeProfilerEnable")) return kMadeToFail;
  if (params->context == nullptr) return kWrongParameter;
  return log_call("enable"), params->profiler = new Range, 0;
}
FAKE Result cuptiRangeProfilerDisable(RangeCall* params) {
  log_call("disable");
  if (automatic == params->profiler) automatic = nullptr;
  return delete static_cast<Range*>(params->profiler), 0;
}
FAKE Result cuptiRangeProfilerGetCounterDataSize(RangeDataSize* params) {
  if (fails("cuptiRangeProfilerGetCounterDataSize")) return kMadeToFail;
  if (params->metrics == nullptr || params->count == 0 || params->nodes < params->ranges) return kWrongParameter;
  return params->bytes = data_bytes(params->ranges), 0;
}
FAKE Result cuptiRangeProfilerCounterDataImageInitialize(RangeDataInitialize* params) {
  if (fails("cuptiRangeProfilerCounterDataImageInitialize")) return kMadeToFail;
  std::memset(params->image, 0, params->bytes);
  data_of(params->image).room = (params->bytes - sizeof(Data)) / sizeof(Entry);
  return 0;
}
FAKE Result cuptiRangeProfilerSetConfig(RangeSetConfig* params) {
  if (fails("cuptiRangeProfilerSetConfig")) return kMadeToFail;
  const bool in_driver = params->range == kAutoRange;
  if (params->head.size != kParamsBytes<RangeSetConfig> || params->config_bytes < sizeof(Config) || params->image_bytes < sizeof(Data) ||
      params->image == nullptr || params->replay != (in_driver ? kKernelReplay : kUserReplay) || params->nesting_levels != 1 ||
      params->least_nesting_level != 1 || params->nesting_level != (in_driver ? 0 : 1))
    return kWrongParameter;
  auto& range = *static_cast<Range*>(params->profiler);
  std::uint64_t hash = reinterpret_cast<const Config*>(params->config)->hash;
  range.configured_twice = range.hash != 0 && range.hash != hash;
  range.hash = hash;
  range.config = *params;
  if (params->range == kAutoRange) automatic = &range;
  return 0;
}
FAKE Result cuptiRangeProfilerStart(RangeCall* params) {
  if (fails("cuptiRangeProfilerStart")) return kMadeToFail;
  return log_call("start"), static_cast<Range*>(params->profiler)->started = true, 0;
}
FAKE Result cuptiRangeProfilerStop(RangeStop* params) {
  static_cast<Range*>(params->profiler)->started = false;
  return params->all_passes = 1, 0;
}
FAKE Result cuptiRangeProfilerPushRange(RangePush* params) {
  auto& range = *static_cast<Range*>(params->profiler);
  if (const Result spoilt = spoils_capture()) return spoilt;
  if (!range.started || range.open) return 7;
  if (++range.pushes > range.config.ranges_per_pass) std::abort();
  range.open = true;
  range.name = params->name;
  range.before = launches;
  return 0;
}
FAKE Result cuptiRangeProfilerPopRange(RangeCall* params) {
  auto& range = *static_cast<Range*>(params->profiler);
  if (const Result spoilt = spoils_capture()) return spoilt;
  if (!range.open) return 7;
  range.open = false;
  add_range(range, range.name, launches - range.before);
  return 0;
}
FAKE Result cuptiRangeProfilerDecodeData(RangeDecode* params) { return params->dropped = 0, 0; }
FAKE Result cuptiRangeProfilerGetCounterDataInfo(RangeCount* params) {
  if (params->bytes < data_bytes(data_of(params->image).room)) return kWrongParameter;
  return params->ranges = data_of(params->image).count, 0;
}
FAKE Result cuptiRangeProfilerCounterDataGetRangeInfo(RangeInfo* params) {
  if (params->bytes < data_bytes(data_of(params->image).room) || params->delimiter == nullptr) return kWrongParameter;
  return params->name = data_of(params->image).entries[params->range].name, 0;
}

FAKE Result cuptiPmSamplingEnable(PmEnable* params) {
  if (fails("cuptiPmSamplingEnable")) return kMadeToFail;
  return params->sampler = new Pm, 0;
}
FAKE Result cuptiPmSamplingDisable(PmCall* params) { return delete static_cast<Pm*>(params->sampler), 0; }
FAKE Result cuptiPmSamplingGetCounterAvailability(PmAvailability* params) {
  if (fails("cuptiPmSamplingGetCounterAvailability")) return kMadeToFail;
  if (params->image == nullptr) params->bytes = 64;
  return 0;
}
FAKE Result cuptiPmSamplingSetConfig(PmSetConfig* params) {
  log_call(("configure " + std::to_string(params->head.size) + (params->trigger == kEveryNanoseconds ? " ns " : " cycles ") +
            std::to_string(params->interval))
               .c_str());
  // FAKE_CUPTI_PM: the only layout and trigger that are taken, "64 ns"; without it every layout, and nanoseconds.
  if (const char* taken = std::getenv("FAKE_CUPTI_PM")) {
    char* trigger = nullptr;
    const bool layout = std::strtoul(taken, &trigger, 10) == params->head.size;
    if (!layout || (std::strcmp(trigger, " ns") == 0) != (params->trigger == kEveryNanoseconds)) return kNotSupported;
  } else if (params->trigger != kEveryNanoseconds) {
    return kNotSupported;
  }
  static_cast<Pm*>(params->sampler)->interval = params->interval;
  return denied();
}
FAKE Result cuptiPmSamplingStart(PmCall* params) {
  if (fails("cuptiPmSamplingStart")) return kMadeToFail;
  return static_cast<Pm*>(params->sampler)->from = monotonic_ns(), 0;
}
FAKE Result cuptiPmSamplingStop(PmCall* params) { return static_cast<Pm*>(params->sampler)->stopped = monotonic_ns(), 0; }
FAKE Result cuptiPmSamplingGetCounterDataSize(PmDataSize* params) {
  if (fails("cuptiPmSamplingGetCounterDataSize")) return kMadeToFail;
  return params->bytes = data_bytes(params->samples), 0;
}
FAKE Result cuptiPmSamplingCounterDataImageInitialize(PmDataInitialize* params) {
  RangeDataInitialize same{{}, nullptr, params->bytes, params->image};
  return cuptiRangeProfilerCounterDataImageInitialize(&same);
}
FAKE Result cuptiPmSamplingDecodeData(PmDecode* params) {
  auto& pm = *static_cast<Pm*>(params->sampler);
  Data& data = data_of(params->image);
  std::uint64_t until = pm.stopped != 0 ? pm.stopped : monotonic_ns();
  params->stop_reason = 2;
  for (; pm.from + pm.interval <= until; pm.from += pm.interval) {
    if (data.count < data.room) data.entries[data.count++] = {"", launches, pm.from, pm.from + pm.interval};
    else params->stop_reason = 1;
  }
  return 0;
}
FAKE Result cuptiPmSamplingGetCounterDataInfo(PmCount* params) {
  params->total = data_of(params->image).room;
  return params->populated = params->completed = data_of(params->image).count, 0;
}
FAKE Result cuptiPmSamplingCounterDataGetSampleInfo(PmSampleInfo* params) {
  const Entry& entry = data_of(params->image).entries[params->sample];
  params->start = entry.start;
  // The first sample of all reaches far back, and there is an empty one now and then.
  params->end = params->sample % 7 == 3 ? entry.start : entry.end;
  return 0;
}

FAKE Result cuptiPCSamplingEnable(PcCall*) { return denied(); }
FAKE Result cuptiPCSamplingGetNumStallReasons(PcReasonCount* params) { return *params->count = 3, 0; }
FAKE Result cuptiPCSamplingGetStallReasons(PcReasons* params) {
  const char* names[] = {"smsp__pcsamp_warps_issue_stalled_wait", "smsp__pcsamp_warps_issue_stalled_long_scoreboard",
                         "smsp__pcsamp_warps_issue_stalled_selected"};
  for (std::uint32_t i = 0; i < 3; ++i) {
    params->indices[i] = i + 1;
    std::strncpy(params->names[i], names[i], kStallNameBytes - 1);
  }
  return 0;
}

namespace {
char gemm[] = "_Z4gemmILi128EEvPKfS1_Pfi";
PcSamples* at_the_end = nullptr;

void fill(PcSamples& samples, std::size_t instructions) {
  for (std::size_t i = 0; i < instructions && i < samples.room; ++i) {
    PcData& data = samples.data[samples.count++];
    data.function = gemm;
    data.offset = i * 16;
    data.stall_count = 2;
    data.stalls[0] = {1, 5};
    data.stalls[1] = {2, 20};
  }
}
}  // namespace

FAKE Result cuptiPCSamplingSetConfigurationAttribute(PcConfigure* params) {
  for (std::size_t i = 0; i < params->count; ++i)
    if (params->attributes[i].attribute == kPcDataBuffer) at_the_end = static_cast<PcSamples*>(params->attributes[i].buffer);
  return 0;
}
FAKE Result cuptiPCSamplingGetData(PcGetData* params) {
  static int calls = 0;
  auto& samples = *static_cast<PcSamples*>(params->samples);
  if (calls++ < 2) fill(samples, 2);
  samples.remaining = calls == 1 ? 2 : 0;
  return 0;
}
FAKE Result cuptiPCSamplingDisable(PcCall*) {
  if (at_the_end != nullptr) fill(*at_the_end, 1);
  return 0;
}

#include "collector/counters/range_profiler.h"

namespace nl::collector {
namespace {

template <typename Params>
Params of(void* profiler) {
  Params made = cupti::params<Params>();
  made.profiler = profiler;
  return made;
}

}  // namespace

bool RangeProfiler::offered(const cupti::ProfilerApi& api) {
  return MetricSet::offered(api) && api.cuptiProfilerGetCounterAvailability != nullptr && api.cuptiRangeProfilerEnable != nullptr &&
         api.cuptiRangeProfilerDisable != nullptr && api.cuptiRangeProfilerGetCounterDataSize != nullptr &&
         api.cuptiRangeProfilerCounterDataImageInitialize != nullptr && api.cuptiRangeProfilerSetConfig != nullptr &&
         api.cuptiRangeProfilerStart != nullptr && api.cuptiRangeProfilerStop != nullptr && api.cuptiRangeProfilerPushRange != nullptr &&
         api.cuptiRangeProfilerPopRange != nullptr && api.cuptiRangeProfilerDecodeData != nullptr &&
         api.cuptiRangeProfilerGetCounterDataInfo != nullptr && api.cuptiRangeProfilerCounterDataGetRangeInfo != nullptr;
}

CounterTrouble RangeProfiler::open(const CuptiLibrary& library, void* context, std::uint32_t device) {
  library_ = &library;
  api_ = &library.profiler;
  context_ = context;
  device_ = device;
  auto initialize = cupti::params<cupti::ProfilerInitialize>();
  if (auto result = api_->cuptiProfilerInitialize(&initialize)) return {result, "cuptiProfilerInitialize"};
  auto chip = cupti::params<cupti::ChipName>();
  chip.device = device;
  if (auto result = api_->cuptiDeviceGetChipName(&chip)) return {result, "cuptiDeviceGetChipName"};
  chip_ = chip.name;
  auto available = cupti::params<cupti::ContextAvailability>();
  available.context = context;
  if (auto result = api_->cuptiProfilerGetCounterAvailability(&available)) return {result, "cuptiProfilerGetCounterAvailability"};
  if (!availability_.create(available.bytes)) return {cupti::kNotReady, "memory"};
  available.image = availability_.data();
  if (auto result = api_->cuptiProfilerGetCounterAvailability(&available)) return {result, "cuptiProfilerGetCounterAvailability"};
  return {};
}

void RangeProfiler::forget() {
  profiler_ = context_ = nullptr;
  started_ = false;
}

CounterTrouble RangeProfiler::close() {
  auto disable = of<cupti::RangeCall>(profiler_);
  forget();
  return {api_->cuptiRangeProfilerDisable(&disable), "cuptiRangeProfilerDisable"};
}

// A profiler that has measured one set of metrics gives no values for another, and has room for so many ranges and no
// more: it is replaced.
CounterTrouble RangeProfiler::renew() {
  if (profiler_ != nullptr) {
    void* context = context_;
    if (CounterTrouble trouble = close()) return trouble;
    context_ = context;
  }
  auto enable = cupti::params<cupti::RangeEnable>();
  enable.context = context_;
  if (auto result = api_->cuptiRangeProfilerEnable(&enable)) return {result, "cuptiRangeProfilerEnable"};
  profiler_ = enable.profiler;
  return {};
}

CounterTrouble RangeProfiler::prepare(MetricSet& metrics, bool one_pass) {
  auto result = metrics.prepare(*api_, cupti::kRangeProfiler, chip_, availability_.data(), one_pass);
  return {result, "the metrics"};
}

CounterTrouble RangeProfiler::configure(MetricSet& metrics, Image& image, cupti::RangeMode mode, std::size_t ranges) {
  if (CounterTrouble trouble = renew()) return trouble;
  auto size = of<cupti::RangeDataSize>(profiler_);
  size.metrics = metrics.names();
  size.count = metrics.size();
  size.ranges = ranges;
  size.nodes = static_cast<std::uint32_t>(ranges);
  if (auto result = api_->cuptiRangeProfilerGetCounterDataSize(&size)) return {result, "cuptiRangeProfilerGetCounterDataSize"};
  if (!image.create(size.bytes)) return {cupti::kNotReady, "memory"};
  image_ = &image;
  if (CounterTrouble trouble = clear()) return trouble;
  auto config = of<cupti::RangeSetConfig>(profiler_);
  config.config_bytes = metrics.config().bytes();
  config.config = metrics.config().data();
  config.image_bytes = image.bytes();
  config.image = image.data();
  config.range = mode;
  config.replay = mode == cupti::kAutoRange ? cupti::kKernelReplay : cupti::kUserReplay;
  config.ranges_per_pass = ranges;
  config.nesting_levels = config.least_nesting_level = 1;
  config.nesting_level = mode == cupti::kAutoRange ? 0 : 1;
  return {api_->cuptiRangeProfilerSetConfig(&config), "cuptiRangeProfilerSetConfig"};
}

CounterTrouble RangeProfiler::start() {
  auto call = of<cupti::RangeCall>(profiler_);
  CounterTrouble trouble{api_->cuptiRangeProfilerStart(&call), "cuptiRangeProfilerStart"};
  started_ = !trouble;
  return trouble;
}

CounterTrouble RangeProfiler::stop() {
  started_ = false;
  auto call = of<cupti::RangeStop>(profiler_);
  if (auto result = api_->cuptiRangeProfilerStop(&call)) return {result, "cuptiRangeProfilerStop"};
  auto decode = of<cupti::RangeDecode>(profiler_);
  CounterTrouble trouble{api_->cuptiRangeProfilerDecodeData(&decode), "cuptiRangeProfilerDecodeData"};
  dropped_ = decode.dropped;
  return trouble;
}

CounterTrouble RangeProfiler::push(const char* name) {
  auto call = of<cupti::RangePush>(profiler_);
  call.name = name;
  return {api_->cuptiRangeProfilerPushRange(&call), "cuptiRangeProfilerPushRange"};
}

CounterTrouble RangeProfiler::pop() {
  auto call = of<cupti::RangeCall>(profiler_);
  return {api_->cuptiRangeProfilerPopRange(&call), "cuptiRangeProfilerPopRange"};
}

std::size_t RangeProfiler::ranges() const {
  auto count = cupti::params<cupti::RangeCount>();
  count.image = image_->data();
  count.bytes = image_->bytes();
  return api_->cuptiRangeProfilerGetCounterDataInfo(&count) == cupti::kSuccess ? count.ranges : 0;
}

const char* RangeProfiler::range_name(std::size_t range) const {
  auto info = cupti::params<cupti::RangeInfo>();
  info.image = image_->data();
  info.bytes = image_->bytes();
  info.range = range;
  info.delimiter = "/";
  return api_->cuptiRangeProfilerCounterDataGetRangeInfo(&info) == cupti::kSuccess && info.name != nullptr ? info.name : "";
}

CounterTrouble RangeProfiler::clear() {
  auto fresh = of<cupti::RangeDataInitialize>(profiler_);
  fresh.bytes = image_->bytes();
  fresh.image = image_->data();
  return {api_->cuptiRangeProfilerCounterDataImageInitialize(&fresh), "cuptiRangeProfilerCounterDataImageInitialize"};
}

}  // namespace nl::collector

#include "collector/counters/metric_set.h"

#include <cstdio>
#include <cstring>

#include <sys/mman.h>

namespace nl::collector {
namespace {

NoteCode code_for(cupti::Result result, const Loss& loss) {
  if (result == cupti::kNoPrivilege) return loss.denied;
  return result == cupti::kHardwareBusy ? loss.busy : loss.failed;
}

// What is wrong, and the fix.
const char* advice_for(cupti::Result result) {
  switch (result) {
    case cupti::kNoPrivilege:
      return "the driver lets only administrators read the counters. Run as root or with CAP_SYS_ADMIN (docker: "
             "--cap-add=SYS_ADMIN), or load the driver with NVreg_RestrictProfilingToAdminUsers=0";
    case cupti::kVirtualisedNoPrivilege:
      return "the hypervisor does not let this machine read the counters; its administrator can allow it";
    case cupti::kHardwareBusy:
      return "another profiler or process holds the counters: DCGM, ncu, or nsys with GPU metrics. Stop it, for DCGM: dcgmi profile "
             "--pause";
    case cupti::kOldProfiler: return "the program uses CUPTI's event API itself";
    case cupti::kVirtualised: return "this virtual GPU has no counters for guests";
    case cupti::kConfidential: return "confidential computing forbids it";
    case cupti::kMig: return "a MIG slice has no such counters here";
    case cupti::kWsl: return "WSL does not offer it";
    default: return nullptr;
  }
}

}  // namespace

bool Image::create(std::size_t bytes) {
  if (bytes <= bytes_) return true;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  if (data_ != nullptr) munmap(data_, bytes_);
  data_ = static_cast<std::uint8_t*>(memory);
  bytes_ = bytes;
  return true;
}

bool MetricSet::offered(const cupti::ProfilerApi& api) {
  return api.cuptiProfilerInitialize != nullptr && api.cuptiDeviceGetChipName != nullptr && api.cuptiProfilerHostInitialize != nullptr &&
         api.cuptiProfilerHostDeinitialize != nullptr && api.cuptiProfilerHostConfigAddMetrics != nullptr &&
         api.cuptiProfilerHostGetConfigImageSize != nullptr && api.cuptiProfilerHostGetConfigImage != nullptr &&
         api.cuptiProfilerHostGetNumOfPasses != nullptr && api.cuptiProfilerHostEvaluateToGpuValues != nullptr;
}

bool MetricSet::choose(const char* list) {
  if (list == nullptr) return false;
  std::size_t used = 0;
  while (*list != '\0' && count_ < kMaxMetrics) {
    std::size_t length = std::strcspn(list, ", \n");
    if (used + length + 1 > sizeof text_) break;
    if (length > 0) {
      std::memcpy(text_ + used, list, length);
      names_[count_++] = text_ + used;
      used += length + 1;
    }
    list += length + (list[length] != '\0' ? 1 : 0);
  }
  return count_ > 0;
}

cupti::Result MetricSet::plan(const char** names, std::size_t count, Plan& plan) const {
  auto start = cupti::params<cupti::HostInitialize>();
  start.type = type_;
  start.chip = chip_;
  start.availability = availability_;
  if (cupti::Result result = api_->cuptiProfilerHostInitialize(&start); result != cupti::kSuccess) return result;
  plan.host = start.host;
  auto add = cupti::params<cupti::HostAddMetrics>();
  add.host = start.host;
  add.metrics = names;
  add.count = count;
  if (cupti::Result result = api_->cuptiProfilerHostConfigAddMetrics(&add); result != cupti::kSuccess) return result;
  auto size = cupti::params<cupti::HostConfigSize>();
  size.host = start.host;
  if (cupti::Result result = api_->cuptiProfilerHostGetConfigImageSize(&size); result != cupti::kSuccess) return result;
  plan.bytes = size.bytes;
  if (!plan.config.create(size.bytes)) return cupti::kNotReady;
  auto config = cupti::params<cupti::HostConfig>();
  config.host = start.host;
  config.bytes = size.bytes;
  config.config = plan.config.data();
  if (cupti::Result result = api_->cuptiProfilerHostGetConfigImage(&config); result != cupti::kSuccess) return result;
  auto passes = cupti::params<cupti::HostPasses>();
  passes.bytes = size.bytes;
  passes.config = plan.config.data();
  cupti::Result result = api_->cuptiProfilerHostGetNumOfPasses(&passes);
  plan.passes = passes.passes;
  return result;
}

void MetricSet::drop(const Plan& plan) const {
  if (plan.config.data() != nullptr) munmap(plan.config.data(), plan.config.bytes());
  if (plan.host == nullptr) return;
  auto end = cupti::params<cupti::HostDeinitialize>();
  end.host = plan.host;
  api_->cuptiProfilerHostDeinitialize(&end);
}

void MetricSet::leave_out(std::size_t index) {
  std::size_t used = std::strlen(left_out_);
  std::snprintf(left_out_ + used, sizeof left_out_ - used, "%s%s", used != 0 ? ", " : "", names_[index]);
  std::memmove(names_ + index, names_ + index + 1, (count_ - index - 1) * sizeof *names_);
  --count_;
}

cupti::Result MetricSet::prepare(const cupti::ProfilerApi& api, cupti::ProfilerType type, const char* chip,
                                 const std::uint8_t* availability, bool one_pass) {
  api_ = &api;
  type_ = type;
  chip_ = chip;
  availability_ = availability;
  one_pass_ = one_pass;
  Plan all;
  cupti::Result result = plan(names_, count_, all);
  if (result == cupti::kSuccess && !fits(all)) result = cupti::kNotSupported;
  // Not all together: one after the other, as far as they go.
  for (std::size_t kept = 0; result != cupti::kSuccess && kept < count_;) {
    Plan some;
    cupti::Result tried = plan(names_, kept + 1, some);
    if (tried == cupti::kSuccess && fits(some)) ++kept;
    else leave_out(kept);
    if (kept == count_ && kept > 0) {
      drop(all);
      result = plan(names_, count_, all = Plan{});
    }
    drop(some);
  }
  if (count_ == 0 || result != cupti::kSuccess) {
    drop(all);
    return result != cupti::kSuccess ? result : cupti::kNotSupported;
  }
  host_ = all.host;
  config_ = all.config;
  passes_ = all.passes;
  return cupti::kSuccess;
}

cupti::Result MetricSet::evaluate(const Image& image, std::size_t range, double* values) const {
  auto evaluate = cupti::params<cupti::HostEvaluate>();
  evaluate.host = host_;
  evaluate.image = image.data();
  evaluate.image_bytes = image.bytes();
  evaluate.range = range;
  evaluate.metrics = const_cast<const char**>(names_);
  evaluate.count = count_;
  evaluate.values = values;
  return api_->cuptiProfilerHostEvaluateToGpuValues(&evaluate);
}

std::uint32_t MetricSet::write(trace_format::MetricUse use, std::uint32_t device, std::uint64_t interval_ns) const {
  alignas(8) static char buffer[sizeof(trace_format::MetricSet) + sizeof text_ + 8];  // under the log's lock
  GpuLog log;
  const std::uint32_t number = log.next_metric_set();
  std::size_t length = 0;
  char* const text = buffer + sizeof(trace_format::MetricSet);
  for (std::size_t i = 0; i < count_; ++i) {
    std::size_t bytes_of_name = std::strlen(names_[i]);
    std::memcpy(text + length, names_[i], bytes_of_name);
    text[length + bytes_of_name] = '\n';
    length += bytes_of_name + 1;
  }
  std::size_t bytes = (sizeof(trace_format::MetricSet) + length + 7) & ~std::size_t{7};
  std::memset(text + length, 0, bytes - sizeof(trace_format::MetricSet) - length);
  trace_format::MetricSet record{{trace_format::Kind::kMetricSet, static_cast<std::uint16_t>(bytes), number},
                                 use,
                                 device,
                                 interval_ns,
                                 static_cast<std::uint32_t>(count_),
                                 static_cast<std::uint32_t>(length),
                                 static_cast<std::uint32_t>(passes_),
                                 0};
  std::memcpy(buffer, &record, sizeof record);
  log.append(buffer, bytes);
  return number;
}

void note_trouble(const CuptiLibrary& library, const Loss& loss, const CounterTrouble& trouble) {
  if (const char* advice = advice_for(trouble.result)) return note(code_for(trouble.result, loss), "%s: %s", loss.words, advice);
  note(loss.failed, "%s: %s: %s (%d)", loss.words, trouble.where, words_for(library, trouble.result), trouble.result);
}

}  // namespace nl::collector

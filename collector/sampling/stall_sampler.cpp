#include "collector/sampling/samplers.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

#include "collector/counters/metric_set.h"
#include "collector/gpu/log.h"
#include "collector/host_program.h"
#include "collector/lock.h"
#include "collector/trace_format.h"

namespace nl::collector {
namespace {

using namespace trace_format;

constexpr std::size_t kMaxSampled = 16, kMaxReasons = 64, kPcsAtOnce = 4096, kFunctions = 256;

// Instructions with their stall counts, as CUPTI wants them laid out.
struct PcBuffer {
  cupti::PcSamples samples;
  cupti::PcData data[kPcsAtOnce];
  cupti::PcStall stalls[kPcsAtOnce][kMaxReasons];

  void prepare() {
    samples = {};
    samples.size = sizeof samples;
    samples.room = kPcsAtOnce;
    samples.data = data;
    for (std::size_t i = 0; i < kPcsAtOnce; ++i) {
      data[i] = {};
      data[i].size = sizeof data[i];
      data[i].stalls = stalls[i];
    }
  }
};

struct StallContext {
  void* handle;
  std::uint32_t device;
  PcBuffer* last;  // what CUPTI fills when sampling ends
};

struct StallSampling {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  const CuptiLibrary* library = nullptr;
  std::atomic<bool> over{false};  // the program ends, and so do the libraries that CUPTI uses
  std::uint32_t period = 0;
  StallContext contexts[kMaxSampled] = {};
  std::size_t context_count = 0;
  PcBuffer* buffer = nullptr;
  std::size_t reason_count = 0;
  std::uint32_t reasons[kMaxReasons] = {};
  pid_t pid = 0;
  bool told_lost = false, told_failed = false;
};

constinit StallSampling sampling;

const cupti::ProfilerApi& api() { return sampling.library->profiler; }

PcBuffer* new_buffer() {
  Image memory;
  if (!memory.create(sizeof(PcBuffer))) return nullptr;
  auto* buffer = reinterpret_cast<PcBuffer*>(memory.data());
  buffer->prepare();
  return buffer;
}

template <typename Params>
Params of(void* context) {
  Params made = cupti::params<Params>();
  made.context = context;
  return made;
}

CounterTrouble list_reasons(void* context) {
  std::size_t count = 0;
  auto how_many = of<cupti::PcReasonCount>(context);
  how_many.count = &count;
  if (auto result = api().cuptiPCSamplingGetNumStallReasons(&how_many)) return {result, "cuptiPCSamplingGetNumStallReasons"};
  if (count > kMaxReasons) return {cupti::kNotSupported, "more stall reasons than expected"};
  static char names[kMaxReasons][cupti::kStallNameBytes + 1];  // ended, whatever CUPTI does
  char* pointers[kMaxReasons];
  for (std::size_t i = 0; i < kMaxReasons; ++i) pointers[i] = names[i];
  auto list = of<cupti::PcReasons>(context);
  list.count = count;
  list.indices = sampling.reasons;
  list.names = pointers;
  if (auto result = api().cuptiPCSamplingGetStallReasons(&list)) return {result, "cuptiPCSamplingGetStallReasons"};
  sampling.reason_count = count;
  GpuLog log;
  for (std::size_t i = 0; i < count; ++i) log.append_text(Kind::kStallReason, sampling.reasons[i], names[i]);
  return {};
}

CounterTrouble configure(const StallContext& context) {
  constexpr std::size_t kScratchBytes = 16 * 1024 * 1024, kHardwareBytes = 64 * 1024 * 1024;
  constexpr std::uint32_t kContinuous = 1;
  cupti::PcConfigurationInfo attributes[6] = {};
  attributes[0].attribute = cupti::kPcPeriod;
  attributes[0].number = sampling.period;
  attributes[1].attribute = cupti::kPcReasons;
  attributes[1].reasons = {sampling.reason_count, sampling.reasons};
  attributes[2].attribute = cupti::kPcMode;
  attributes[2].number = kContinuous;
  attributes[3].attribute = cupti::kPcScratchBytes;
  attributes[3].bytes = kScratchBytes;
  attributes[4].attribute = cupti::kPcHardwareBytes;
  attributes[4].bytes = kHardwareBytes;
  attributes[5].attribute = cupti::kPcDataBuffer;
  attributes[5].buffer = &context.last->samples;
  auto configure = of<cupti::PcConfigure>(context.handle);
  configure.count = 6;
  configure.attributes = attributes;
  return {api().cuptiPCSamplingSetConfigurationAttribute(&configure), "cuptiPCSamplingSetConfigurationAttribute"};
}

CounterTrouble start(const StallContext& context) {
  auto enable = of<cupti::PcCall>(context.handle);
  if (auto result = api().cuptiPCSamplingEnable(&enable)) return {result, "cuptiPCSamplingEnable"};
  CounterTrouble trouble = sampling.reason_count == 0 ? list_reasons(context.handle) : CounterTrouble{};
  if (!trouble) trouble = configure(context);
  if (trouble) api().cuptiPCSamplingDisable(&enable);
  return trouble;
}

// The samples of a batch, added up by function.
struct Tally {
  char* functions[kFunctions];
  std::uint32_t samples[kFunctions][kMaxReasons];
  std::size_t count;

  std::size_t index_of(char* function) {
    for (std::size_t i = 0; i < count; ++i)
      if (std::strcmp(functions[i], function) == 0) return i;
    functions[count] = function;
    std::memset(samples[count], 0, sizeof samples[count]);
    return count++;
  }
};

void write_tally(Tally& tally, std::uint32_t device) {
  alignas(8) char buffer[sizeof(Stalls) + kMaxReasons * sizeof(StallCount)];
  GpuLog log;
  for (std::size_t i = 0; i < tally.count; ++i) {
    std::uint32_t count = 0;
    for (std::uint32_t reason = 0; reason < kMaxReasons; ++reason) {
      if (tally.samples[i][reason] == 0) continue;
      StallCount stall{reason, tally.samples[i][reason]};
      std::memcpy(buffer + sizeof(Stalls) + count++ * sizeof stall, &stall, sizeof stall);
    }
    std::size_t bytes = sizeof(Stalls) + count * sizeof(StallCount);
    Stalls record{{Kind::kStalls, static_cast<std::uint16_t>(bytes), log.kernel_name(tally.functions[i])}, count, device};
    std::memcpy(buffer, &record, sizeof record);
    if (count > 0) log.append(buffer, bytes);
  }
  tally.count = 0;
}

// The text of a function's name is shared by CUPTI between its records, so it is not freed.
void write_batch(const cupti::PcSamples& samples, std::uint32_t device) {
  static Tally tally;
  for (std::size_t i = 0; i < samples.count && i < kPcsAtOnce; ++i) {
    const cupti::PcData& data = samples.data[i];
    if (data.function == nullptr) continue;
    if (tally.count == kFunctions) write_tally(tally, device);
    std::size_t function = tally.index_of(data.function);
    for (std::size_t j = 0; j < data.stall_count && j < kMaxReasons; ++j)
      if (data.stalls[j].reason < kMaxReasons) tally.samples[function][data.stalls[j].reason] += data.stalls[j].samples;
  }
  write_tally(tally, device);
  if (samples.dropped > 0 || samples.hardware_full != 0)
    note_once(sampling.told_lost, "some stall samples were lost: sample more seldom (a larger NL_STAGE_PC_SAMPLING, capture.pc_sampling)");
}

void read_samples(const StallContext& context) {
  for (int rounds = 0; rounds < 64; ++rounds) {
    sampling.buffer->prepare();
    auto get = of<cupti::PcGetData>(context.handle);
    get.samples = &sampling.buffer->samples;
    if (auto result = api().cuptiPCSamplingGetData(&get))
      return note_once(sampling.told_failed, "some stall samples could not be read: %s (%d)", words_for(*sampling.library, result), result);
    write_batch(sampling.buffer->samples, context.device);
    if (sampling.buffer->samples.remaining == 0) return;
  }
}

}  // namespace

void sample_stalls(const CuptiLibrary& library) {
  auto period = static_cast<std::uint32_t>(number_from("NL_STAGE_PC_SAMPLING", 0, 5, 31));
  if (period == 0) return;
  const cupti::ProfilerApi& calls = library.profiler;
  bool offered = calls.cuptiPCSamplingEnable != nullptr && calls.cuptiPCSamplingDisable != nullptr &&
                 calls.cuptiPCSamplingGetData != nullptr && calls.cuptiPCSamplingSetConfigurationAttribute != nullptr &&
                 calls.cuptiPCSamplingGetNumStallReasons != nullptr && calls.cuptiPCSamplingGetStallReasons != nullptr;
  if (!offered) return note(NoteCode::kStallsFailed, "%s: this CUPTI does not offer it (%s)", kStallsNotSampled, library.path);
  sampling.pid = getpid();
  sampling.buffer = new_buffer();
  if (sampling.buffer == nullptr) return note(NoteCode::kStallsFailed, "%s: there is no memory for it", kStallsNotSampled);
  sampling.period = period;
  sampling.library = &library;
}

bool stalls_are_sampled() { return sampling.library != nullptr; }

void sample_stalls_of(void* context, std::uint32_t device) {
  if (sampling.library == nullptr || sampling.over.load(std::memory_order_acquire)) return;
  // A context that is made while the samples of another are read does without, rather than wait with the driver's locks.
  AskedLock lock(sampling.mutex, 1);
  if (!lock) return note(NoteCode::kStallsFailed, "%s: of one more context", kStallsNotSampled);
  StallContext added{context, device, sampling.context_count < kMaxSampled ? new_buffer() : nullptr};
  if (added.last != nullptr) {
    if (auto trouble = start(added)) note_trouble(*sampling.library, kNoStalls, trouble);
    else sampling.contexts[sampling.context_count++] = added;
  }
  std::atexit(finish_at_exit);
}

void write_stalls() {
  if (sampling.library == nullptr || getpid() != sampling.pid) return;
  Lock lock(sampling.mutex);
  for (std::size_t i = 0; i < sampling.context_count && !sampling.over.load(std::memory_order_acquire); ++i)
    read_samples(sampling.contexts[i]);
}

namespace {

void finish_all() {
  for (std::size_t i = 0; i < sampling.context_count; ++i) {
    const StallContext& context = sampling.contexts[i];
    read_samples(context);
    auto disable = of<cupti::PcCall>(context.handle);
    if (api().cuptiPCSamplingDisable(&disable) == cupti::kSuccess) write_batch(context.last->samples, context.device);
  }
  sampling.context_count = 0;
}

}  // namespace

void finish_stall_samples() {
  if (sampling.library == nullptr || getpid() != sampling.pid || sampling.over.exchange(true)) return;
  AskedLock lock(sampling.mutex, kPatienceSeconds);
  if (lock) finish_all();
}

void rescue_stall_samples() {
  if (sampling.library == nullptr || getpid() != sampling.pid || sampling.over.load(std::memory_order_acquire)) return;
  AskedLock lock(sampling.mutex, kPatienceSeconds);
  if (lock) finish_all();
}

void forget_stalls_of(void* context) {
  if (sampling.library == nullptr || getpid() != sampling.pid || sampling.over.load(std::memory_order_acquire)) return;
  AskedLock lock(sampling.mutex, kPatienceSeconds);
  std::size_t kept = 0;
  for (std::size_t i = 0; lock && i < sampling.context_count; ++i)
    if (sampling.contexts[i].handle != context) sampling.contexts[kept++] = sampling.contexts[i];
  if (lock) sampling.context_count = kept;
}

}  // namespace nl::collector

#include "collector/gpu/duty.h"

#include <cstdlib>
#include <cstring>

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "collector/counters/stage_watch.h"
#include "collector/gpu/log.h"
#include "collector/gpu/trace.h"
#include "collector/host_program.h"
#include "collector/lock.h"
#include "collector/trace_format.h"

namespace nl::collector {
namespace {

using trace_format::NoteCode;

constexpr std::size_t kMostOpen = 64;

struct Duty {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  StepChooser chooser;
  std::uint64_t open[kMostOpen] = {};  // tokens of the chosen steps that are open; 0: free
  std::size_t open_count = 0;
  bool goes_on = false;  // the step after the last chosen one is chosen, too: tracing stays on until then
  bool on = false;
};

constinit Duty duty;

// splitmix64: each number of a sequence looks drawn at random.
std::uint64_t scrambled(std::uint64_t number) {
  number += 0x9E3779B97F4A7C15ULL;
  number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9ULL;
  number = (number ^ (number >> 27)) * 0x94D049BB133111EBULL;
  return number ^ (number >> 31);
}

bool swap_open(std::uint64_t before, std::uint64_t after) {
  for (std::uint64_t& slot : duty.open)
    if (slot == before) {
      slot = after;
      return true;
    }
  return false;
}

void opened(EventText text, std::uint64_t token) {
  Lock lock(duty.mutex);
  const StepChooser::Choice choice = duty.chooser.next(text.name);
  if (!choice.now || !swap_open(0, token)) return;
  ++duty.open_count;
  duty.goes_on = choice.goes_on;
  if (!duty.on) resume_gpu_trace();
  duty.on = true;
}

void closed(std::uint64_t token) {
  Lock lock(duty.mutex);
  if (duty.open_count == 0 || !swap_open(token, 0) || --duty.open_count > 0 || duty.goes_on) return;
  pause_gpu_trace();
  duty.on = false;
}

constexpr StageListener kSteps{opened, closed};

// "1/10": 10. 0: it is something else.
std::uint32_t steps_for_one(const char* text) {
  if (std::strncmp(text, "1/", 2) != 0) return 0;
  char* end = nullptr;
  const long every = std::strtol(text + 2, &end, 10);
  return *end == '\0' && every >= 1 && every <= 10'000 ? static_cast<std::uint32_t>(every) : 0;
}

}  // namespace

bool StepChooser::chosen(unsigned kind, std::uint64_t step) const {
  const std::uint64_t row = step / row_;
  return row % every_ == scrambled(seed_ ^ scrambled(kind) ^ (row / every_)) % every_;
}

StepChooser::Choice StepChooser::next(const void* kind) {
  for (unsigned i = 0; i < kMostKinds; ++i) {
    Kind& each = kinds_[i];
    if (each.key != nullptr && each.key != kind) continue;
    each.key = kind;
    const std::uint64_t step = each.steps++;
    return {chosen(i, step), chosen(i, step + 1)};
  }
  return {};
}

bool trace_chosen_steps() {
  const char* text = text_from("NL_STAGE_DUTY");
  if (text == nullptr) return false;
  const std::uint32_t every = steps_for_one(text);
  if (every == 0) note(NoteCode::kOther, "NL_STAGE_DUTY is not 1/N: every step is traced");
  if (every < 2) return false;
  duty.chooser.start(every, static_cast<std::uint32_t>(number_from("NL_STAGE_DUTY_ROW", 4, 1, 1000)),
                     static_cast<std::uint64_t>(number_from("NL_STAGE_DUTY_SEED", now_ns() ^ getpid(), 0, INT64_MAX)));
  if (!watch_stages(kept_text_from("NL_STAGE_DUTY_STEPS"), &kSteps)) {
    note(NoteCode::kOther, "NL_STAGE_DUTY_STEPS names no step: every step is traced");
    return false;
  }
  pause_gpu_trace();
  return true;
}

}  // namespace nl::collector

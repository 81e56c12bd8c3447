#include "collector/duty/duty.h"

#include <cstdlib>
#include <cstring>

#include <pthread.h>
#include <unistd.h>

#include "collector/counters/stage_watch.h"
#include "collector/duty/step_choice.h"
#include "collector/gpu/log.h"
#include "collector/gpu/trace.h"
#include "collector/host_program.h"
#include "collector/lock.h"
#include "collector/trace_format.h"

namespace nl::collector {
namespace {

using trace_format::NoteCode;

struct Duty {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  DutyState state;
  bool running = false;
};

constinit Duty duty;

void act(DutyState::Act what) {
  switch (what) {
    case DutyState::Act::kNone: break;
    case DutyState::Act::kResume: resume_gpu_trace(); break;
    case DutyState::Act::kEnd: end_gpu_trace_soon(); break;
    case DutyState::Act::kPause: pause_gpu_trace(); break;
  }
}

void opened(EventText text, std::uint64_t token) {
  const int kind = stage_line(text);
  if (kind < 0) return;
  Lock lock(duty.mutex);
  if (duty.running) act(duty.state.opened(static_cast<unsigned>(kind), token));
}

void closed(std::uint64_t token) {
  Lock lock(duty.mutex);
  if (duty.running) act(duty.state.closed(token));
}

constexpr StageListener kSteps{opened, closed};

// "1/10": 10. 0: it is something else.
std::uint32_t steps_for_one(const char* text) {
  if (std::strncmp(text, "1/", 2) != 0) return 0;
  char* end = nullptr;
  const long every = std::strtol(text + 2, &end, 10);
  return *end == '\0' && every >= 1 && every <= 10'000 ? static_cast<std::uint32_t>(every) : 0;
}

constexpr long kUsualRow = 16, kLongestRow = 1000;

// "16,1"
void read_rows(const char* text, StepChooser& chooser) {
  long row = kUsualRow;
  for (unsigned kind = 0; kind < StepChooser::kMostKinds; ++kind) {
    if (text != nullptr && *text != '\0') {
      char* end = nullptr;
      const long read = std::strtol(text, &end, 10);
      if (end != text && read >= 1 && read <= kLongestRow) row = read;
      text = *end == ',' ? end + 1 : nullptr;
    }
    chooser.set_row(kind, static_cast<std::uint32_t>(row));
  }
}

}  // namespace

bool trace_chosen_steps() {
  const char* text = text_from("NL_STAGE_DUTY");
  if (text == nullptr) return false;
  const std::uint32_t every = steps_for_one(text);
  if (every == 0) note(NoteCode::kOther, "NL_STAGE_DUTY is not 1/N: every step is traced");
  if (every < 2) return false;
  StepChooser& chooser = duty.state.chooser();
  chooser.start(every, static_cast<std::uint64_t>(
                           number_from("NL_STAGE_DUTY_SEED", static_cast<long>((now_ns() ^ getpid()) & INT64_MAX), 0, INT64_MAX)));
  read_rows(text_from("NL_STAGE_DUTY_ROW"), chooser);
  duty.running = true;
  if (watch_stages(kept_text_from("NL_STAGE_DUTY_STEPS"), &kSteps)) return true;
  duty.running = false;
  note(NoteCode::kOther, "NL_STAGE_DUTY_STEPS names no step: every step is traced");
  return false;
}

void finish_duty() {
  AskedLock lock(duty.mutex, kPatienceSeconds);
  if (!lock || !duty.running) return;
  duty.running = false;
  if (duty.state.traces_any_step()) pause_gpu_trace();
}

}  // namespace nl::collector

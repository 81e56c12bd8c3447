// The recorder's own thread in a process: it keeps the ring going, listens to its socket, and opens and closes windows. The program's
// threads write ranges, say when a step begins and ends, and wait for nothing here.
#include "collector/record/recording.h"

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/host_program.h"
#include "collector/nvtx/recorder.h"
#include "collector/record/control_socket.h"
#include "collector/record/gpu_half.h"
#include "collector/record/request.h"
#include "collector/record/settings.h"
#include "collector/record/window.h"
#include "collector/trace_format.h"

namespace nl::collector {
namespace {

constexpr std::uint32_t kPastFiles = 3;  // each of a third of the seconds; with the one in hand they hold all of them
constexpr std::int64_t kMs = 1'000'000, kSecond = 1'000 * kMs;
constexpr std::int64_t kFlushEvery = 250 * kMs;
constexpr std::int64_t kGrace = kSecond;  // a window that no step ends is ended so long after its time

struct Recording {
  RecordSettings settings;
  ControlSocket socket;
  std::atomic<const GpuHalf*> gpu{nullptr};
  bool attached = false;
  std::atomic<int> wake{-1};
  std::atomic<bool> full{false}, signalled{false}, ending{false}, ended{false};
  pid_t pid = 0;
  std::int64_t next_file_ns = 0;
  // The window, if there is one.
  char folder[sizeof RecordSettings::folder + 128] = {};
  WindowPlan plan;
  int owner = -1;  // the connection that asked for it; -1: no client listens
  bool begun = false, whole = true;
  WindowPhase told = WindowPhase::kNone;
  std::int64_t next_flush_ns = 0;
  std::int64_t open_at_ns = 0;  // 0: not said yet
  StepNumbers open_at;
  std::uint32_t signals = 0;
};

constinit Recording recording;

void wake_up() {
  const std::uint64_t one = 1;
  const int fd = recording.wake.load(std::memory_order_relaxed);
  if (fd >= 0) {
    [[maybe_unused]] const ssize_t ignored = write(fd, &one, sizeof one);
  }
}

__attribute__((format(printf, 2, 3))) void answer(int fd, const char* format, ...) {
  char line[1000];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  recording.socket.send(fd, line);
}

// How far the steps are, and how fast.
struct StepsText {
  explicit StepsText(const WindowState& state) {
    std::snprintf(text, sizeof text, "steps=%llu median_ns=%lld next_step=%lld next_collective=%lld step_collectives=%llu",
                  static_cast<unsigned long long>(state.steps_before), static_cast<long long>(state.median_ns),
                  static_cast<long long>(state.next.step), static_cast<long long>(state.next.collective),
                  static_cast<unsigned long long>(state.step_collectives));
  }
  char text[256];
};

// Of a process without a GPU half: the reader knows by it from when to when the window was open.
void record_tracing(bool on) {
  const trace_format::Tracing record{{trace_format::Kind::kTracing, sizeof record, on ? 1U : 0U}, now_ns()};
  append_gpu_record(&record, sizeof record);
}

const GpuHalf* attached_gpu() { return recording.attached ? recording.gpu.load(std::memory_order_acquire) : nullptr; }

void attach() {
  const GpuHalf* gpu = recording.gpu.load(std::memory_order_acquire);
  if (!recording.attached && gpu != nullptr) recording.attached = gpu->attach();
}

void begin_window_file() {
  recording.begun = recording.whole = begin_next_file(recording.folder);
  link_past_files(recording.folder);
  if (const GpuHalf* gpu = attached_gpu()) gpu->begin();
  else record_tracing(true);
  recording.next_file_ns = INT64_MAX;  // a window is one file
}

void next_ring_file() {
  recording.full.store(false, std::memory_order_relaxed);
  begin_next_file(nullptr);
  recording.next_file_ns = now_ns() + recording.settings.seconds * kSecond / kPastFiles;
}

void say_closed(const WindowState& state) {
  answer(
      recording.owner,
      "closed opened_ns=%lld closed_ns=%lld first_step=%lld first_collective=%lld steps=%u idle_steps=%u launches=%llu gpu=%d recorded=%d",
      static_cast<long long>(state.opened_ns), static_cast<long long>(state.closed_ns), static_cast<long long>(state.first.step),
      static_cast<long long>(state.first.collective), state.steps, state.idle_steps, static_cast<unsigned long long>(state.launches),
      attached_gpu() != nullptr, recording.begun && recording.whole);
}

void finish_window() {
  const WindowState state = window_state();
  if (recording.begun) {
    if (const GpuHalf* gpu = attached_gpu()) gpu->end();
    else record_tracing(false);
    next_ring_file();
  } else {
    rmdir(recording.folder);  // there is nothing in it, unless another process has a window there
  }
  say_closed(state);
  forget_window();
  recording.begun = false;
  recording.owner = -1;
  recording.folder[0] = '\0';
  recording.told = WindowPhase::kNone;
}

bool has_window() { return recording.folder[0] != '\0'; }

bool begin_arming(const char* id) {
  std::snprintf(recording.folder, sizeof recording.folder, "%s/windows", recording.settings.folder);
  mkdir(recording.folder, 0700);
  std::snprintf(recording.folder, sizeof recording.folder, "%s/windows/%s", recording.settings.folder, id);
  if (mkdir(recording.folder, 0700) == 0 || errno == EEXIST) return true;
  recording.folder[0] = '\0';
  return false;
}

void arm(int fd, const Request& request) {
  char id[64];
  if (has_window()) return answer(fd, "error busy");
  if (!request.word("window", id, sizeof id) || !begin_arming(id)) return answer(fd, "error folder %s", std::strerror(errno));
  recording.owner = fd;
  recording.plan = {};
  recording.plan.steps = static_cast<std::uint32_t>(request.number("steps", 0));
  recording.plan.most_ns = request.number("most_ns", 2 * kSecond);
  recording.plan.min_requests = static_cast<std::uint32_t>(request.number("min_batch", 0));
  recording.plan.slow_ns = request.number("slow_ns", 0);
  recording.plan.slow_factor = static_cast<double>(request.number("slow_percent", 0)) / 100;
  recording.open_at_ns = 0;
  recording.told = WindowPhase::kWaiting;
  attach();
  arm_window(recording.plan, attached_gpu() != nullptr && request.number("count_idle", 0) == 0);
  const WindowState state = window_state();
  const bool cuda = recording.gpu.load(std::memory_order_relaxed) != nullptr;
  answer(fd, "armed %s cuda=%d gpu=%d", StepsText(state).text, cuda, attached_gpu() != nullptr);
}

// The GPU is recorded some time before the first step, so that the step itself waits for nothing.
void open_now() {
  recording.open_at_ns = 0;
  begin_window_file();
  ready_window(recording.open_at, window_state().steps_before == 0);
}

void open(int fd, const Request& request) {
  if (!has_window() || recording.owner != fd || recording.begun) return answer(fd, "error no window");
  recording.open_at = {request.number("step", -1), request.number("collective", -1)};
  recording.open_at_ns = request.number("ns", now_ns());
}

void say_status(int fd) {
  const WindowState state = window_state();
  answer(fd, "status pid=%d %s cuda=%d attached=%d window=%d seconds=%u version=%s", static_cast<int>(getpid()), StepsText(state).text,
         recording.gpu.load(std::memory_order_relaxed) != nullptr, recording.attached, has_window(), recording.settings.seconds,
         NL_VERSION);
}

void on_line(int fd, const char* line) {
  const Request request(line);
  if (request.is("status")) return say_status(fd);
  if (request.is("arm")) return arm(fd, request);
  if (request.is("open")) return open(fd, request);
  if (request.is("close") && recording.owner == fd && has_window()) return end_window();
  answer(fd, "error unknown request");
}

// Who asked has gone: what is open goes on to its end, what is not is over.
void on_gone(int fd) {
  if (recording.owner != fd) return;
  recording.owner = -1;
  if (has_window() && window_state().phase != WindowPhase::kOpen) end_window();
}

// A signal has no plan: as many steps as `nl-stage window` takes, and two seconds at most.
void arm_by_signal() {
  if (!recording.signalled.exchange(false) || has_window()) return;
  char line[128];
  std::snprintf(line, sizeof line, "arm window=signal-%u steps=20 most_ns=%lld", ++recording.signals, static_cast<long long>(2 * kSecond));
  arm(-1, Request(line));
  recording.open_at = {};
  recording.open_at_ns = now_ns();
}

void tell(const WindowState& state) {
  if (state.phase == recording.told) return;
  recording.told = state.phase;
  if (state.phase == WindowPhase::kMet) answer(recording.owner, "met %s", StepsText(state).text);
  if (state.phase == WindowPhase::kOpen)
    answer(recording.owner, "opened ns=%lld step=%lld", static_cast<long long>(state.opened_ns), static_cast<long long>(state.first.step));
}

void look_after_window() {
  if (!has_window()) return;
  if (recording.open_at_ns != 0 && now_ns() >= recording.open_at_ns) open_now();
  WindowState state = window_state();
  // A disk that is full: nothing more comes of it, and no step is heard of.
  if (recording.begun && !is_recording()) {
    recording.whole = false;
    end_window();
  }
  if (state.phase == WindowPhase::kOpen && now_ns() > state.opened_ns + recording.plan.most_ns + (state.steps_before > 0 ? kGrace : 0))
    end_window();
  const GpuHalf* gpu = attached_gpu();
  if (state.phase == WindowPhase::kOpen && gpu != nullptr && now_ns() >= recording.next_flush_ns) {
    gpu->flush();
    recording.next_flush_ns = now_ns() + kFlushEvery;
  }
  state = window_state();
  tell(state);
  if (state.phase == WindowPhase::kEnding) finish_window();
}

// Until something is to be done without a word from outside.
int wait_ms() {
  std::int64_t until_ns = recording.next_file_ns;
  if (has_window()) {
    const WindowState state = window_state();
    if (recording.open_at_ns != 0 && recording.open_at_ns < until_ns) until_ns = recording.open_at_ns;
    const std::int64_t end_ns = state.opened_ns + recording.plan.most_ns + (state.steps_before > 0 ? kGrace : 0);
    if (state.phase == WindowPhase::kOpen && end_ns < until_ns) until_ns = end_ns;
    if (state.phase == WindowPhase::kOpen && attached_gpu() != nullptr && recording.next_flush_ns < until_ns)
      until_ns = recording.next_flush_ns;
  }
  const std::int64_t left_ms = until_ns == INT64_MAX ? 60'000 : (until_ns - now_ns()) / kMs + 1;
  return static_cast<int>(left_ms < 0 ? 0 : left_ms > 60'000 ? 60'000 : left_ms);
}

void* run(void*) {
  pthread_setname_np(pthread_self(), "nl-stage record");
  while (!recording.ending.load(std::memory_order_relaxed)) {
    pollfd entries[ControlSocket::kMost + 2];
    const std::size_t count = recording.socket.polled(entries);
    entries[count] = {recording.wake.load(std::memory_order_relaxed), POLLIN, 0};
    poll(entries, count + 1, wait_ms());
    std::uint64_t ignored;
    if (entries[count].revents != 0 && read(entries[count].fd, &ignored, sizeof ignored) < 0 && errno != EAGAIN)
      break;  // somebody closed it
    recording.socket.serve(entries, count, on_line, on_gone);
    arm_by_signal();
    if (recording.settings.attach_early) attach();
    look_after_window();
    if (!recording.begun && (recording.full.load(std::memory_order_relaxed) || now_ns() >= recording.next_file_ns)) next_ring_file();
  }
  if (has_window()) {
    end_window();
    finish_window();
  }
  recording.socket.close_all();
  recording.ended.store(true, std::memory_order_release);
  return nullptr;
}

void on_signal(int) {
  recording.signalled.store(true, std::memory_order_relaxed);
  const int before = errno;
  wake_up();
  errno = before;
}

void listen_to_signal() {
  const char* name = text_from("NL_STAGE_RECORD_SIGNAL");
  if (name == nullptr) return;
  const int number = std::strcmp(name, "USR1") == 0 ? SIGUSR1 : std::strcmp(name, "USR2") == 0 ? SIGUSR2 : 0;
  if (number == 0) return TraceFile::complain("NL_STAGE_RECORD_SIGNAL is neither USR1 nor USR2:", name, 0);
  struct sigaction action{};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigaction(number, &action, nullptr);
}

// The ring of a program that ended by itself has nothing to tell. A child of a fork that recorded nothing has none.
void leave() {
  if (recording.pid != getpid()) return;
  recording.ending.store(true, std::memory_order_relaxed);
  wake_up();
  timespec pause{0, kMs};
  for (int waited_ms = 0; waited_ms < 2'000 && !recording.ended.load(std::memory_order_acquire); ++waited_ms) nanosleep(&pause, nullptr);
  remove_past_files();
}

void process_began() {
  static bool again = false;
  if (again) {  // the parent's, before a fork
    recording.socket.forget();
    if (const int fd = recording.wake.exchange(-1); fd >= 0) close(fd);
    recording.gpu.store(nullptr, std::memory_order_relaxed);
    recording.attached = recording.begun = false;
    recording.folder[0] = '\0';
    recording.owner = -1;
    forget_window();
  } else {
    std::atexit(leave);
    watch_steps(recording.settings.step_names, wake_up);
    listen_to_signal();
  }
  again = true;
  recording.pid = getpid();
  recording.wake.store(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  recording.next_file_ns = now_ns() + recording.settings.seconds * kSecond / kPastFiles;
  if (!recording.socket.open(recording.settings.folder)) TraceFile::complain("no socket can be made in", recording.settings.folder, errno);
  run_in_background(run);
}

void file_full() {
  if (!recording.full.exchange(true, std::memory_order_relaxed)) wake_up();
}

constexpr RingHooks kHooks{process_began, file_full};

}  // namespace

void offer_gpu_half(const GpuHalf& half) {
  recording.gpu.store(&half, std::memory_order_release);
  wake_up();  // where it is to attach from the start
}

bool keeps_ring() { return recording.settings.folder[0] != '\0'; }

RingPlan plan_ring() {
  if (!record_is_asked_for() || !read_settings(recording.settings)) return {};
  constexpr std::uint32_t kChunksOfMegabyte = 1024 * 1024 / trace_format::kChunkBytes;
  return {&kHooks, recording.settings.folder, kPastFiles, recording.settings.megabytes * kChunksOfMegabyte / (kPastFiles + 1)};
}

}  // namespace nl::collector

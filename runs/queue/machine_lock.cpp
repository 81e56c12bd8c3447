#include "runs/queue/machine_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "exporters/run_json/reader.h"
#include "exporters/run_json/writer.h"
#include "model/error.h"
#include "model/visible_text.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/process/interrupts.h"

namespace nl::runs {
namespace fs = std::filesystem;

void fields(auto& io, exporters::Ref<decltype(io), MachineLock::Owner> owner) {
  io("pid", owner.pid);
  io("since", owner.since);
  io("purpose", owner.purpose);
}

namespace {

constexpr int kAskAgainMs = 200;

// Without O_CREAT first: in a sticky folder the kernel refuses it for a file of another user (fs.protected_regular). Other users may read
// the file, which is enough to lock it, and not write it: what it says is the word of its owner.
int open_lock(const fs::path& file) {
  constexpr int kFlags = O_CLOEXEC | O_NOFOLLOW;
  int fd = open(file.c_str(), kFlags | O_RDWR);
  if (fd < 0 && errno == ENOENT) {
    fd = open(file.c_str(), kFlags | O_RDWR | O_CREAT, 0644);
    if (fd >= 0) fchmod(fd, 0644);
  }
  if (fd < 0 && errno == EACCES) fd = open(file.c_str(), kFlags | O_RDONLY);
  if (fd < 0)
    throw Error(ErrorKind::kOutput, fmt::format("cannot open the lock of this machine: {}", std::strerror(errno)), file.string(),
                "remove the file, or name another with NL_STAGE_LOCK");
  return fd;
}

void write_owner(int fd, const std::string& purpose) {
  const MachineLock::Owner owner{getpid(), utc_text(std::chrono::system_clock::now()), purpose};
  const std::string text = nlohmann::ordered_json::parse(exporters::json_text(owner)).dump() + "\n";  // on one line
  if (ftruncate(fd, 0) == 0) [[maybe_unused]]
    const auto written = pwrite(fd, text.data(), text.size(), 0);
}

// A runner that may not write the file is not named in it; then the process that the variable names must live.
bool runner_above_holds(const fs::path& file) {
  const char* holder = std::getenv(kLockHolderVariable);
  if (holder == nullptr) return false;
  const auto owner = MachineLock::owner(file);
  const pid_t pid = owner ? owner->pid : std::atoi(holder);
  return lock_holder(pid, file) == holder && (owner || (pid > 0 && kill(pid, 0) == 0));
}

bool may_write(int fd) { return (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR; }

void wait_a_moment(int ms) {
  pollfd wake = {Interrupts::wake_fd(), POLLIN, 0};
  poll(&wake, 1, ms);
  Interrupts::drain();
}

}  // namespace

std::optional<MachineLock> MachineLock::try_take(const fs::path& file, const std::string& purpose) {
  const int fd = open_lock(file);
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    close(fd);
    if (runner_above_holds(file)) return MachineLock(-1, std::nullopt);
    return std::nullopt;
  }
  auto killed = may_write(fd) ? owner(file) : std::nullopt;
  write_owner(fd, purpose);
  return MachineLock(fd, std::move(killed));
}

std::optional<MachineLock> MachineLock::wait_for(const fs::path& file, const std::string& purpose) {
  Interrupts interrupts;
  for (bool said = false; Interrupts::signal() == 0; wait_a_moment(kAskAgainMs)) {
    if (auto lock = try_take(file, purpose)) return lock;
    const auto other = owner(file);
    if (!said && other)
      fmt::print(stderr, "waiting for process {} ({}, since {}): one runner at a time on a machine\n", other->pid,
                 visible_line(other->purpose), visible_line(other->since));
    said = said || other.has_value();
  }
  return std::nullopt;
}

// {"pid":4711,"since":"2026-11-16T17:30:00Z","purpose":"suite attention.yaml"}
std::optional<MachineLock::Owner> MachineLock::owner(const fs::path& file) {
  const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  char text[4096];
  const ssize_t size = ::read(fd, text, sizeof text);
  close(fd);
  try {
    return exporters::read_json<Owner>({text, static_cast<std::size_t>(std::max<ssize_t>(size, 0))}, {.nulls = false});
  } catch (const Error&) {
    return std::nullopt;  // given back, or just being written
  }
}

MachineLock::MachineLock(MachineLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)), killed_owner_(std::move(other.killed_owner_)) {}

MachineLock::~MachineLock() {
  if (fd_ < 0) return;
  [[maybe_unused]] const int emptied = ftruncate(fd_, 0);
  close(fd_);
}

std::string lock_holder(int pid, const fs::path& file) { return fmt::format("{} {}", pid, file.string()); }

fs::path machine_lock_file() {
  if (const char* given = std::getenv("NL_STAGE_LOCK"); given != nullptr && *given != '\0') return given;
  return access("/run/lock", W_OK | X_OK) == 0 ? "/run/lock/nl-stage.lock" : "/tmp/nl-stage.lock";
}

}  // namespace nl::runs

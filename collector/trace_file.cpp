#include "collector/trace_file.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/host_program.h"
#include "collector/launchers.h"
#include "collector/trace_format.h"

namespace nl::collector {
namespace {

using trace_format::FileHeader;
using trace_format::kChunkBytes;
using trace_format::kHeaderBytes;
using trace_format::Place;
using trace_format::RunLabel;
using trace_format::Segment;

std::int64_t clock_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void copy_text(char* to, std::size_t capacity, const char* from) {
  std::size_t length = strnlen(from, capacity - 1);
  std::memcpy(to, from, length);
  to[length] = '\0';
}

// Writing past RLIMIT_FSIZE would raise SIGXFSZ in a program that did not ask for any of this.
bool within_size_limit(std::uint64_t bytes) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
}

FileHeader make_header() {
  FileHeader header{};
  std::memcpy(header.magic, trace_format::kMagic, sizeof header.magic);
  header.version = trace_format::kVersion;
  header.header_bytes = trace_format::kHeaderBytes;
  header.chunk_bytes = kChunkBytes;
  header.pid = static_cast<std::uint32_t>(getpid());
  header.monotonic_ns = clock_ns(CLOCK_MONOTONIC);
  header.realtime_ns = clock_ns(CLOCK_REALTIME);
  copy_text(header.collector_version, sizeof header.collector_version, NL_VERSION);
  char exe[4096] = {};
  if (readlink("/proc/self/exe", exe, sizeof exe - 1) > 0) {
    const char* slash = std::strrchr(exe, '/');
    copy_text(header.process_name, sizeof header.process_name, slash != nullptr ? slash + 1 : exe);
  }
  return header;
}

// Processes of one run have the same label, which nl-stage gives them.
RunLabel make_label() {
  RunLabel label{};
  if (const char* run = std::getenv("NL_STAGE_RUN"); run != nullptr) copy_text(label.text, sizeof label.text, run);
  return label;
}

// Digits alone; `otherwise` where the variable is not set, or says something else.
std::uint32_t number_of_variable(const char* name, std::uint32_t otherwise) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0' || std::strspn(text, "0123456789") != std::strlen(text) || std::strlen(text) > 9) return otherwise;
  return static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10));
}

Place make_place() {
  Place place{};
  place.rank = trace_format::kNoRank;
  gethostname(place.host, sizeof place.host - 1);
  for (const LauncherVariables& launcher : kRankVariables) {
    place.rank = number_of_variable(launcher.rank, trace_format::kNoRank);
    if (place.rank == trace_format::kNoRank) continue;
    place.world_size = number_of_variable(launcher.world_size, 0);
    break;
  }
  return place;
}

// At once with every chunk, not at an orderly end: servers end their workers with a signal. A reader then knows what a whole
// file has. Where this cannot be written, the header says less, and nothing false.
void note_in_header(int fd, std::uint32_t chunks, std::uint32_t stopped) {
  const std::uint32_t fields[2] = {chunks, stopped};
  static_assert(offsetof(FileHeader, stopped) == offsetof(FileHeader, chunks) + sizeof fields[0]);
  [[maybe_unused]] const ssize_t ignored = pwrite(fd, fields, sizeof fields, offsetof(FileHeader, chunks));
}

}  // namespace

void TraceFile::complain(const char* what, const char* where, int error) {
  static std::atomic<bool> told{false};
  if (told.exchange(true)) return;
  char message[4400];
  int length = std::snprintf(message, sizeof message, "nl-stage collector: %s%s%s%s%s; nothing is recorded\n", what,
                             *where != '\0' ? " " : "", where, error != 0 ? ": " : "", error != 0 ? strerrordesc_np(error) : "");
  if (length > 0) tell_user(message);
}

bool TraceFile::set_folder(const char* folder) {
  if (folder == nullptr || *folder == '\0') {
    complain("NL_STAGE_TRACE_DIR is not set", "", 0);
    return false;
  }
  if (realpath(folder, folder_) == nullptr) {
    complain("cannot use folder", folder, errno);
    return false;
  }
  return true;
}

bool TraceFile::open() { return create(folder_); }

// nvtx-<pid>.nltrace; a process that replaced itself with exec finds its own earlier file and counts on.
bool TraceFile::create(const char* folder) {
  int fd = -1;
  for (unsigned attempt = number_ + 1; fd < 0 && attempt < number_ + 1000; ++attempt) {
    char suffix[16] = "";
    if (attempt > 1) std::snprintf(suffix, sizeof suffix, "-%u", attempt);
    int length = std::snprintf(path_, sizeof path_, "%s/nvtx-%d%s.nltrace", folder, static_cast<int>(getpid()), suffix);
    if (length <= 0 || static_cast<std::size_t>(length) >= sizeof path_) break;
    fd = ::open(path_, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, ring_files_ > 0 ? 0600 : 0644);
    if (fd < 0 && errno != EEXIST) break;
  }
  struct {
    FileHeader header = make_header();
    RunLabel label = make_label();
    Segment segment = {};
    Place place = make_place();
  } begin;
  static_assert(sizeof begin == kHeaderBytes);
  if (ring_files_ > 0) begin.segment = {began_ns_, number_, in_window_};
  struct stat status{};
  errno = fd >= 0 ? EFBIG : errno;
  bool good =
      fd >= 0 && within_size_limit(sizeof begin) && pwrite(fd, &begin, sizeof begin, 0) == ssize_t{sizeof begin} && fstat(fd, &status) == 0;
  if (!good) complain("cannot write", path_, errno);
  if (fd >= 0) ::close(fd);
  device_ = status.st_dev;
  inode_ = status.st_ino;
  open_ = good;
  return good;
}

void TraceFile::keep_ring(std::uint32_t files, std::uint32_t most_chunks) {
  ring_files_ = files < kMostKept ? files : kMostKept;
  most_chunks_ = most_chunks;
  began_ns_ = clock_ns(CLOCK_MONOTONIC);
}

// The file in hand becomes one of the past.
void TraceFile::remember() {
  if (!open_) return;
  if (kept_count_ == ring_files_) {
    if (kept_[0].in_ring) unlink(kept_[0].path);
    std::memmove(kept_, kept_ + 1, sizeof kept_[0] * --kept_count_);
  }
  Kept& last = kept_[kept_count_++];
  copy_text(last.path, sizeof last.path, path_);
  last.in_ring = !in_window_;
}

bool TraceFile::begin_next(const char* folder) {
  remember();
  let_go();
  ++number_;
  in_window_ = folder != nullptr;
  return create(folder != nullptr ? folder : folder_);
}

void TraceFile::link_kept(const char* folder) const {
  for (std::uint32_t i = 0; i < kept_count_; ++i) {
    const char* slash = std::strrchr(kept_[i].path, '/');
    char path[kMostPath];
    const int length = std::snprintf(path, sizeof path, "%s%s", folder, slash != nullptr ? slash : "/");
    if (length > 0 && static_cast<std::size_t>(length) < sizeof path) {
      [[maybe_unused]] const int ignored = link(kept_[i].path, path);  // a file less of the past, where there are no links
    }
  }
}

void TraceFile::remove_ring() {
  for (std::uint32_t i = 0; i < kept_count_; ++i)
    if (kept_[i].in_ring) unlink(kept_[i].path);
  kept_count_ = 0;
  if (open_ && !in_window_) unlink(path_);
  open_ = false;
}

bool TraceFile::acquire(Chunk& chunk) {
  if (free_count_ > 0) {
    chunk = free_[--free_count_];
    return true;
  }
  return acquire_fresh(chunk);
}

bool TraceFile::acquire_fresh(Chunk& chunk) {
  if (most_chunks_ > 0 && !in_window_ && chunks_ >= most_chunks_ * 2) return false;  // the next file has room again
  if (!open_ && !open()) return false;
  // By name, and checked to be the same file: a descriptor kept open could have been closed by the
  // program and be another file by now.
  int fd = ::open(path_, O_RDWR | O_CLOEXEC);
  bool good = fd >= 0 && map_chunk(fd, chunk);
  if (fd < 0) complain("cannot reopen", path_, errno);
  if (fd >= 0) ::close(fd);
  return good;
}

bool TraceFile::map_chunk(int fd, Chunk& chunk) {
  struct stat status{};
  if (fstat(fd, &status) != 0 || status.st_dev != device_ || status.st_ino != inode_) {
    complain("somebody replaced", path_, 0);
    return false;
  }
  // Space is claimed before it is mapped: a full disk must be an error here, not a SIGBUS later.
  off_t offset = off_t{chunks_} * kChunkBytes;
  int error = within_size_limit(std::uint64_t{chunks_ + 1} * kChunkBytes) ? posix_fallocate(fd, offset, kChunkBytes) : EFBIG;
  note_in_header(fd, error == 0 ? chunks_ + 1 : chunks_, error != 0);
  void* data = error == 0 ? mmap(nullptr, kChunkBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, offset) : MAP_FAILED;
  if (data == MAP_FAILED) {
    complain("cannot extend", path_, error != 0 ? error : errno);
    return false;
  }
  chunk.data = static_cast<std::byte*>(data);
  chunk.used = chunks_ == 0 ? kHeaderBytes : 0;
  ++chunks_;
  return true;
}

void TraceFile::release(const Chunk& chunk) {
  constexpr std::uint32_t kWorthKeeping = kChunkBytes / 64;
  if (free_count_ < kMaxFree && chunk.used + kWorthKeeping < kChunkBytes) free_[free_count_++] = chunk;
  else munmap(chunk.data, kChunkBytes);
}

// What is left of the chunks of the file in hand.
void TraceFile::let_go() {
  for (std::size_t i = 0; i < free_count_; ++i) munmap(free_[i].data, kChunkBytes);
  free_count_ = 0;
  chunks_ = 0;
  sequence_ = 0;
  open_ = false;
}

void TraceFile::forget() {
  let_go();
  kept_count_ = 0;
  number_ = 0;
  in_window_ = false;
  began_ns_ = clock_ns(CLOCK_MONOTONIC);
}

}  // namespace nl::collector

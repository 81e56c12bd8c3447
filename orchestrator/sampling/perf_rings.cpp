#include "orchestrator/sampling/perf_rings.h"

#include <linux/perf_event.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "orchestrator/sampling/machine.h"
#include "orchestrator/sampling/perf_records.h"

namespace nl::orchestrator::sampling {
namespace {

// The kernel lets each user lock 516 KiB a processor for this, shared by all that he samples.
constexpr std::size_t kMostRingBytes = 512 * 1024, kLeastRingBytes = 64 * 1024, kAllRingBytes = 32 * 1024 * 1024;
constexpr int kNoMemoryLeft = ENOBUFS;  // that the user may lock: others of his programs sample too

perf_event_attr event_of(const PerfRings::Options& options, std::size_t ring_bytes, bool kernel_time) {
  perf_event_attr event{};
  event.size = sizeof event;
  event.type = PERF_TYPE_SOFTWARE;
  event.config = PERF_COUNT_SW_TASK_CLOCK;  // needs no counter of the processor: virtual machines have it too
  event.freq = 1;
  event.sample_freq = static_cast<std::uint64_t>(options.hertz);
  event.sample_type = kSampleFields;
  event.sample_regs_user = own_machine()->perf_registers;
  event.sample_stack_user = kStackBytes;
  event.disabled = 1;
  event.enable_on_exec = 1;
  event.inherit = 1;
  event.exclude_kernel = kernel_time ? 0 : 1;
  event.exclude_hv = 1;
  event.mmap = event.mmap2 = 1;  // where code is mapped
  event.comm = event.comm_exec = 1;
  event.task = 1;
  event.sample_id_all = 1;
  event.use_clockid = 1;
  event.clockid = CLOCK_MONOTONIC;  // as the collector's
  event.watermark = 1;
  event.wakeup_watermark = static_cast<std::uint32_t>(ring_bytes / 2);
  return event;
}

void copy_out(const unsigned char* ring, std::size_t ring_bytes, std::uint64_t from, void* to, std::size_t bytes) {
  const std::size_t at = from % ring_bytes, first = std::min(bytes, ring_bytes - at);
  std::memcpy(to, ring + at, first);
  std::memcpy(static_cast<unsigned char*>(to) + first, ring, bytes - first);
}

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

// The kernel wants a power of two of pages.
std::size_t usual_ring_bytes(std::size_t processors) {
  const std::size_t each = std::clamp(kAllRingBytes / std::max<std::size_t>(1, processors), kLeastRingBytes, kMostRingBytes);
  return std::max(std::bit_floor(each), page_bytes());
}

}  // namespace

int PerfRings::open_on(int cpu, const Options& options, bool kernel_time) {
  perf_event_attr event = event_of(options, ring_bytes_, kernel_time);
  const long fd = syscall(SYS_perf_event_open, &event, 0, cpu, -1, PERF_FLAG_FD_CLOEXEC);
  if (fd < 0) return errno;
  Ring ring{static_cast<int>(fd), nullptr, ring_bytes_};
  void* memory = mmap(nullptr, page_bytes() + ring.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, 0);
  if (memory == MAP_FAILED) {
    const int error = errno;
    ::close(ring.fd);
    return error == EPERM ? kNoMemoryLeft : error;
  }
  ring.memory = static_cast<unsigned char*>(memory);
  rings_.push_back(ring);
  return 0;
}

int PerfRings::open(const Options& options) {
  close();
  if (own_machine() == nullptr) return ENOSYS;
  const int processors = options.only_first_cpu ? 1 : static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_CONF)));
  ring_bytes_ = options.ring_bytes != 0 ? options.ring_bytes : usual_ring_bytes(static_cast<std::size_t>(processors));
  int error = ENODEV;
  kernel_time_ = true;  // needs a right that not everyone has
  for (int cpu = 0; cpu < processors;) {
    error = open_on(cpu, options, kernel_time_);
    if (error == 0 || error == ENODEV || error == ENXIO) {  // there may be processors that are switched off
      ++cpu;
    } else if ((error == EACCES || error == EPERM) && kernel_time_) {
      close_rings();
      kernel_time_ = false;
      cpu = 0;
    } else if (error == kNoMemoryLeft && ring_bytes_ > std::max(kLeastRingBytes, page_bytes())) {
      close_rings();
      ring_bytes_ /= 2;
      cpu = 0;
    } else {
      close();
      return error;
    }
  }
  return rings_.empty() ? error : 0;
}

void PerfRings::close_rings() {
  for (const Ring& ring : rings_) {
    munmap(ring.memory, page_bytes() + ring.bytes);
    ::close(ring.fd);
  }
  rings_.clear();
}

void PerfRings::close() {
  close_rings();
  wrapped_.clear();
}

void PerfRings::wait(int stop, int milliseconds) const {
  std::vector<pollfd> fds = {{stop, POLLIN, 0}};
  for (const Ring& ring : rings_) fds.push_back({ring.fd, POLLIN, 0});
  poll(fds.data(), fds.size(), milliseconds);
}

void PerfRings::drain(const Take& take) {
  for (Ring& ring : rings_) drain(ring, take);
}

// The kernel writes at data_head, we read up to it and then give the space back by data_tail.
void PerfRings::drain(Ring& ring, const Take& take) {
  auto* page = reinterpret_cast<perf_event_mmap_page*>(ring.memory);
  const unsigned char* data = ring.memory + page_bytes();
  const std::uint64_t head = std::atomic_ref(page->data_head).load(std::memory_order_acquire);
  std::uint64_t tail = page->data_tail;
  while (head - tail >= sizeof(perf_event_header)) {
    perf_event_header header;
    copy_out(data, ring.bytes, tail, &header, sizeof header);
    if (header.size < sizeof header || header.size > head - tail) break;
    const std::size_t at = tail % ring.bytes;
    if (at + header.size <= ring.bytes) {
      take({data + at, header.size});
    } else {
      wrapped_.resize(header.size);
      copy_out(data, ring.bytes, tail, wrapped_.data(), wrapped_.size());
      take(wrapped_);
    }
    tail += header.size;
  }
  std::atomic_ref(page->data_tail).store(head, std::memory_order_release);
}

}  // namespace nl::orchestrator::sampling

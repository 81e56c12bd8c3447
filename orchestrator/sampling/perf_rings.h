#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace nl::orchestrator::sampling {

// Samples of the kernel (perf_event_open), of all that the calling thread starts from now on: one event and one ring for each processor.
// The event sleeps in us, begins in a child when that executes a program, and is handed on to threads and children.
class PerfRings {
 public:
  struct Options {
    int hertz = 97;               // of the processor time of each thread
    bool only_first_cpu = false;  // to see whether it is allowed
    std::size_t ring_bytes = 0;   // 0: as fits the machine
  };

  using Take = std::function<void(std::span<const unsigned char> record)>;

  PerfRings() = default;
  ~PerfRings() { close(); }
  PerfRings(const PerfRings&) = delete;
  PerfRings& operator=(const PerfRings&) = delete;

  // 0, or the error of the kernel; then nothing is open.
  int open(const Options& options);
  void close();

  // Until a ring is half full, `stop` can be read, or the time has passed.
  void wait(int stop, int milliseconds) const;

  // Hands over every record that is there, header included. The bytes are gone after the call.
  void drain(const Take& take);

 private:
  struct Ring {
    int fd = -1;
    unsigned char* memory = nullptr;
    std::size_t bytes = 0;  // of the data
  };
  int open_on(int cpu, const Options& options, bool kernel_time);
  void drain(Ring& ring, const Take& take);
  void close_rings();

  std::vector<Ring> rings_;
  std::size_t ring_bytes_ = 0;
  bool kernel_time_ = false;            // samples show system calls too; else time in the kernel is not sampled
  std::vector<unsigned char> wrapped_;  // a record that begins at the end of a ring and ends at its beginning
};

}  // namespace nl::orchestrator::sampling

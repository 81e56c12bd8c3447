#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "runs/orchestrator_names.h"

namespace nl::runs {

// One runner at a time on a machine. The kernel holds the lock (flock) and frees it with the process, however that
// ends: the file that stays behind blocks nothing. What is written in it only tells others who they wait for.
class MachineLock {
 public:
  struct Owner {
    int pid = 0;
    std::string since, purpose;  // "2026-11-16T17:30:00Z", "suite attention.yaml"
  };

  // Nothing where another process holds it. Throws Error(kOutput) where the file cannot be made.
  static std::optional<MachineLock> try_take(const std::filesystem::path& file, const std::string& purpose);
  // Waits for the lock, and says once which process holds it. Nothing after Ctrl-C.
  static std::optional<MachineLock> wait_for(const std::filesystem::path& file, const std::string& purpose);

  static std::optional<Owner> owner(const std::filesystem::path& file);  // nothing where it is free, or was given back

  const std::optional<Owner>& killed_owner() const { return killed_owner_; }  // who held it before and did not give it back
  bool held_above_us() const { return fd_ < 0; }                              // by the runner that started us

  MachineLock(MachineLock&& other) noexcept;
  MachineLock& operator=(MachineLock&&) = delete;
  ~MachineLock();

 private:
  MachineLock(int fd, std::optional<Owner> killed) : fd_(fd), killed_owner_(std::move(killed)) {}
  int fd_;
  std::optional<Owner> killed_owner_;
};

// NL_STAGE_LOCK, or a file in /run/lock, or in /tmp where that cannot be written to: the same for all users.
std::filesystem::path machine_lock_file();

// What a runner starts has this in its environment: nl-stage in it does not wait for its own parent, and the next runner knows
// what a killed one has left running.
inline constexpr const char* kLockHolderVariable = "NL_STAGE_LOCK_HOLDER";
std::string lock_holder(int pid, const std::filesystem::path& file);

}  // namespace nl::runs

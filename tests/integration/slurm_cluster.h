#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace nl::test {

// A real Slurm of four nodes on this machine: munged, slurmctld and four slurmd, on loopback, in a folder that goes with it.
class SlurmCluster {
 public:
  static std::string why_not();  // empty where one can be started: root, and Debian's slurm-wlm and munge

  SlurmCluster();  // all four nodes are idle
  ~SlurmCluster();
  SlurmCluster(const SlurmCluster&) = delete;
  SlurmCluster& operator=(const SlurmCluster&) = delete;

  std::filesystem::path conf() const { return folder_ / "slurm.conf"; }
  std::string queued() const;  // what squeue lists
  bool runs_on(const std::string& node, const std::string& program) const;
  void kill_node(const std::string& name) const;  // -9, with all that runs on it
  void start_node(const std::string& name) const;

 private:
  void write_conf() const;
  void start_daemons() const;
  std::string say(const std::string& command) const;  // of a shell, with SLURM_CONF

  std::filesystem::path folder_;
  int first_port_ = 0;
};

}  // namespace nl::test

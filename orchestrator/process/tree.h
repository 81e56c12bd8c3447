#pragma once

#include <sys/types.h>

#include <set>
#include <string>
#include <vector>

namespace nl::orchestrator {

struct TreeProcess {
  pid_t pid = 0;
  std::string name;
  bool runs = false;  // it has a processor, or waits for one or for a disk
};

// While it lives, orphaned descendants become our children, so that none can slip away.
class Subreaper {
 public:
  Subreaper();
  ~Subreaper();
  Subreaper(const Subreaper&) = delete;
  Subreaper& operator=(const Subreaper&) = delete;

 private:
  int previous_ = 0;
};

// Every living descendant of this process, except those in `excluded` and what they started.
std::vector<TreeProcess> descendants(const std::set<pid_t>& excluded = {});

// Processor time that these and their ended children have used so far.
double processor_seconds(const std::vector<TreeProcess>& processes);

// Every living process whose environment has this variable with this value, as far as we may read it.
std::vector<TreeProcess> processes_with(const std::string& variable, const std::string& value);

// A process of nsys or ncu themselves, and not of what they profile.
bool is_profiler(const TreeProcess& process);

}  // namespace nl::orchestrator

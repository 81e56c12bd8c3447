#pragma once

#include <sys/types.h>

#include <set>
#include <string>
#include <vector>

namespace nl::orchestrator {

struct TreeProcess {
  pid_t pid = 0;
  std::string name;
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

// A process of nsys or ncu themselves, and not of what they profile.
bool is_profiler(const TreeProcess& process);

}  // namespace nl::orchestrator

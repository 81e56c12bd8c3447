#include "orchestrator/process/tree.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace nl::orchestrator {
namespace {

struct Stat {
  std::string name;
  char state = 0;
  pid_t parent = 0;
};

// /proc/4711/stat: "4711 (my (odd) name) S 4242 4711 …": the name ends at the last parenthesis.
bool read_stat(const std::filesystem::path& folder, Stat& out) {
  std::ifstream file(folder / "stat");
  std::string line;
  if (!std::getline(file, line)) return false;
  auto open = line.find('('), close = line.rfind(')');
  if (open == std::string::npos || close == std::string::npos) return false;
  out.name = line.substr(open + 1, close - open - 1);
  std::istringstream rest(line.substr(close + 1));
  return static_cast<bool>(rest >> out.state >> out.parent);
}

}  // namespace

Subreaper::Subreaper() {
  prctl(PR_GET_CHILD_SUBREAPER, &previous_);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

Subreaper::~Subreaper() { prctl(PR_SET_CHILD_SUBREAPER, previous_); }

std::vector<TreeProcess> descendants(const std::set<pid_t>& excluded) {
  std::multimap<pid_t, TreeProcess> children;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    Stat stat;
    if (!read_stat(entry.path(), stat) || stat.state == 'Z' || stat.state == 'X') continue;
    children.emplace(stat.parent, TreeProcess{static_cast<pid_t>(std::atoi(name.c_str())), stat.name});
  }
  std::vector<TreeProcess> found;
  std::vector<pid_t> parents = {getpid()};
  while (!parents.empty()) {
    auto [first, last] = children.equal_range(parents.back());
    parents.pop_back();
    for (; first != last; ++first) {
      if (excluded.contains(first->second.pid)) continue;
      found.push_back(first->second);
      parents.push_back(first->second.pid);
    }
  }
  return found;
}

// By name (nsys, nsys-launcher, nsys-tee, ncu), or by where its program lies: /opt/nvidia/nsight-compute/…
bool is_profiler(const TreeProcess& process) {
  for (const char* tool : {"nsys", "ncu", "Qdstrm"})
    if (process.name.rfind(tool, 0) == 0) return true;
  std::error_code failed;
  const auto program = std::filesystem::read_symlink("/proc/" + std::to_string(process.pid) + "/exe", failed);
  return program.string().find("/nsight-") != std::string::npos;
}

}  // namespace nl::orchestrator

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
  unsigned long ticks = 0;  // user and system time, that of ended children too
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
  if (!(rest >> out.state >> out.parent)) return false;
  std::string skipped;
  for (int field = 5; field < 14; ++field) rest >> skipped;
  for (int field = 14; field < 18; ++field) {
    unsigned long part = 0;
    rest >> part;
    out.ticks += part;
  }
  return true;
}

bool is_living(const std::filesystem::path& folder, Stat& stat) {
  if (folder.filename().string().find_first_not_of("0123456789") != std::string::npos) return false;
  return read_stat(folder, stat) && stat.state != 'Z' && stat.state != 'X';
}

pid_t pid_of(const std::filesystem::path& folder) { return static_cast<pid_t>(std::atoi(folder.filename().c_str())); }

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
    Stat stat;
    if (!is_living(entry.path(), stat)) continue;
    children.emplace(stat.parent, TreeProcess{pid_of(entry.path()), stat.name, stat.state == 'R' || stat.state == 'D'});
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

double processor_seconds(const std::vector<TreeProcess>& processes) {
  unsigned long ticks = 0;
  for (const TreeProcess& process : processes) {
    Stat stat;
    if (read_stat("/proc/" + std::to_string(process.pid), stat)) ticks += stat.ticks;
  }
  return static_cast<double>(ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

std::vector<TreeProcess> processes_with(const std::string& variable, const std::string& value) {
  std::vector<TreeProcess> found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    Stat stat;
    if (!is_living(entry.path(), stat)) continue;
    std::ifstream file(entry.path() / "environ", std::ios::binary);
    for (std::string line; std::getline(file, line, '\0');)
      if (line == variable + "=" + value) found.push_back({pid_of(entry.path()), stat.name, false});
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

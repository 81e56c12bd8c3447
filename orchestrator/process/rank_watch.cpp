#include "orchestrator/process/rank_watch.h"

#include <algorithm>
#include <fstream>
#include <string>

#include "orchestrator/process/tree.h"
#include "parsers/rank_variables.h"

namespace nl::orchestrator {
namespace {

constexpr std::chrono::duration<double> kFirstWait{0.2}, kLongestWait{5};

// /proc/4711/environ: "PATH=/bin\0RANK=3\0…"
RankFacts told_to(pid_t pid) {
  parsers::RankVariables variables;
  std::ifstream file("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
  for (std::string line; std::getline(file, line, '\0');) variables.add(line);
  return variables.facts();
}

}  // namespace

void RankWatch::look_if_due(const std::set<pid_t>& excluded) {
  if (std::chrono::steady_clock::now() - looked_ < wait_) return;
  look(excluded);
  wait_ = std::min(kLongestWait, std::max(kFirstWait, wait_ * 2));
}

// Each again: what was seen before it began its program has the environment of its parent.
void RankWatch::look(const std::set<pid_t>& excluded) {
  looked_ = std::chrono::steady_clock::now();
  for (const TreeProcess& process : descendants(excluded))
    if (const RankFacts told = told_to(process.pid); told.rank) ranks_[process.pid] = told;
}

}  // namespace nl::orchestrator

#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "model/time.h"

namespace nl::parsers {

// Files of the collector that belong to one run, the earliest process first.
struct CollectorRun {
  std::vector<std::filesystem::path> files;
  std::map<std::uint32_t, std::vector<std::filesystem::path>> by_rank = {};  // of the processes that a launcher told their rank
  std::string process;                                                       // of the earliest; empty: not known
  Ns utc_start_ns = 0;
};

// What may tell two files apart.
enum class RunsBy {
  kLabel,  // the label that nl-stage gives the processes of a run; where one has none, the clocks of another machine or boot
  kTime,   // where one has no label, also a stretch of time in which no process of either was recorded
};

// The runs that the files belong to, the earliest first: one, unless something tells them apart. Files that cannot be read are in none.
std::vector<CollectorRun> runs_of_files(const std::vector<std::filesystem::path>& files, RunsBy by);

// The files of each rank where nl-stage ran once for each rank, or once on each machine: several runs, each with the ranks of the job that
// it had. Processes without a rank go with the first one of their run. Empty: it is one run, or there is one that no rank is told of.
std::vector<std::vector<std::filesystem::path>> files_by_rank(const std::vector<std::filesystem::path>& files);

}  // namespace nl::parsers

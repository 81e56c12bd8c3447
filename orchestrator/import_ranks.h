#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "model/trace.h"
#include "parsers/registry.h"

namespace nl::orchestrator {

struct RankFile {
  std::filesystem::path named;              // what was given, whose name may tell the rank
  std::vector<std::filesystem::path> read;  // what is read: itself, an export of it or a copy; of the collector, a file of each process
  const parsers::Format* format = nullptr;
};

// Captures of the ranks of one run as one trace. Throws Error(kInput) where they are not of one run, where two are of one rank and, without
// `partial`, where a rank is missing.
Trace join_ranks(const std::vector<RankFile>& files, const std::function<Trace(const RankFile&)>& read, bool partial);

// The numbers that names of files give ranks: those in the one place in which alone they differ, "node0/rank3.sqlite". Empty: there is none.
std::vector<std::uint32_t> ranks_by_name(const std::vector<std::filesystem::path>& files);

}  // namespace nl::orchestrator

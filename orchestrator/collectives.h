#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/collective_report.h"

namespace nl::orchestrator {

// Reads dumps of PyTorch's flight recorder and files of NCCL Inspector: those that are given, and those in folders that are given.
// A file that is damaged is skipped and named. Throws Error(kInput) where none can be read, where two dumps are of one rank or the dumps are
// not of one job.
CollectiveReport read_collectives(const std::vector<std::filesystem::path>& given);

// "a dump of PyTorch's flight recorder"; empty: the file is no evidence on collectives.
std::string collective_evidence(const std::filesystem::path& file);

}  // namespace nl::orchestrator

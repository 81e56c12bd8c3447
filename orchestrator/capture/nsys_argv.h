#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/codes.h"
#include "orchestrator/config/config.h"
#include "orchestrator/machine/tools.h"

namespace nl::orchestrator {

// `nsys profile …` up to the workload's own command. What the found version lacks is left out or spelled
// its way, and said in `adaptations`.
std::vector<std::string> nsys_profile_argv(const Config& config, const Tool& nsys, const std::filesystem::path& output_stem,
                                           std::vector<Remark>& adaptations);

std::vector<std::string> nsys_export_argv(const Tool& nsys, const std::filesystem::path& report, const std::filesystem::path& sqlite);

}  // namespace nl::orchestrator

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/codes.h"
#include "orchestrator/capture/plan.h"
#include "orchestrator/config/config.h"
#include "orchestrator/machine/tools.h"

namespace nl::orchestrator {

// Which names ncu compares, and with what: "regex:^(a|b)$". An empty expression: every kernel.
struct NameFilter {
  KernelNameBase base = KernelNameBase::kMangled;
  std::string expression;
};

NameFilter ncu_name_filter(const NcuRequest& request, std::vector<Remark>& adaptations);

// `ncu …` up to the workload's own command.
std::vector<std::string> ncu_profile_argv(const Config& config, const Tool& ncu, const std::filesystem::path& output_stem,
                                          const NameFilter& names, const std::vector<std::string>& nvtx_include,
                                          std::vector<Remark>& adaptations);

std::vector<std::string> ncu_export_argv(const Tool& ncu, const std::filesystem::path& report, const std::string& page);

// `nsys profile …` up to the workload's own command. What the found version lacks is left out or spelled
// its way, and said in `adaptations`.
std::vector<std::string> nsys_profile_argv(const Config& config, const Tool& nsys, const std::filesystem::path& output_stem,
                                           std::vector<Remark>& adaptations);

std::vector<std::string> nsys_export_argv(const Tool& nsys, const std::filesystem::path& report, const std::filesystem::path& sqlite);

}  // namespace nl::orchestrator

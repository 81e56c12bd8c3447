#pragma once

#include <filesystem>
#include <string>
#include <vector>

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

}  // namespace nl::orchestrator

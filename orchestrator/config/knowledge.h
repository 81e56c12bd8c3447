#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "analysis/analyse.h"
#include "analysis/staging/iterations.h"
#include "model/efficiency.h"
#include "model/rule.h"
#include "orchestrator/config/conf_files.h"
#include "orchestrator/config/config.h"

namespace nl::orchestrator {

// What a configuration tells the analysis, with the rules and devices that it names. Loaded before anything runs, so that a mistake in a
// rule file costs no capture. Error(kConfig) names file and line.
analysis::Knowledge load_knowledge(const Config& config);

analysis::AnalysisOptions analysis_options(const Config& config);

// perturbation.limit, the looks that perturbation.repeats and most_repeats allow, and the stages that are asked about.
analysis::OverheadRule overhead_rule(const Config& config);

// analysis.warmup and analysis.warmup_factor as the analysis takes them. Error(kConfig) where warmup is neither a word nor a
// number; load_config() asks too.
analysis::WarmupRule warmup_rule(const Config& config);

// The peaks of the GPUs that conf/device/*.yaml describes, those of `own` (a file or a folder; empty: none)
// first, so that they win. Throws Error(kConfig) with file:line:column.
std::vector<DeviceTableEntry> load_device_table(const std::filesystem::path& own = {});

// One file:
//   name: NVIDIA H200
//   match: ["H200"]
//   dense_tflops: {bf16: 989.4, f32: 67}
//   bandwidth_tb_per_s: 4.8
//   notes: ["…"]
DeviceTableEntry read_device_file(const std::filesystem::path& file);

// conf/tracing/launches.yaml: what a tracer adds to a launch. Throws Error(kConfig) with file:line:column.
analysis::TracingKnowledge load_tracing_costs();
analysis::TracingKnowledge read_tracing_costs(const ConfFile& file);

// The files in their order, then the user's: a rule of the same name replaces the one before it, and a file's `disable` list
// switches off what came before. Everything is checked, expressions too: Error(kConfig) with file:line:column.
Rules load_rules(std::vector<ConfFile> files, const std::vector<std::string>& user_files);

// conf/rules: on disk, or built in. Never empty.
std::vector<ConfFile> shipped_rules();

}  // namespace nl::orchestrator

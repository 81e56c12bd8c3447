#pragma once

#include <filesystem>
#include <optional>

#include "model/evidence.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/capture/capture.h"
#include "orchestrator/capture/pass_runner.h"
#include "orchestrator/capture/plan.h"

namespace nl::orchestrator {

// A configuration that has the model's shape wins; else its keys are added to what the process noted.
ModelInfo model_of(const ModelOptions& configured, const std::optional<ModelInfo>& noted);

// What the operator pass left in its folder, beside its trace: the data types.
void add_operator_pass(Trace trace, const std::filesystem::path& folder, Evidence& evidence);

// What a backend recorded of a model file. A session that failed left nothing; its pass says why.
void read_session_record(const std::filesystem::path& file, Evidence& evidence);

// What a plan's capture shows. `power`: the meters that were read meanwhile.
Evidence read(const Plan& plan, Capture capture, const PowerSource& power, const Bundle& bundle, const Verdict& verdict);

}  // namespace nl::orchestrator

#pragma once

#include <string>

#include "model/run.h"
#include "runs/orchestrator_names.h"

namespace nl::runs {

// A bundle's folder, a run.json, or a run as the ledger names it (`nl-stage ls`); `ledger`: its location, empty: the default one. Throws
// Error(kInput) where it is none of them.
Run named_run(const std::string& name, const std::string& ledger = {});

}  // namespace nl::runs

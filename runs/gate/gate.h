#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/gate.h"
#include "runs/orchestrator_names.h"

namespace nl::runs {

struct GateRequest {
  std::vector<std::string> runs;  // as every verb takes them (runs/ledger/find_run.h); one that is given twice counts once
  std::filesystem::path expectations;
  bool update = false;               // write what these runs reached
  bool strict = false;               // what is undecided fails
  std::vector<std::string> metrics;  // with update: further ones to expect, "stage.*.median_ms"
  std::string ledger = {};           // where names are looked up, and how much runs differ; empty: the default one
};

// The runs against what is expected of their hardware. Throws Error(kConfig) for a wrong file of expectations, Error(kInput) for runs
// that cannot be compared with it, Error(kOutput) where it cannot be written.
GateReport check_gate(const GateRequest& request);

}  // namespace nl::runs

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/session.h"
#include "orchestrator/config/config.h"

// A model file as the workload: `nl-stage session`, our own program once more, runs it by one of the backends (adapters/). As a process of its own
// it is supervised, traced and measured like every other workload, and what a backend's library does to it stays there.
namespace nl::orchestrator {

inline constexpr const char* kSessionRecord = "session/session.json";  // in the bundle; session.profile.json may be beside it
inline constexpr const char* kSessionRecordVariable = "NL_STAGE_SESSION_RECORD";

// Before anything runs: the backend loads, and the file is there. Throws Error.
void check_session(const ModelFileOptions& options);

// What the command does. `record` may be empty. Progress goes to stderr.
ModelSession run_session(const ModelFileOptions& options, const std::filesystem::path& record);

// "onnxruntime 1.21.0, cpu: 20 iterations, median 1.204 ms unprofiled, 1.260 ms profiled (1.05 times)"
std::string session_text(const ModelSession& session);
std::string session_figures_json(const ModelSession& session);  // the same figures

}  // namespace nl::orchestrator

#pragma once

#include <filesystem>
#include <string>

#include "model/session.h"
#include "orchestrator/config/config.h"

// A model file as the workload: `nl-stage session`, our own program once more, runs it by one of the backends (adapters/). As a process of its own
// it is supervised, traced and measured like every other workload, and what a backend's library does to it stays there.
namespace nl::orchestrator {

inline constexpr const char* kSessionRecord = "session/session.json";  // in the bundle; session.profile.json may be beside it
inline constexpr const char* kSessionRecordVariable = "NL_STAGE_SESSION_RECORD";

// Checks before anything runs that the backend loads, the file is there and one of its models, and no size of its inputs is left open, as far as the
// file tells. Throws Error.
void check_session(const ModelFileOptions& options);

// Does what the command `nl-stage session` does. `record` may be empty. Progress goes to stderr.
ModelSession run_session(const ModelFileOptions& options, const std::filesystem::path& record);

// "onnxruntime 1.21.0, cpu: 20 iterations, median 1.204 ms unprofiled, 1.260 ms profiled (1.05 times)"
std::string session_text(const ModelSession& session);
std::string session_figures_json(const ModelSession& session);  // the same figures

// What a session leaves for the run that started it: a ModelSession as JSON, and the profile of a backend that writes one.
std::string session_json(const ModelSession& session);

// Gives a session the nodes and runs of its profile, the path of which it has, and `holds` of the nodes. Throws Error(kWorkload) where the
// profile does not have all iterations.
void read_profile(ModelSession& session);

// Reads a session with the profile beside it. Throws Error(kInput) with the place.
ModelSession read_session(const std::filesystem::path& file);

}  // namespace nl::orchestrator

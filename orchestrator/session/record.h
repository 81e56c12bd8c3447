#pragma once

#include <filesystem>
#include <string>

#include "model/session.h"

// What a session leaves for the run that started it: a ModelSession as JSON, and the profile of a backend that writes one.
namespace nl::orchestrator {

std::string session_json(const ModelSession& session);

// Gives a session the nodes and runs of its profile, the path of which it has, and `holds` of the nodes. Throws Error(kWorkload) where the
// profile does not have all iterations.
void read_profile(ModelSession& session);

// With what is in the profile beside it. Throws Error(kInput) with the place.
ModelSession read_session(const std::filesystem::path& file);

}  // namespace nl::orchestrator

#pragma once

#include <filesystem>
#include <string>

#include "model/session.h"

// What a session leaves for the run that started it: a ModelSession as JSON.
namespace nl::orchestrator {

std::string session_json(const ModelSession& session);

// Throws Error(kInput) with the place.
ModelSession read_session(const std::filesystem::path& file);

}  // namespace nl::orchestrator

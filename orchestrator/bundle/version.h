#pragma once

namespace nl::orchestrator {

const char* version();  // of nl-stage, "0.1.0"

}  // namespace nl::orchestrator

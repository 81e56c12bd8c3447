#include "orchestrator/bundle/version.h"

namespace nl::orchestrator {

const char* version() { return NL_STAGE_VERSION; }

}  // namespace nl::orchestrator

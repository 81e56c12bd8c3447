#include "orchestrator/bundle/version.h"

namespace nl {

const char* version() { return NL_STAGE_VERSION; }

}  // namespace nl

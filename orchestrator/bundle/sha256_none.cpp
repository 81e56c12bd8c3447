#include "orchestrator/bundle/sha256.h"

namespace nl::orchestrator {

Sha256::Compress Sha256::compress_native() { return nullptr; }

}  // namespace nl::orchestrator

#pragma once

#include <memory>

#include "adapters/adapter.h"

namespace nl::adapters {

// The library is loaded, and it has the provider. Throws Error for a model that cannot be loaded or has not the precision that is asked for.
std::unique_ptr<Session> open_onnxruntime_session(const SessionOptions& options);

}  // namespace nl::adapters

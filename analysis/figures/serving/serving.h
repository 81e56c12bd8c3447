#pragma once

#include <optional>

#include "model/evidence.h"
#include "model/serving.h"

namespace nl::analysis {

// The bill of the requests whose marks the trace has. Nothing where it has none.
std::optional<Serving> serving_of(const Evidence& evidence);

}  // namespace nl::analysis

#pragma once

#include <string>

#include "model/run.h"

namespace nl::exporters {

// operators.md: a section for each source of operators, then the model's layers.
std::string operators_markdown(const Run& run);

}  // namespace nl::exporters

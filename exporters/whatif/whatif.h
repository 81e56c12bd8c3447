#pragma once

#include <string>

#include "model/prediction.h"

// Predictions, each text whole.
namespace nl::exporters {

std::string whatif_markdown(const WhatIf& result);
std::string whatif_text(const WhatIf& result, std::size_t width);  // for a terminal so wide
std::string whatif_json(const WhatIf& result);

}  // namespace nl::exporters

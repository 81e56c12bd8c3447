#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/prediction.h"
#include "model/prediction_pair.h"

// Predictions, each text whole.
namespace nl::exporters {

std::string whatif_markdown(const WhatIf& result, const PredictionOrigin& origin = {});
std::string whatif_text(const WhatIf& result, const PredictionOrigin& origin, std::size_t width);  // for a terminal so wide
std::string whatif_json(const WhatIf& result, const PredictionOrigin& origin = {});

// What whatif_json() has of predictions: their changes, stages and times, and whether they were refused.
struct WrittenPredictions {
  std::vector<Prediction> predictions;
  PredictionOrigin origin;
};
// `where` is the file that it came from. Throws Error(kInput) where the text is something else.
WrittenPredictions predictions_from_json(std::string_view text, const std::string& where);

}  // namespace nl::exporters

#pragma once

#include <string>
#include <vector>

#include "model/prediction_pair.h"

// Predictions beside what came of them.
namespace nl::exporters {

// "Predicted −61 % (−68 to −52 %), measured −57 % (−58 to −55 %): within the interval."
std::string pair_sentence(const PredictionPair& pair);

std::string record_markdown(const std::vector<PredictionRecord>& records, const std::string& ledger);
std::string record_text(const std::vector<PredictionRecord>& records, const std::string& ledger,
                        std::size_t width);  // for a terminal so wide
std::string record_json(const std::vector<PredictionRecord>& records, const std::string& ledger);

}  // namespace nl::exporters

#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runs/ledger/ledger.h"

// How runs of the ledger are shown.
namespace nl::cli {

nlohmann::ordered_json entry_json(const runs::LedgerEntry& entry);
// width: 0: as wide as it is
std::string entry_table(const std::vector<runs::LedgerEntry>& entries, const std::vector<std::string>& metrics, std::size_t width);

// "0.00420" with its unit where the key is one of model/run_metrics.h: "4.20 µs" stays what the key says, "0.00420 ms".
std::string metric_text(const std::string& key, double value);

}  // namespace nl::cli

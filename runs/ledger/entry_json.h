#pragma once

#include <nlohmann/json.hpp>

#include <vector>

#include "runs/ledger/ledger.h"

// A run of the ledger as JSON, the same in `ls --json` and the API of `serve`.
namespace nl::runs {

nlohmann::ordered_json entry_json(const LedgerEntry& entry);

// With what became of its bundle, and its notes.
nlohmann::ordered_json shown_json(const LedgerEntry& entry, const std::vector<LedgerNote>& notes);

}  // namespace nl::runs

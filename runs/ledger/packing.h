#pragma once

#include <string>
#include <string_view>

#include "runs/orchestrator_names.h"

// How run.json lies in the ledger: a tenth of its size.
namespace nl::runs {

inline constexpr const char* kPacking = "zstd";

std::string packed(std::string_view text);
// Throws Error(kInput) where the bytes are damaged or claim an absurd size.
std::string unpacked(std::string_view bytes, const std::string& where);

}  // namespace nl::runs

#pragma once

#include <filesystem>
#include <string_view>

#include "model/counters.h"

// `ncu --csv --page raw` or `--page details`, of any locale and unit, with ==…== lines and the program's
// own output between the rows. What becomes of what:
//   a row (raw), the rows of one ID (details)   → NcuLaunch
//   a cell of a metric, with its unit           → NcuLaunch::metrics in ns, bytes, Hz or %; "no data" is left out
//   a cell that is not a number                 → NcuLaunch::text_metrics
//   the NVTX columns                            → NcuLaunch::ranges
//   ==…== lines                                 → NcuReport::tool_messages
//   what cannot be read                         → counted in NcuReport::rows_damaged, by reason
// A number that two locales read differently ("3,670") and that nothing else in the file decides is
// counted, not guessed.
namespace nl::parsers {

// Throws Error(kInput) where the file cannot be opened or holds no such table.
NcuReport read_ncu_csv(const std::filesystem::path& file);

// The same of text in memory; `where` names it in errors.
NcuReport parse_ncu_csv(std::string_view text, const std::string& where);

}  // namespace nl::parsers

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/collective_report.h"

// What is told of collectives in prose.
namespace nl::exporters::collectives {

std::string ranks_text(const std::vector<std::uint32_t>& ranks);                // "rank 3", "ranks 0 to 2 and 7", of many: "997 ranks"
std::string rank_numbers(const std::vector<std::uint32_t>& ranks);              // "3", "0 to 2, 7", "0 to 6, 8, 10 … (997)"
std::string group_text(const DumpGroup& group);                                 // "group 0 (default_pg)"
std::string sizes_text(const std::vector<std::vector<std::int64_t>>& tensors);  // "[1024, 8], [4]"

// "step at /code/train.py:88": the innermost frame outside of PyTorch; empty: none is recorded.
std::string site_text(const std::vector<CallFrame>& stack);

std::vector<std::string> flight_sentences(const FlightReport& report);  // the first says what the dumps show
std::vector<std::string> flight_notes(const FlightReport& report);      // what limits it
std::vector<std::string> inspector_sentences(const CollectiveReport& report);

double spread_of(const CollectiveSpeed& speed);  // by how much the longest median exceeds the shortest: 0.5 is half as long again

}  // namespace nl::exporters::collectives

#pragma once

#include <filesystem>

#include "model/flight_dump.h"
#include "parsers/input_files.h"

namespace nl::parsers {

// Whether the file may be a dump of PyTorch's flight recorder: a pickle or JSON with its keys.
bool is_flight_dump(const FileHead& head);

// What becomes of what: an entry is a RecordedCall; the sizes, types and name of several entries are one CallForm, their frames one stack.
// An entry without a number, a state or a group is counted as damaged. The rank stays 0: the dump does not have it.
// Throws Error(kInput) where the file is none, is cut off, or is of a version whose fields have another meaning.
FlightDump read_flight_dump(const std::filesystem::path& file);

}  // namespace nl::parsers

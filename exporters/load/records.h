#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "model/load.h"

// The records of a load as a file: every request and when each chunk of its answer came. schema/load-records.schema.json has its form.
namespace nl::exporters {

inline constexpr int kLoadRecordsVersion = 1;

// In pieces of a request each: together they may be large.
void write_load_records(const LoadRun& run, const std::function<void(std::string_view piece)>& append);

bool is_load_records(std::string_view text);  // by its first member

// The way back. `where` is the file. Throws Error(kInput) where it is damaged, or a newer nl-stage wrote it.
LoadRun read_load_records(std::string_view text, const std::string& where);

}  // namespace nl::exporters

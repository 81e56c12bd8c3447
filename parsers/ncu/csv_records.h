#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "model/codes.h"

namespace nl::parsers {

using CsvFields = std::vector<std::string>;

// What stands between the records of `ncu --csv`: the tool's own ==…== lines, the program's output.
struct NcuCsvSink {
  std::function<void(const CsvFields&)> header;   // "ID","Process ID",…
  std::function<void(const CsvFields&)> record;   // every record after the first header
  std::function<void(std::string_view)> message;  // an ==…== line
  std::function<void(Code)> damaged;              // a record that could not be read
};

// Finds the CSV records in what ncu wrote to standard output.
void split_ncu_csv(std::string_view text, const NcuCsvSink& sink);

}  // namespace nl::parsers

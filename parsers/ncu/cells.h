#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/counters.h"

// The records that ncu --csv writes, and what their cells hold.
namespace nl::parsers {

// How the file writes numbers: ncu follows the locale, and says nowhere which one it was.
// Every value is shown to observe() first; what they say together decides the doubtful ones.
class NumberFormat {
 public:
  // A kernel never takes less than 100 ns, so "3,670" ns can only be 3670: `kernel_ns` says that the
  // text is a kernel's duration in nanoseconds.
  void observe(std::string_view text, bool kernel_ns = false);

  enum class Kind { kNumber, kText, kNoData, kUndecidable, kNotFinite };
  struct Value {
    Kind kind = Kind::kText;
    double number = 0;
  };
  Value read(std::string_view text) const;

 private:
  bool decimal_is(char separator) const;
  bool group_is(char separator) const;

  // Votes for "the comma (the point) sets off decimals", and for "… groups thousands".
  std::uint64_t comma_decimal_ = 0, comma_group_ = 0, point_decimal_ = 0, point_group_ = 0;
  std::uint64_t other_group_ = 0;  // blanks or apostrophes group thousands
};

// What to multiply a value of this unit with to have it in ns, bytes, Hz or what else its base unit is.
// Nothing where the unit is a time, size or frequency of a prefix that we do not know.
std::optional<double> to_base_unit(std::string_view unit);

// The details page names metrics for people ("Duration" in "GPU Speed Of Light Throughput"). This is the
// raw page's name for those that nl-stage reads, and "Section/Metric" for the others. `rate` tells the
// two "Memory Throughput" apart: one is a percentage, the other bytes per second.
std::string raw_metric_name(std::string_view section, std::string_view metric, bool rate);

// The ranges in ncu's NVTX columns: push/pop ones of the launching thread, or start/end ones of the
// process. ncu lists them domain by domain, outermost first within a domain.
void read_ncu_ranges(std::string_view cell, RangeStyle style, std::vector<NcuRange>& out);

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

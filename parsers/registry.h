#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "model/counters.h"
#include "model/operator.h"
#include "model/trace.h"
#include "parsers/input_files.h"

namespace nl::parsers {

using Files = std::vector<std::filesystem::path>;
using Reading = std::variant<Trace, OperatorRecords, NcuReport, CounterReport>;

// What the files of a format add to a run, which is all that an import asks of it. Those up to kTimeline can be the capture.
enum class Gives : std::uint8_t {
  kNsysExport,       // Trace: the capture, and the machine that it was made on
  kCollectorTraces,  // Trace: the capture
  kTimeline,         // Trace: the capture where no format before it gives one; else operators beside the capture
  kOperators,        // OperatorRecords, beside a capture or alone
  kNcuLaunches,      // NcuReport, beside a capture or alone
  kCounters,         // CounterReport, joined to a capture
  kHostStacks,       // nothing by itself: join_stacks() adds it to the Trace of a capture
  kGraphCaptures,    // the same, by join_graph_captures()
};

constexpr bool joins_capture(Gives gives) { return gives >= Gives::kHostStacks; }

inline constexpr std::size_t kAnyNumber = 0;

// A format that import reads. Each reader's source ends with its own; registry.cpp lists them.
struct Format {
  std::string_view name;           // --name of import
  std::string_view help;           // of that flag
  std::string_view source = name;  // in files: where operators are from
  std::string_view known_as = {};  // where a file is of no format: "give … or a <known_as>"
  Gives gives = Gives::kTimeline;
  std::size_t most_files = kAnyNumber;                                   // behind its flag
  bool together = false;                                                 // all files make one reading; else each makes its own
  bool by_rank = false;                                                  // several files are the captures of the ranks of one run
  bool (*is_own)(const FileHead& head) = nullptr;                        // none: only the flag chooses it
  bool (*is_own_folder)(const std::filesystem::path& folder) = nullptr;  // none: it is always a file
  Reading (*read)(const Files& files) = nullptr;                         // throws Error(kInput) where a file is not what it should be
  std::string_view report_extensions = {};  // " .nsys-rep .qdrep ": of reports that their tool has to export first
};

// All formats, in the order of the flags. The first with a timeline gives the capture.
std::span<const Format* const> formats();

// The format of a file or of a folder that is one capture, by what is in it; nullptr where no format claims it. Only the beginning is looked at: a file that
// was cut off later on is still of its format, and its reader says what is missing.
// Throws Error(kInput) where the file cannot be read.
const Format* sniff(const std::filesystem::path& file);

// Whether the file is a report that its tool has to export before it can be read; known by its name.
bool is_report(const Format& format, const std::filesystem::path& file);

}  // namespace nl::parsers

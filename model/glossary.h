#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

// Every term of the reports is defined once, here. docs/glossary.md and the hover texts of report.html show these definitions.
namespace nl {

enum class GlossaryGroup : std::uint8_t {
  kWorkload,
  kBudget,
  kGpuWork,
  kCounters,
  kEfficiency,
  kTables,
  kMeasuring,
  kConclusions,
  kCount_
};

struct GlossaryEntry {
  GlossaryGroup group;
  std::string_view term;      // "MBU"
  std::string_view unit;      // "%"; empty: it has none
  std::string_view source;    // what measures it; empty: a word, not a figure
  std::string_view formula;   // empty: measured as it is
  std::string_view sentence;  // "model bandwidth utilisation: …", without a full stop
  std::string_view names;     // where it goes by others, separated by '|': columns of reports, keys of `nl-stage gate` and run.json
};

// All entries, sorted by group.
std::span<const GlossaryEntry> glossary();

// The entry of a term, a column of a report or a metric's key, whatever its case; nullptr: there is none.
const GlossaryEntry* glossary_entry(std::string_view name);

// "Model bandwidth utilisation: …. Formula: …. Unit: %. From: …." for a reader who points at the term.
std::string glossary_text(const GlossaryEntry& entry);

}  // namespace nl

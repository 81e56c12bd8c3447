#pragma once

#include <memory>
#include <vector>

#include "runs/facts/facts.h"

namespace nl::runs {

// The files of the tables, in a folder. They appear under their names with commit(), and nothing is left of them without it.
class FactsFiles {
 public:
  virtual ~FactsFiles() = default;
  void add(const Run& run);
  virtual std::vector<FactsTable> commit() = 0;

 private:
  virtual std::vector<exporters::fact_tables::TableStream>& streams() = 0;
};

std::unique_ptr<FactsFiles> make_facts_files(exporters::fact_tables::Format format, const std::filesystem::path& folder);

// Their names in it.
std::vector<std::filesystem::path> names_of_facts(exporters::fact_tables::Format format, const std::filesystem::path& folder);

}  // namespace nl::runs

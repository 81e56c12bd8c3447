#include "runs/facts/files.h"

#include <fmt/format.h>
#include <unistd.h>

#include "model/error.h"
#include "orchestrator/bundle/bundle.h"

namespace nl::runs {
namespace {

namespace fs = std::filesystem;
namespace fact_tables = exporters::fact_tables;

constexpr const char* kSqliteFile = "facts.sqlite";

// A file for every table.
class FilePerTable : public FactsFiles {
 public:
  FilePerTable(fact_tables::Format format, const fs::path& folder) : names_(names_of_facts(format, folder)) {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      WholeFile& file = *files_.emplace_back(std::make_unique<WholeFile>(names_[i]));
      const fact_tables::Table& table = fact_tables::tables()[i];
      streams_.emplace_back(table, fact_tables::writer_of(format, table, [&file](std::string_view bytes) { file.append(bytes); }));
    }
  }
  // None appears before all of them are complete.
  std::vector<FactsTable> commit() override {
    for (fact_tables::TableStream& stream : streams_) stream.finish();
    std::vector<FactsTable> written;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      files_[i]->commit();
      written.push_back({&streams_[i].table(), names_[i], streams_[i].rows()});
    }
    return written;
  }

 private:
  std::vector<fact_tables::TableStream>& streams() override { return streams_; }

  const std::vector<fs::path> names_;
  std::vector<std::unique_ptr<WholeFile>> files_;
  std::vector<fact_tables::TableStream> streams_;
};

// A name for a file that another library writes, which goes with its owner.
struct UnfinishedFile {
  explicit UnfinishedFile(const fs::path& name) : path(name.string() + fmt::format(".{}.tmp", ::getpid())) {}
  ~UnfinishedFile() { ::unlink(path.c_str()); }
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;
  const fs::path path;
};

// All tables in one.
class OneSqliteFile : public FactsFiles {
 public:
  explicit OneSqliteFile(const fs::path& folder)
      : name_(folder / kSqliteFile), unfinished_(name_), facts_(std::in_place, unfinished_.path) {
    for (const fact_tables::Table& table : fact_tables::tables()) streams_.emplace_back(table, facts_->writer(table));
  }
  std::vector<FactsTable> commit() override {
    std::vector<FactsTable> written;
    for (fact_tables::TableStream& stream : streams_) {
      stream.finish();
      written.push_back({&stream.table(), name_, stream.rows()});
    }
    streams_.clear();
    facts_->finish();
    facts_.reset();
    std::error_code failure;
    fs::rename(unfinished_.path, name_, failure);
    if (failure) throw Error(ErrorKind::kOutput, "cannot rename the file into place: " + failure.message(), name_.string());
    return written;
  }

 private:
  std::vector<fact_tables::TableStream>& streams() override { return streams_; }

  const fs::path name_;
  const UnfinishedFile unfinished_;
  std::optional<fact_tables::SqliteFacts> facts_;
  std::vector<fact_tables::TableStream> streams_;  // go before it does
};

}  // namespace

void FactsFiles::add(const Run& run) {
  const WorkloadIdentity identity = identity_of(run);
  for (fact_tables::TableStream& stream : streams()) stream.add(run, identity);
}

std::vector<fs::path> names_of_facts(fact_tables::Format format, const fs::path& folder) {
  if (format == fact_tables::Format::kSqlite) return {folder / kSqliteFile};
  std::vector<fs::path> names;
  for (const fact_tables::Table& table : fact_tables::tables()) names.push_back(folder / (table.name + "." + std::string(key_of(format))));
  return names;
}

std::unique_ptr<FactsFiles> make_facts_files(fact_tables::Format format, const fs::path& folder) {
  if (format == fact_tables::Format::kSqlite) return std::make_unique<OneSqliteFile>(folder);
  return std::make_unique<FilePerTable>(format, folder);
}

}  // namespace nl::runs

#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>

#include "exporters/fact_tables/batch.h"

// A table as a file.
namespace nl::exporters::fact_tables {

enum class Format : std::uint8_t { kParquet, kArrow, kCsv, kSqlite };
std::string_view key_of(Format format);  // as --format has it: "parquet"

class Writer {
 public:
  virtual ~Writer() = default;
  virtual void write(const Batch& batch) = 0;
  virtual void finish() = 0;
};

using Sink = std::function<void(std::string_view)>;  // the bytes of a file, from front to back

std::unique_ptr<Writer> parquet_writer(const Table& table, Sink sink);
std::unique_ptr<Writer> arrow_writer(const Table& table, Sink sink);  // Arrow's IPC file format, which is Feather's second version
std::unique_ptr<Writer> csv_writer(const Table& table, Sink sink);    // RFC 4180
std::unique_ptr<Writer> writer_of(Format format, const Table& table, Sink sink);  // one of the three

// All tables in one file, which is made anew. Error(kOutput) where it cannot be written.
class SqliteFacts {
 public:
  explicit SqliteFacts(const std::filesystem::path& file);
  ~SqliteFacts();
  std::unique_ptr<Writer> writer(const Table& table);  // goes before this does
  void finish();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// The rows of many runs, one run after another.
class TableStream {
 public:
  TableStream(const Table& table, std::unique_ptr<Writer> writer) : table_(table), batch_(table), writer_(std::move(writer)) {}
  void add(const Run& run, const WorkloadIdentity& identity);
  void finish();
  const Table& table() const { return table_; }
  std::size_t rows() const { return rows_; }

 private:
  void flush();

  const Table& table_;
  Batch batch_;
  std::unique_ptr<Writer> writer_;
  std::size_t rows_ = 0;
};

}  // namespace nl::exporters::fact_tables

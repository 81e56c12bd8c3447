#include "exporters/fact_tables/writer.h"

#include <array>

namespace nl::exporters::fact_tables {
namespace {

constexpr std::array<std::string_view, 4> kFormatKeys = {"parquet", "arrow", "csv", "sqlite"};

}  // namespace

std::string_view key_of(Format format) { return kFormatKeys[static_cast<std::size_t>(format)]; }

std::unique_ptr<Writer> writer_of(Format format, const Table& table, Sink sink) {
  if (format == Format::kParquet) return parquet_writer(table, std::move(sink));
  if (format == Format::kArrow) return arrow_writer(table, std::move(sink));
  return csv_writer(table, std::move(sink));
}

void TableStream::add(const Run& run, const WorkloadIdentity& identity) {
  table_.each_row(run, identity, [this](const Row& row) {
    batch_.add(row);
    ++rows_;
    if (batch_.is_full()) flush();
  });
}

void TableStream::flush() {
  if (batch_.rows() > 0) writer_->write(batch_);
  batch_.clear();
}

void TableStream::finish() {
  flush();
  writer_->finish();
}

}  // namespace nl::exporters::fact_tables

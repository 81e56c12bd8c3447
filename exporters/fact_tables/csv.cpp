#include <fmt/format.h>

#include "exporters/fact_tables/writer.h"
#include "exporters/tables.h"

namespace nl::exporters::fact_tables {
namespace {

constexpr const char* kLineEnd = "\r\n";

// An empty field is null, and "" a text that is empty.
void add_text(std::string& out, std::string_view text) {
  const bool plain = !text.empty() && text.find_first_of(",\"\r\n") == std::string_view::npos;
  if (plain) out += text;
  else out += csv_quoted(text);
}

void add_value(std::string& out, const Batch::Values& column, std::size_t row) {
  if (!column.known[row]) return;
  switch (column.type) {
    case Type::kInteger: out += fmt::format("{}", column.integers[row]); break;
    case Type::kReal: out += fmt::format("{}", column.reals[row]); break;
    case Type::kBoolean: out += column.booleans[row] ? "true" : "false"; break;
    case Type::kTime: out += time_text(column.integers[row]); break;
    case Type::kText: add_text(out, column.text(row));
  }
}

class CsvWriter : public Writer {
 public:
  CsvWriter(const Table& table, Sink sink) : sink_(std::move(sink)) {
    std::string head;
    for (const Column& column : table.columns) head += (head.empty() ? "" : ",") + column.name;
    sink_(head + kLineEnd);
  }
  void write(const Batch& batch) override {
    std::string lines;
    for (std::size_t row = 0; row < batch.rows(); ++row) {
      for (std::size_t i = 0; i < batch.columns().size(); ++i) {
        if (i > 0) lines += ',';
        add_value(lines, batch.columns()[i], row);
      }
      lines += kLineEnd;
    }
    sink_(lines);
  }
  void finish() override {}

 private:
  const Sink sink_;
};

}  // namespace

std::unique_ptr<Writer> csv_writer(const Table& table, Sink sink) { return std::make_unique<CsvWriter>(table, std::move(sink)); }

}  // namespace nl::exporters::fact_tables

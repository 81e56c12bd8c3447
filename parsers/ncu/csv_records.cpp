#include "parsers/ncu/cells.h"

#include <csv.h>

#include <algorithm>

#include "model/error.h"

namespace nl::parsers {
namespace {

constexpr std::string_view kQuotedHeader = "\"ID\",\"Process ID\",";
constexpr std::string_view kPlainHeader = "ID,Process ID,";

// One record through libcsv, the RFC 4180 reader.
class RecordReader {
 public:
  RecordReader() {
    if (csv_init(&parser_, CSV_STRICT | CSV_STRICT_FINI) != 0) throw Error(ErrorKind::kInternal, "libcsv could not be initialised");
  }
  ~RecordReader() { csv_free(&parser_); }
  RecordReader(const RecordReader&) = delete;
  RecordReader& operator=(const RecordReader&) = delete;

  // False where the quoting is broken.
  bool read(std::string_view record, CsvFields& fields) {
    fields.clear();
    const bool whole = csv_parse(&parser_, record.data(), record.size(), &on_field, &on_row, &fields) == record.size();
    const bool finished = csv_fini(&parser_, &on_field, &on_row, &fields) == 0;
    if (whole && finished) return true;
    // A parser that met an error keeps its state: start afresh.
    csv_free(&parser_);
    csv_init(&parser_, CSV_STRICT | CSV_STRICT_FINI);
    return false;
  }

 private:
  static void on_field(void* text, std::size_t size, void* fields) {
    static_cast<CsvFields*>(fields)->emplace_back(static_cast<const char*>(text), size);
  }
  static void on_row(int, void*) {}

  csv_parser parser_{};
};

std::string_view next_line(std::string_view text, std::size_t& at) {
  const std::size_t end = std::min(text.find('\n', at), text.size());
  const std::string_view line = text.substr(at, end - at);
  at = end + 1;
  return line;
}

bool odd_quotes(std::string_view text) { return std::count(text.begin(), text.end(), '"') % 2 == 1; }

// A cell of digits, or (the units row) an empty one, at `at`; moves behind its comma.
bool skip_id_cell(std::string_view line, bool quoted, std::size_t& at) {
  if (quoted && (at >= line.size() || line[at++] != '"')) return false;
  while (at < line.size() && line[at] >= '0' && line[at] <= '9') ++at;
  if (quoted && (at >= line.size() || line[at++] != '"')) return false;
  return at < line.size() && line[at++] == ',';
}

bool starts_record(std::string_view line, bool quoted) {
  std::size_t at = 0;
  return skip_id_cell(line, quoted, at) && skip_id_cell(line, quoted, at);
}

// Where in the line a header or a record begins: the program may have left its last line unfinished.
std::size_t find_record(std::string_view line, bool quoted) {
  if (starts_record(line, quoted)) return 0;
  if (!quoted) return std::string_view::npos;
  for (std::size_t at = line.find('"'); at != std::string_view::npos; at = line.find('"', at + 1))
    if (at > 0 && line[at - 1] != '"' && line[at - 1] != ',' && starts_record(line.substr(at), true) && line.substr(at, 3) != "\"\",")
      return at;
  return std::string_view::npos;
}

class Splitter {
 public:
  Splitter(std::string_view text, const NcuCsvSink& sink) : text_(text), sink_(sink) {}

  // ==PROF== Connected to process 1838 (./probe)
  // tokens per second: 41
  // "ID","Process ID","Process Name",…
  // "","","",…                                   (raw page: the units)
  // "0","1838","probe",…
  void run() {
    std::size_t at = 0;
    while (at < text_.size()) {
      const std::size_t line_at = at;
      std::string_view line = next_line(text_, at);
      if (line.substr(0, 2) == "==") {
        if (sink_.message) sink_.message(line.substr(0, line.find_last_not_of('\r') + 1));
      } else if (const auto header = find_header(line); header != std::string_view::npos) {
        at = take(line_at + header, true);
      } else if (seen_header_) {
        if (const auto record = find_record(line, quoted_); record != std::string_view::npos) at = take(line_at + record, false);
        else if (at > text_.size() && quoted_ && line.size() > 1 && line[0] == '"' && line[1] >= '0' && line[1] <= '9')
          damaged(Code::kRowCut, at);
      }
    }
  }

 private:
  std::size_t find_header(std::string_view line) {
    if (const auto quoted = line.find(kQuotedHeader); quoted != std::string_view::npos) {
      quoted_ = true;
      return quoted;
    }
    if (line.substr(0, kPlainHeader.size()) != kPlainHeader) return std::string_view::npos;
    quoted_ = false;
    return 0;
  }

  // The record from `begin` to the line on which its quotes close. A new record or an ==…== line before
  // that means that this one was cut off. Returns where to go on.
  std::size_t take(std::size_t begin, bool header) {
    std::size_t at = begin;
    bool open = odd_quotes(next_line(text_, at));
    while (open) {
      if (at >= text_.size()) return damaged(Code::kRowCut, text_.size());
      std::size_t peek = at;
      const std::string_view line = next_line(text_, peek);
      if (line.substr(0, 2) == "==" || starts_record(line, quoted_)) return damaged(Code::kRowCut, at);
      open ^= odd_quotes(line);
      at = peek;
    }
    const std::size_t end = std::min(at, text_.size());
    if (!reader_.read(text_.substr(begin, end - begin), fields_)) return damaged(Code::kBrokenQuotes, at);
    if (header) {
      seen_header_ = true;
      sink_.header(fields_);
    } else {
      sink_.record(fields_);
    }
    return at;
  }

  std::size_t damaged(Code code, std::size_t go_on) {
    sink_.damaged(code);
    return go_on;
  }

  std::string_view text_;
  const NcuCsvSink& sink_;
  RecordReader reader_;
  CsvFields fields_;
  bool seen_header_ = false;
  bool quoted_ = true;
};

}  // namespace

void split_ncu_csv(std::string_view text, const NcuCsvSink& sink) {
  if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);
  Splitter(text, sink).run();
}

}  // namespace nl::parsers

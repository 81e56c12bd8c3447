#include "parsers/ncu/sniff.h"

#include "parsers/ncu/csv_records.h"

namespace nl::parsers::ncu {

bool is_csv(const FileHead& head) {
  bool table = false;
  NcuCsvSink sink;
  sink.header = [&](const CsvFields& fields) {
    for (const auto& field : fields) table = table || field == "Kernel Name";
  };
  sink.record = [](const CsvFields&) {};
  sink.damaged = [](Code) {};
  split_ncu_csv(head.bytes, sink);
  return table || head.starts_with("==PROF==");
}

bool is_report(const FileHead& head) { return head.path.extension() == ".ncu-rep" && !head.bytes.empty(); }

}  // namespace nl::parsers::ncu

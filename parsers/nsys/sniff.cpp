#include "parsers/nsys/sniff.h"

#include "model/error.h"
#include "parsers/nsys/database.h"

namespace nl::parsers::nsys {

bool is_sqlite_export(const FileHead& head) {
  if (!head.starts_with(std::string_view("SQLite format 3\0", 16))) return false;
  try {
    return has_export_tables(NsysDatabase(head.path));
  } catch (const Error&) {
    return true;
  }
}

bool is_report(const FileHead& head) {
  const auto extension = head.path.extension();
  return (extension == ".nsys-rep" || extension == ".qdrep") && !head.bytes.empty();
}

}  // namespace nl::parsers::nsys

// Tables read from the pages of a database, beside SQLite.
#include <stdexcept>

#include "tests/fuzz/input_files.h"
#include "tests/fuzz/readers.h"
#include "tests/unit/parsers/sqlite_pages/oracle.h"

namespace nl::fuzz::read {

// To read something else than SQLite does is a fault like a crash.
void sqlite_pages(std::string_view bytes) {
  bool equal = false;
  test::compare_file(as_file(bytes, "input.sqlite"), 1 + bytes.size() % 3, [&](const std::string&, const test::TableComparison& found) {
    if (found.agreement == test::Agreement::kDifferent) throw std::logic_error(found.detail);
    equal = equal || found.agreement == test::Agreement::kEqual;
  });
  if (!equal) throw Error(ErrorKind::kInput, "no table was read from its pages");
}

}  // namespace nl::fuzz::read

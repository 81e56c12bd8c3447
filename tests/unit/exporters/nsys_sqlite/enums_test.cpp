#include "exporters/nsys_sqlite/enums.h"

#include <cstdlib>
#include <fstream>

#include <SQLiteCpp/SQLiteCpp.h>

#include "exporters/nsys_sqlite/sqlite_table.h"
#include "tests/catch.h"
#include "tests/unit/files.h"
#include "tests/unit/golden.h"

using namespace nl::exporters;

namespace {

// ENUM_CUDA_MEM_KIND | 0 | CUDA_MEMOPR_MEMORY_KIND_PAGEABLE | Pageable
std::string enum_tables() {
  const nl::test::Folder folder;
  const std::string path = (folder / "enums.sqlite").string();
  {
    SqliteFile file(path);
    write_enums(file);
    file.finish();
  }
  SQLite::Database database(path);
  SQLite::Statement names(database, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name");
  std::string text;
  while (names.executeStep()) {
    const std::string table = names.getColumn(0).getString();
    SQLite::Statement rows(database, "SELECT id, name, label FROM " + table + " ORDER BY id");
    while (rows.executeStep())
      text += table + " | " + rows.getColumn(0).getString() + " | " + rows.getColumn(1).getString() + " | " +
              rows.getColumn(2).getString() + "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("nsys' numbers and words for kinds of copies, memory, waits and events are the golden ones", "[golden]") {
  nl::test::check_golden(nl::test::kGolden + "nsys_enums.txt", enum_tables());
}

TEST_CASE("a word of the trace has nsys' number") {
  CHECK(copy_kind_number("[CUDA memcpy Unknown]") == 0);
  CHECK(copy_kind_number("[CUDA memcpy Host-to-Device]") == 1);
  CHECK(copy_kind_number("[CUDA memcpy Unified Device-to-Device]") == 13);
  CHECK(copy_kind_number("Host-to-Device") == 0);
  CHECK(memory_kind_number(0) == 7);  // unknown
  CHECK(memory_kind_number(1) == 0);
  CHECK(memory_kind_number(7) == 6);
  CHECK(memory_kind_number(8) == 7);
  CHECK(memory_kind_number(9) == 7);
  CHECK(event_class("cudaLaunchKernel") == 0);
  CHECK(event_class("__cudaRegisterFunction") == 0);
  CHECK(event_class("cuLaunchKernel") == 1);
  CHECK(event_class("my_cudaLaunchKernel") == 1);
}

#include "exporters/nsys_sqlite/sqlite_table.h"

#include <algorithm>
#include <cstdio>

#include "model/error.h"

namespace nl::exporters {

SqliteFile::SqliteFile(const std::string& path) : path_(path) {
  std::remove(path.c_str());
  sqlite3* database = nullptr;
  // One thread writes it: no lock is taken for every value.
  int status = sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  database_.reset(database);  // one that could not be opened says why, and is to be closed too
  if (status != SQLITE_OK) fail();
  // Made in one go: a file that was not finished is made again, so nothing has to be kept for undoing it.
  execute("PRAGMA page_size = 32768; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; BEGIN");
}

void SqliteFile::fail() const {
  Error error(ErrorKind::kOutput, std::string("cannot write the SQLite file: ") + sqlite3_errmsg(handle()), path_,
              "check that its folder can be written and has room");
  throw error;
}

void SqliteFile::execute(const std::string& sql) {
  if (sqlite3_exec(handle(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

void SqliteFile::finish() { execute("COMMIT"); }

SqliteTable::SqliteTable(SqliteFile& file, const std::string& name, const std::string& columns, bool is_there) : file_(file) {
  if (!is_there) file.execute("CREATE TABLE " + name + " (" + columns + ")");
  std::string insert = "INSERT INTO " + name + (is_there ? " (" + columns + ")" : "") + " VALUES (?";
  for (auto more = std::count(columns.begin(), columns.end(), ','); more > 0; --more) insert += ", ?";
  if (sqlite3_prepare_v2(file.handle(), (insert + ")").c_str(), -1, &insert_, nullptr) != SQLITE_OK) file.fail();
}

SqliteTable::~SqliteTable() { sqlite3_finalize(insert_); }

void SqliteTable::step() {
  if (sqlite3_step(insert_) != SQLITE_DONE) file_.fail();
  sqlite3_reset(insert_);
}

}  // namespace nl::exporters

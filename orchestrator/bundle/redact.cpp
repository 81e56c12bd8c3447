#include "orchestrator/bundle/redact.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "model/error.h"

namespace nl::orchestrator {
namespace {

bool starts_with_variable(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == 0 || equals == std::string_view::npos) return false;
  for (char c : text.substr(0, equals))
    if (std::isgraph(static_cast<unsigned char>(c)) == 0) return false;
  return true;
}

// "HOME=/root\0LANG=C\0TOKEN=…": what /proc/PID/environ holds.
bool is_environment_block(std::string_view bytes) {
  if (bytes.find('\0') == std::string_view::npos) return false;
  std::size_t variables = 0, others = 0;
  for (std::size_t start = 0; start < bytes.size();) {
    const auto end = std::min(bytes.find('\0', start), bytes.size());
    const auto piece = bytes.substr(start, end - start);
    if (!piece.empty()) ++(starts_with_variable(piece) ? variables : others);
    start = end + 1;
  }
  return variables > others;
}

std::uint64_t blank_where(SQLite::Database& db, const std::string& table, const std::string& condition) {
  if (!db.tableExists(table)) return 0;
  return static_cast<std::uint64_t>(
      db.exec(fmt::format("UPDATE {} SET value = '' WHERE {} AND value <> ''", table, condition)));
}

std::uint64_t blank_blocks(SQLite::Database& db) {
  if (!db.tableExists("StringIds")) return 0;
  std::vector<std::int64_t> rows;
  SQLite::Statement select(db,
                           "SELECT rowid, CAST(value AS BLOB) AS bytes FROM StringIds WHERE instr(bytes, x'00') > 0");
  while (select.executeStep()) {
    const auto column = select.getColumn(1);
    const std::string_view bytes(static_cast<const char*>(column.getBlob()),
                                 static_cast<std::size_t>(column.getBytes()));
    if (is_environment_block(bytes)) rows.push_back(select.getColumn(0).getInt64());
  }
  SQLite::Statement update(db, "UPDATE StringIds SET value = '' WHERE rowid = ?");
  for (const auto row : rows) {
    update.bind(1, row);
    update.exec();
    update.reset();
  }
  return rows.size();
}

// Rows that were blanked, by us or moved about by nsys as it wrote them, live on in the unused parts of
// pages. A file built anew from the rows alone has no such parts.
void rebuild(SQLite::Database& db, const std::filesystem::path& file) {
  const std::filesystem::path fresh = file.string() + ".blanked.tmp";
  std::error_code ignored;
  std::filesystem::remove(fresh, ignored);
  try {
    SQLite::Statement vacuum(db, "VACUUM INTO ?");
    vacuum.bind(1, fresh.string());
    vacuum.exec();
    std::filesystem::rename(fresh, file);
  } catch (...) {
    std::filesystem::remove(fresh, ignored);
    throw;
  }
}

}  // namespace

std::uint64_t redact_environment(const std::filesystem::path& sqlite_file) {
  try {
    SQLite::Database db(sqlite_file.string(), SQLite::OPEN_READWRITE);
    // In memory: a journal on disk would hold what is being removed.
    db.exec("PRAGMA journal_mode = MEMORY");
    SQLite::Transaction transaction(db);
    std::uint64_t blanked = blank_where(db, "META_DATA_CAPTURE", "name LIKE '%ENVIRONMENT_VARIABLE%'") +
                            blank_where(db, "TARGET_INFO_SYSTEM_ENV", "name LIKE '%Environment%'") + blank_blocks(db);
    transaction.commit();
    rebuild(db, sqlite_file);  // also where no row is left to blank: deleted ones may hold values
    return blanked;
  } catch (const std::filesystem::filesystem_error& failure) {
    throw Error(ErrorKind::kOutput, fmt::format("cannot blank the environment in the export: {}", failure.what()),
                sqlite_file.string(), "the .nsys-rep is untouched: export it again");
  } catch (const SQLite::Exception& failure) {
    const bool full = failure.getErrorCode() == 13;  // SQLITE_FULL
    throw Error(full ? ErrorKind::kOutput : ErrorKind::kInput,
                fmt::format("cannot blank the environment in the export: {}", failure.what()), sqlite_file.string(),
                "the .nsys-rep is untouched: export it again, or keep the values with --keep-env");
  }
}

}  // namespace nl::orchestrator

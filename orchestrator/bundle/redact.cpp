#include "orchestrator/bundle/redact.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "collector/launchers.h"
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
  return static_cast<std::uint64_t>(db.exec(fmt::format("UPDATE {} SET value = '' WHERE {} AND value <> ''", table, condition)));
}

// The number of a rank is no secret, and without it captures of several ranks are told apart by their names alone: "RANK="3"" stays, where
// nothing but digits is behind it.
std::string but_for_ranks() {
  std::string condition;
  for (const LauncherVariables& launcher : kRankVariables)
    for (const std::string name : {launcher.rank, launcher.world_size})
      condition +=
          fmt::format(" AND NOT (value GLOB '{0}=?*' AND trim(substr(value, {1}), '\"') NOT GLOB '*[^0-9]*')", name, name.size() + 2);
  return condition;
}

std::uint64_t blank_blocks(SQLite::Database& db) {
  if (!db.tableExists("StringIds")) return 0;
  std::vector<std::int64_t> rows;
  SQLite::Statement select(db, "SELECT rowid, CAST(value AS BLOB) AS bytes FROM StringIds WHERE instr(bytes, x'00') > 0");
  while (select.executeStep()) {
    const auto column = select.getColumn(1);
    const std::string_view bytes(static_cast<const char*>(column.getBlob()), static_cast<std::size_t>(column.getBytes()));
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

// The errors of both redactions, which differ in the words only.
std::uint64_t redact_file(const std::filesystem::path& file, const std::string& what,
                          const std::function<std::uint64_t(SQLite::Database&)>& redact) {
  try {
    SQLite::Database db(file.string(), SQLite::OPEN_READWRITE);
    // In memory: a journal on disk would hold what is being removed.
    db.exec("PRAGMA journal_mode = MEMORY");
    SQLite::Transaction transaction(db);
    const std::uint64_t blanked = redact(db);
    transaction.commit();
    rebuild(db, file);  // also where no row is left to blank: deleted ones may hold values
    return blanked;
  } catch (const std::filesystem::filesystem_error& failure) {
    throw Error(ErrorKind::kOutput, fmt::format("cannot blank {} in the export: {}", what, failure.what()), file.string(),
                "the .nsys-rep is untouched: export it again");
  } catch (const SQLite::Exception& failure) {
    const bool full = failure.getErrorCode() == SQLITE_FULL;
    throw Error(full ? ErrorKind::kOutput : ErrorKind::kInput, fmt::format("cannot blank {} in the export: {}", what, failure.what()),
                file.string(), "the .nsys-rep is untouched: export it again, or keep the values with --keep-env");
  }
}

std::vector<std::string> texts_of(SQLite::Database& db, const std::string& statement) {
  std::vector<std::string> texts;
  SQLite::Statement rows(db, statement);
  while (rows.executeStep()) texts.push_back(rows.getColumn(0).getString());
  return texts;
}

// 'a text' or "a name" of SQL
std::string quoted(const std::string& text, char quote) {
  std::string out(1, quote);
  for (const char c : text) out.append(c == quote ? 2 : 1, c);
  return out + quote;
}

using TextFunction = std::function<std::string(std::string_view)>;

void call_text_function(sqlite3_context* context, int, sqlite3_value** values) {
  const auto& function = *static_cast<const TextFunction*>(sqlite3_user_data(context));
  const bool blob = sqlite3_value_type(values[0]) == SQLITE_BLOB;
  const auto* text = static_cast<const char*>(blob ? sqlite3_value_blob(values[0]) : sqlite3_value_text(values[0]));
  const std::string changed = function({text ? text : "", static_cast<std::size_t>(sqlite3_value_bytes(values[0]))});
  if (blob) return sqlite3_result_blob(context, changed.data(), static_cast<int>(changed.size()), SQLITE_TRANSIENT);
  sqlite3_result_text(context, changed.data(), static_cast<int>(changed.size()), SQLITE_TRANSIENT);
}

// Of columns that are declared as text: a trace has millions of rows of numbers. A text may be stored as a BLOB in them.
std::uint64_t redact_tables(SQLite::Database& db, const TextFunction& redacted) {
  if (sqlite3_create_function(db.getHandle(), "nl_redacted", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, const_cast<TextFunction*>(&redacted),
                              call_text_function, nullptr, nullptr) != SQLITE_OK)
    throw SQLite::Exception(db.getHandle());
  std::uint64_t changed = 0;
  for (const std::string& table :
       texts_of(db, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'"))
    for (const std::string& column : texts_of(
             db, fmt::format("SELECT name FROM pragma_table_info({}) WHERE type LIKE '%TEXT%' OR type LIKE '%CHAR%'", quoted(table, '\''))))
      changed += static_cast<std::uint64_t>(
          db.exec(fmt::format("UPDATE {0} SET {1} = nl_redacted({1}) WHERE typeof({1}) IN ('text', 'blob') AND nl_redacted({1}) <> {1}",
                              quoted(table, '"'), quoted(column, '"'))));
  return changed;
}

}  // namespace

std::uint64_t redact_environment(const std::filesystem::path& sqlite_file) {
  return redact_file(sqlite_file, "the environment", [](SQLite::Database& db) {
    return blank_where(db, "META_DATA_CAPTURE", "name LIKE '%ENVIRONMENT_VARIABLE%'" + but_for_ranks()) +
           blank_where(db, "TARGET_INFO_SYSTEM_ENV", "name LIKE '%Environment%'") + blank_blocks(db);
  });
}

std::uint64_t redact_texts(const std::filesystem::path& sqlite_file, const TextFunction& redacted) {
  return redact_file(sqlite_file, "names and paths", [&](SQLite::Database& db) { return redact_tables(db, redacted); });
}

}  // namespace nl::orchestrator

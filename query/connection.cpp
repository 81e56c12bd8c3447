#include "query/connection.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "model/error.h"
#include "model/visible_text.h"

namespace nl::query {
namespace {

constexpr int kMostValueBytes = 4 << 20, kMostSqlBytes = 1 << 20;
constexpr int kOperationsBetweenLooks = 100;  // each may need as much as the largest value

// What reads nothing but its arguments.
constexpr auto kFunctions = std::to_array<std::string_view>({"->",
                                                             "->>",
                                                             "abs",
                                                             "acos",
                                                             "acosh",
                                                             "asin",
                                                             "asinh",
                                                             "atan",
                                                             "atan2",
                                                             "atanh",
                                                             "avg",
                                                             "ceil",
                                                             "ceiling",
                                                             "char",
                                                             "coalesce",
                                                             "concat",
                                                             "concat_ws",
                                                             "cos",
                                                             "cosh",
                                                             "count",
                                                             "cume_dist",
                                                             "date",
                                                             "datetime",
                                                             "degrees",
                                                             "dense_rank",
                                                             "exp",
                                                             "first_value",
                                                             "floor",
                                                             "format",
                                                             "glob",
                                                             "group_concat",
                                                             "hex",
                                                             "ifnull",
                                                             "if",
                                                             "iif",
                                                             "instr",
                                                             "json",
                                                             "json_array",
                                                             "json_array_length",
                                                             "json_each",
                                                             "json_extract",
                                                             "json_group_array",
                                                             "json_group_object",
                                                             "json_object",
                                                             "json_quote",
                                                             "json_type",
                                                             "json_valid",
                                                             "julianday",
                                                             "lag",
                                                             "last_value",
                                                             "lead",
                                                             "length",
                                                             "like",
                                                             "likelihood",
                                                             "likely",
                                                             "ln",
                                                             "log",
                                                             "log10",
                                                             "log2",
                                                             "lower",
                                                             "ltrim",
                                                             "max",
                                                             "median",
                                                             "min",
                                                             "mod",
                                                             "nth_value",
                                                             "ntile",
                                                             "nullif",
                                                             "octet_length",
                                                             "percent_rank",
                                                             "percentile",
                                                             "pi",
                                                             "pow",
                                                             "power",
                                                             "printf",
                                                             "quote",
                                                             "radians",
                                                             "random",
                                                             "rank",
                                                             "replace",
                                                             "round",
                                                             "row_number",
                                                             "rtrim",
                                                             "sign",
                                                             "sin",
                                                             "sinh",
                                                             "sqrt",
                                                             "strftime",
                                                             "string_agg",
                                                             "substr",
                                                             "substring",
                                                             "sum",
                                                             "tan",
                                                             "tanh",
                                                             "time",
                                                             "timediff",
                                                             "total",
                                                             "trim",
                                                             "trunc",
                                                             "typeof",
                                                             "unhex",
                                                             "unicode",
                                                             "unixepoch",
                                                             "unlikely",
                                                             "upper",
                                                             "zeroblob"});
constexpr auto kJsonTables = std::to_array<std::string_view>({"json_each", "json_tree"});

template <std::size_t kSize>
bool is_among(const std::array<std::string_view, kSize>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::string names_of_tables() {
  std::string names;
  for (const Table& table : tables()) names += fmt::format("{}{}", names.empty() ? "" : ", ", table.name);
  return names;
}

// The statement as an error names it.
std::string place_in(const std::string& sql, int offset) {
  constexpr std::size_t kShown = 60;
  if (offset < 0 || static_cast<std::size_t>(offset) >= sql.size()) return cut_to(visible_line(sql), kShown);
  return fmt::format("character {}: {}", offset + 1, cut_to(visible_line(sql.substr(static_cast<std::size_t>(offset))), kShown));
}

void bound_sizes(sqlite3* connection) {
  for (const auto& [limit, value] : std::to_array<std::pair<int, int>>({{SQLITE_LIMIT_LENGTH, kMostValueBytes},
                                                                        {SQLITE_LIMIT_SQL_LENGTH, kMostSqlBytes},
                                                                        {SQLITE_LIMIT_COLUMN, 500},
                                                                        {SQLITE_LIMIT_EXPR_DEPTH, 200},
                                                                        {SQLITE_LIMIT_COMPOUND_SELECT, 100},
                                                                        {SQLITE_LIMIT_FUNCTION_ARG, 100},
                                                                        {SQLITE_LIMIT_ATTACHED, 0},
                                                                        {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000},
                                                                        {SQLITE_LIMIT_VARIABLE_NUMBER, 0},
                                                                        {SQLITE_LIMIT_TRIGGER_DEPTH, 0},
                                                                        {SQLITE_LIMIT_WORKER_THREADS, 0}}))
    sqlite3_limit(connection, limit, value);
}

// A table is made known before the authorizer watches, because SQLite writes it into its schema then.
void know_table(sqlite3* connection, std::string_view from) {
  sqlite3_stmt* statement = nullptr;
  const int status = sqlite3_prepare_v2(connection, fmt::format("SELECT 1 FROM {}", from).c_str(), -1, &statement, nullptr);
  sqlite3_finalize(statement);
  if (status != SQLITE_OK)
    throw Error(ErrorKind::kInternal, fmt::format("a table cannot be declared: {}", sqlite3_errmsg(connection)), "query");
}

}  // namespace

Connection::Connection(const Limits& limits) : limits_(limits) {
  if (sqlite3_open_v2(":memory:", &connection_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX, nullptr) != SQLITE_OK) {
    sqlite3_close(connection_);
    throw Error(ErrorKind::kInternal, "SQLite cannot be started", "query");
  }
  try {
    sqlite3_exec(connection_, "PRAGMA temp_store = MEMORY", nullptr, nullptr, nullptr);
    for (const int off : {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW,
                          SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_DQS_DML, SQLITE_DBCONFIG_DQS_DDL})
      sqlite3_db_config(connection_, off, 0, nullptr);
    sqlite3_db_config(connection_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    bound_sizes(connection_);
    add_virtual_tables(connection_, session_);
    add_statistics(connection_, limits_.memory_bytes / sizeof(double));
    for (const Table& table : tables()) know_table(connection_, table.name);
    for (const std::string_view name : kJsonTables) know_table(connection_, fmt::format("{}('[]')", name));
    session_ = Session();
    sqlite3_set_authorizer(connection_, authorize, this);
  } catch (...) {
    sqlite3_close(connection_);
    throw;
  }
}

Connection::~Connection() {
  sqlite3_finalize(statement_);
  sqlite3_close(connection_);
}

int Connection::authorize(void* self, int action, const char* first, const char* second, const char*, const char*) {
  const auto text = [](const char* given) { return given != nullptr ? std::string_view(given) : std::string_view(); };
  return static_cast<Connection*>(self)->allows(action, text(first), text(second));
}

// Reads what the session has, and notes it. The first thing that is not allowed is what the user is told.
int Connection::allows(int action, std::string_view first, std::string_view second) {
  const auto deny = [&](std::string what) {
    if (denied_.empty()) denied_ = std::move(what);
    return SQLITE_DENY;
  };
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE: return SQLITE_OK;
    case SQLITE_FUNCTION:
      return is_among(kFunctions, lower(second)) ? SQLITE_OK : deny(fmt::format("the function {} is not one of a query", second));
    case SQLITE_READ: {
      if (is_among(kJsonTables, first)) return SQLITE_OK;
      const Table* table = find_table(first);
      if (table == nullptr && second.empty()) return SQLITE_OK;  // count(*) of what the statement itself names: WITH c AS …
      if (table == nullptr) return deny(fmt::format("there is no table {}", first));
      session_.touch(*table);
      if (const std::size_t column = table->find(second); column != Table::kNoColumn) session_.touch(*table, column);
      return SQLITE_OK;
    }
    case SQLITE_UPDATE:  // what else SQLite has as a table (pragma_…, dbstat) is written into its schema first
      if (first == "sqlite_master") return deny("a table of the query is not one of nl-stage");
      [[fallthrough]];
    default: return deny("a query only reads: it is one SELECT");
  }
}

int Connection::look_at_limits(void* self) {
  auto& own = *static_cast<Connection*>(self);
  if (std::chrono::steady_clock::now() >= own.deadline_) own.stop_ = Stop::kTime;
  else if (sqlite3_memory_used() - own.memory_at_begin_ > static_cast<std::int64_t>(own.limits_.memory_bytes)) own.stop_ = Stop::kMemory;
  else if (own.limits_.stopped && own.limits_.stopped()) own.stop_ = Stop::kSignal;
  return own.stop_ == Stop::kNone ? 0 : 1;
}

void Connection::prepare(const std::string& sql) {
  sql_ = sql;
  if (sql_.find('\0') != std::string::npos) throw Error(ErrorKind::kUsage, "the SQL has a NUL in it", "query", "give text");
  if (sql_.size() >= static_cast<std::size_t>(kMostSqlBytes))
    throw Error(ErrorKind::kUsage, fmt::format("the SQL is longer than {} bytes", kMostSqlBytes), "query", "shorten it");
  const char* rest = nullptr;
  const int status = sqlite3_prepare_v2(connection_, sql_.c_str(), -1, &statement_, &rest);
  if (status != SQLITE_OK) fail_to_prepare(status);
  refuse_writers(rest);
}

// Some statements that write ask the authorizer nothing: VACUUM INTO a file.
void Connection::refuse_writers(const char* rest) {
  const std::string fix = "ask with one SELECT; nl-stage query --schema lists the tables";
  if (statement_ == nullptr) throw Error(ErrorKind::kUsage, "there is no SQL", "query", fix);
  if (sqlite3_column_count(statement_) == 0 || sqlite3_stmt_readonly(statement_) == 0)
    throw Error(ErrorKind::kUsage, "a query only reads: it is one SELECT", place_in(sql_, -1), fix);
  sqlite3_stmt* more = nullptr;
  const bool follows = sqlite3_prepare_v2(connection_, rest, -1, &more, nullptr) != SQLITE_OK || more != nullptr;
  sqlite3_finalize(more);
  if (follows)
    throw Error(ErrorKind::kUsage, "there is more than one statement", place_in(sql_, static_cast<int>(rest - sql_.c_str())), fix);
}

bool Connection::explains() const { return sqlite3_stmt_isexplain(statement_) != 0; }

void Connection::throw_with_columns(const std::string& message, int offset, const Table& table) const {
  std::string names;
  for (const Column& each : table.columns) names += fmt::format("{}{}", names.empty() ? "" : ", ", each.name);
  throw Error(ErrorKind::kUsage, "SQL: " + message, place_in(sql_, offset), fmt::format("the columns of {} are {}", table.name, names));
}

void Connection::fail_to_prepare(int status) const {
  const std::string message = sqlite3_errmsg(connection_);
  const int offset = sqlite3_error_offset(connection_);
  if (status == SQLITE_AUTH || !denied_.empty())
    throw Error(ErrorKind::kUsage, denied_.empty() ? message : denied_, place_in(sql_, -1),
                "ask with one SELECT of the tables that nl-stage query --schema lists");
  std::string fix = "nl-stage query --schema lists tables and columns";
  constexpr std::string_view kNoColumn = "no such column: ", kNoTable = "no such table: ", kNoFunction = "no such function: ";
  if (message.starts_with(kNoTable)) fix = "the tables are " + names_of_tables();
  if (message.starts_with(kNoFunction)) fix = "docs/query.md lists the functions; median(x) and percentile(x, p) are among them";
  if (message.starts_with(kNoColumn) && sql_.find('"' + message.substr(kNoColumn.size()) + '"') != std::string::npos)
    fix = fmt::format("a text stands in single quotes: '{}'; in a shell put the whole SQL into double quotes",
                      message.substr(kNoColumn.size()));
  else if (message.starts_with(kNoColumn)) {
    for (const Table& table : tables())
      if (sql_.find(table.name) != std::string::npos) throw_with_columns(message, offset, table);
  }
  throw Error(ErrorKind::kUsage, "SQL: " + message, place_in(sql_, offset), fix);
}

void Connection::fail_to_run(int status) const {
  const std::string where = place_in(sql_, -1);
  switch (stop_) {
    case Stop::kTime:
      throw Error(ErrorKind::kTimeout, fmt::format("the query took longer than {} s", limits_.seconds), where,
                  "narrow it with WHERE, join on id or window, or give it more time: --timeout SECONDS");
    case Stop::kMemory:
      throw Error(ErrorKind::kUsage, fmt::format("the query needs more than {} MiB of memory", limits_.memory_bytes >> 20), where,
                  "narrow it with WHERE, or group before it sorts and joins");
    case Stop::kSignal: throw Error(ErrorKind::kInterrupted, "the query was interrupted", where);
    case Stop::kNone: break;
  }
  if (status == SQLITE_TOOBIG)
    throw Error(ErrorKind::kUsage, fmt::format("a value of the query is larger than {} MiB", kMostValueBytes >> 20), where,
                "ask for rows instead of joining them into one text");
  if (status == SQLITE_NOMEM) throw Error(ErrorKind::kUsage, "the query needs more memory than there is", where, "narrow it with WHERE");
  throw Error(ErrorKind::kUsage, fmt::format("SQL: {}", sqlite3_errmsg(connection_)), where,
              "nl-stage query --schema lists tables and columns");
}

void Connection::read_row(Answer& answer) {
  std::vector<Cell>& row = answer.rows.emplace_back();
  const int count = sqlite3_column_count(statement_);
  row.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    const auto bytes = [&] { return static_cast<std::size_t>(sqlite3_column_bytes(statement_, i)); };
    answer_bytes_ += sizeof(Cell);
    switch (sqlite3_column_type(statement_, i)) {
      case SQLITE_INTEGER: row.emplace_back(std::int64_t{sqlite3_column_int64(statement_, i)}); break;
      case SQLITE_FLOAT: row.emplace_back(sqlite3_column_double(statement_, i)); break;
      case SQLITE_NULL: row.emplace_back(); break;
      case SQLITE_BLOB: {
        const auto* blob = static_cast<const unsigned char*>(sqlite3_column_blob(statement_, i));
        row.emplace_back(fmt::format("{:02x}", fmt::join(blob, blob + bytes(), "")));
        break;
      }
      default: row.emplace_back(std::string(reinterpret_cast<const char*>(sqlite3_column_text(statement_, i)), bytes()));
    }
    if (const auto* text = std::get_if<std::string>(&row.back())) answer_bytes_ += text->size();
  }
  if (answer_bytes_ > limits_.answer_bytes)
    throw Error(ErrorKind::kUsage, fmt::format("the answer is larger than {} MiB", limits_.answer_bytes >> 20), place_in(sql_, -1),
                "ask for fewer columns or rows: WHERE, GROUP BY, or --limit N");
}

void Connection::run(Answer& answer) {
  for (int i = 0; i < sqlite3_column_count(statement_); ++i) {
    const char* name = sqlite3_column_name(statement_, i);
    answer.columns.push_back({name != nullptr ? name : "", std::string(unit_of_name(name != nullptr ? name : ""))});
  }
  deadline_ = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                     std::chrono::duration<double>(std::min(limits_.seconds, 1e9)));
  memory_at_begin_ = sqlite3_memory_used();
  sqlite3_progress_handler(connection_, kOperationsBetweenLooks, look_at_limits, this);
  int status = SQLITE_OK;
  while ((status = sqlite3_step(statement_)) == SQLITE_ROW) {
    if (limits_.rows != 0 && answer.rows.size() == limits_.rows) {
      answer.truncated = true;
      break;
    }
    read_row(answer);
  }
  sqlite3_progress_handler(connection_, 0, nullptr, nullptr);
  if (status != SQLITE_ROW && status != SQLITE_DONE) fail_to_run(status);
}

}  // namespace nl::query

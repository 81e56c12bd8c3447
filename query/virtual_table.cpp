#include <fmt/core.h>
#include <sqlite3.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <exception>
#include <new>
#include <optional>
#include <string>

#include "query/session.h"

// SQLite's virtual tables: one module for all, each table with its declaration. xBestIndex writes down which conditions and which order
// the rows come in, xFilter chooses rows by that, and xColumn reads values where they stand.
namespace nl::query {
namespace {

struct TableOfSession {
  Session* session = nullptr;
  const Table* table = nullptr;
};

struct VirtualTable : sqlite3_vtab {
  TableOfSession of;
};

struct Cursor : sqlite3_vtab_cursor {
  const Rows* rows = nullptr;
  const Table* table = nullptr;
  bool listed = false;  // the rows of the list; else all of the span
  RowList list;
  std::size_t at = 0, end = 0;
  std::size_t row() const { return listed ? list[at] : at; }
};

// Nothing is thrown through SQLite.
template <class Work>
int guarded(sqlite3_vtab* table, Work work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  } catch (const std::exception& broken) {
    sqlite3_free(table->zErrMsg);
    table->zErrMsg = sqlite3_mprintf("%s", broken.what());
    return SQLITE_ERROR;
  }
}

std::string declaration_of(const Table& table) {
  constexpr std::string_view kTypes[] = {"INTEGER", "REAL", "TEXT"};
  std::string sql = "CREATE TABLE x(";
  for (const Column& each : table.columns)
    sql += fmt::format("{}\"{}\" {}", &each == table.columns.data() ? "" : ", ", each.name, kTypes[static_cast<std::size_t>(each.type)]);
  return sql + ")";
}

int connect(sqlite3* connection, void* context, int, const char* const*, sqlite3_vtab** made, char**) {
  const auto& of = *static_cast<const TableOfSession*>(context);
  const int status = sqlite3_declare_vtab(connection, declaration_of(*of.table).c_str());
  if (status != SQLITE_OK) return status;
  sqlite3_vtab_config(connection, SQLITE_VTAB_INNOCUOUS);
  auto* table = new (std::nothrow) VirtualTable{};
  if (table == nullptr) return SQLITE_NOMEM;
  table->of = of;
  *made = table;
  return SQLITE_OK;
}

int disconnect(sqlite3_vtab* table) {
  delete static_cast<VirtualTable*>(table);
  return SQLITE_OK;
}

std::optional<Comparison> comparison_of(unsigned char operation) {
  switch (operation) {
    case SQLITE_INDEX_CONSTRAINT_EQ: return Comparison::kEqual;
    case SQLITE_INDEX_CONSTRAINT_LT: return Comparison::kLess;
    case SQLITE_INDEX_CONSTRAINT_LE: return Comparison::kLessOrEqual;
    case SQLITE_INDEX_CONSTRAINT_GT: return Comparison::kGreater;
    case SQLITE_INDEX_CONSTRAINT_GE: return Comparison::kGreaterOrEqual;
    default: return std::nullopt;
  }
}

// A plan as text: "c1,0;c4,3;o2+;" is conditions on columns 1 and 4, in the order of their arguments, and the order of column 2.
class Planner {
 public:
  Planner(const TableOfSession& of, sqlite3_index_info& info) : of_(of), info_(info) {}

  int plan() {
    for (int i = 0; i < info_.nConstraint; ++i) take(i);
    if (of_.table->kind_column != Table::kNoColumn) of_.session->touch_kind(*of_.table, kind_);
    const bool ordered = take_order();
    info_.idxStr = sqlite3_mprintf("%s", text_.c_str());
    if (info_.idxStr == nullptr) return SQLITE_NOMEM;
    info_.needToFreeIdxStr = 1;
    info_.orderByConsumed = ordered;
    info_.estimatedRows = static_cast<sqlite3_int64>(std::max(1.0, rows_));
    info_.estimatedCost = std::max(1.0, rows_) + (looked_up_ ? 20 : of_.table->usual_rows);
    if (unique_) info_.idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
    return SQLITE_OK;
  }

 private:
  void take(int number) {
    const auto& constraint = info_.aConstraint[number];
    const std::optional<Comparison> comparison = comparison_of(constraint.op);
    if (constraint.usable == 0 || constraint.iColumn < 0 || !comparison) return;
    const auto column = static_cast<std::size_t>(constraint.iColumn);
    const Column& declared = of_.table->columns[column];
    const bool text = declared.type == ColumnType::kText;
    if (declared.type == ColumnType::kReal || declared.passing) return;
    if (text && std::string_view(sqlite3_vtab_collation(&info_, number)) != "BINARY") return;
    sqlite3_value* literal = nullptr;
    const bool known = sqlite3_vtab_rhs_value(&info_, number, &literal) == SQLITE_OK && literal != nullptr &&
                       sqlite3_value_type(literal) == (text ? SQLITE_TEXT : SQLITE_INTEGER);
    info_.aConstraintUsage[number].argvIndex = ++arguments_;
    info_.aConstraintUsage[number].omit = known ? 1 : 0;  // else SQLite looks again: it knows how types compare
    text_ += fmt::format("c{},{};", column, static_cast<int>(*comparison));
    if (column == of_.table->kind_column && *comparison == Comparison::kEqual && known)
      kind_ = reinterpret_cast<const char*>(sqlite3_value_text(literal));
    judge(column, *comparison);
  }

  void judge(std::size_t column, Comparison comparison) {
    const bool equal = comparison == Comparison::kEqual;
    const bool key = equal && of_.table->is_key(column);
    unique_ = unique_ || key;
    looked_up_ = looked_up_ || column != of_.table->kind_column;
    rows_ *= key ? 0 : column == of_.table->kind_column ? 0.5 : equal ? 0.01 : 0.25;
  }

  bool take_order() {
    for (int i = 0; i < info_.nOrderBy; ++i) {
      const int column = info_.aOrderBy[i].iColumn;
      if (column < 0 || of_.table->columns[static_cast<std::size_t>(column)].passing) return false;
    }
    for (int i = 0; i < info_.nOrderBy; ++i) text_ += fmt::format("o{}{};", info_.aOrderBy[i].iColumn, info_.aOrderBy[i].desc ? '-' : '+');
    return info_.nOrderBy > 0;
  }

  const TableOfSession& of_;
  sqlite3_index_info& info_;
  std::string text_, kind_;
  int arguments_ = 0;
  double rows_ = of_.table->usual_rows;
  bool unique_ = false, looked_up_ = false;
};

int best_index(sqlite3_vtab* table, sqlite3_index_info* info) {
  return guarded(table, [&] { return Planner(static_cast<VirtualTable*>(table)->of, *info).plan(); });
}

int open_cursor(sqlite3_vtab*, sqlite3_vtab_cursor** made) {
  *made = new (std::nothrow) Cursor{};
  return *made != nullptr ? SQLITE_OK : SQLITE_NOMEM;
}

int close_cursor(sqlite3_vtab_cursor* cursor) {
  delete static_cast<Cursor*>(cursor);
  return SQLITE_OK;
}

// What a plan asks of the rows.
struct Selection {
  std::vector<Condition> conditions;
  std::vector<OrderTerm> order;
  bool nothing = false;  // a condition holds for no row: nothing is equal to NULL
};

// How a value compares with whole numbers or texts of a column. False: only SQLite knows.
bool set_value(sqlite3_value* value, bool text, Condition& condition) {
  const int type = sqlite3_value_type(value);
  if (text) {
    if (type != SQLITE_TEXT) return false;
    const char* bytes = reinterpret_cast<const char*>(sqlite3_value_text(value));
    condition.text = {bytes, static_cast<std::size_t>(sqlite3_value_bytes(value))};
    return true;
  }
  if (type == SQLITE_INTEGER) {
    condition.number = sqlite3_value_int64(value);
    return true;
  }
  constexpr double kExact = 9007199254740992.0;  // 2^53
  const double real = sqlite3_value_double(value);
  if (type != SQLITE_FLOAT || std::abs(real) > kExact || real != std::floor(real)) return false;
  condition.number = static_cast<std::int64_t>(real);
  return true;
}

Selection selection_of(const Table& table, std::string_view plan, sqlite3_value** values) {
  Selection selection;
  const char* at = plan.data();
  const char* const end = at + plan.size();
  for (int argument = 0; at < end; ++at) {  // past the semicolon
    const bool condition = *at++ == 'c';
    std::size_t column = 0;
    at = std::from_chars(at, end, column).ptr;
    if (!condition) {
      selection.order.push_back({column, *at++ == '-'});
      continue;
    }
    int comparison = 0;
    at = std::from_chars(at + 1, end, comparison).ptr;
    sqlite3_value* value = values[argument++];
    Condition made{column, static_cast<Comparison>(comparison)};
    if (sqlite3_value_type(value) == SQLITE_NULL) selection.nothing = true;
    else if (set_value(value, table.columns[column].type == ColumnType::kText, made)) selection.conditions.push_back(made);
  }
  return selection;
}

// The column whose index finds the fewest rows; kNoColumn: there is no condition.
std::size_t column_to_look_up(const std::vector<Condition>& conditions) {
  std::size_t column = Table::kNoColumn;
  for (const Condition& each : conditions) {
    if (each.comparison == Comparison::kEqual) return each.column;
    column = each.column;
  }
  return column;
}

class Chooser {
 public:
  Chooser(const TableOfSession& of, Cursor& cursor) : of_(of), cursor_(cursor) {}

  void choose(Selection selection) {
    cursor_.list.clear();
    cursor_.listed = true;
    cursor_.at = cursor_.end = 0;
    if (selection.nothing) return;
    const Rows::Span span = span_of(selection.conditions);
    if (selection.conditions.empty() && selection.order.empty()) {
      cursor_.listed = false;
      cursor_.at = span.first;
      cursor_.end = span.last;
      return;
    }
    list(span, selection.conditions);
    sort_rows(*of_.table, *cursor_.rows, selection.order, cursor_.list);
    cursor_.end = cursor_.list.size();
  }

 private:
  // Rows of a kind lie together. What of the condition is not told by that stays.
  Rows::Span span_of(std::vector<Condition>& conditions) const {
    for (const Condition& each : conditions)
      if (each.column == of_.table->kind_column && each.comparison == Comparison::kEqual) {
        const Rows::Span span = cursor_.rows->rows_of_kind(each.text);
        if (!cursor_.rows->shares_span(each.text)) conditions.erase(conditions.begin() + (&each - conditions.data()));
        return span;
      }
    return {0, cursor_.rows->size()};
  }
  bool holds_at(std::size_t row, const Condition& condition) const { return holds(*of_.table, *cursor_.rows, row, condition); }

  void list(const Rows::Span& span, const std::vector<Condition>& conditions) {
    const auto all_hold = [&](std::size_t row) {
      return std::all_of(conditions.begin(), conditions.end(), [&](const Condition& each) { return holds_at(row, each); });
    };
    const std::size_t column = column_to_look_up(conditions);
    const ColumnIndex* index = column != Table::kNoColumn ? of_.session->index_of(*of_.table, column) : nullptr;
    if (index == nullptr) {
      if (conditions.empty()) cursor_.list.reserve(span.last - span.first);
      for (std::size_t row = span.first; row < span.last; ++row)
        if (all_hold(row)) cursor_.list.push_back(static_cast<std::uint32_t>(row));
      return;
    }
    std::vector<Condition> own;
    for (const Condition& each : conditions)
      if (each.column == column) own.push_back(each);
    const ColumnIndex::Span found = index->rows_where(own);
    for (const std::uint32_t* row = found.first; row != found.last; ++row)
      if (*row >= span.first && *row < span.last && all_hold(*row)) cursor_.list.push_back(*row);
  }

  const TableOfSession& of_;
  Cursor& cursor_;
};

int filter(sqlite3_vtab_cursor* given, int, const char* plan, int, sqlite3_value** values) {
  return guarded(given->pVtab, [&] {
    auto& cursor = *static_cast<Cursor*>(given);
    const TableOfSession& of = static_cast<VirtualTable*>(given->pVtab)->of;
    cursor.table = of.table;
    cursor.rows = &of.session->rows_of(*of.table);
    Chooser(of, cursor).choose(selection_of(*of.table, plan, values));
    return SQLITE_OK;
  });
}

int next(sqlite3_vtab_cursor* cursor) {
  ++static_cast<Cursor*>(cursor)->at;
  return SQLITE_OK;
}

int at_end(sqlite3_vtab_cursor* given) {
  const auto& cursor = *static_cast<Cursor*>(given);
  return cursor.at >= cursor.end ? 1 : 0;
}

int give_column(sqlite3_vtab_cursor* given, sqlite3_context* context, int column) {
  return guarded(given->pVtab, [&] {
    const auto& cursor = *static_cast<Cursor*>(given);
    const Value value = cursor.table->columns[static_cast<std::size_t>(column)].read(*cursor.rows, cursor.row());
    switch (value.kind) {
      case Value::Kind::kNull: break;
      case Value::Kind::kInteger: sqlite3_result_int64(context, value.integer); break;
      case Value::Kind::kReal: sqlite3_result_double(context, value.real); break;
      case Value::Kind::kText: sqlite3_result_text64(context, value.text.data(), value.text.size(), SQLITE_STATIC, SQLITE_UTF8); break;
      case Value::Kind::kPassingText:
        sqlite3_result_text64(context, value.text.data(), value.text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
        break;
    }
    return SQLITE_OK;
  });
}

int give_rowid(sqlite3_vtab_cursor* cursor, sqlite3_int64* rowid) {
  *rowid = static_cast<sqlite3_int64>(static_cast<Cursor*>(cursor)->row());
  return SQLITE_OK;
}

// Without xCreate a table is there in every connection and can be neither made nor dropped; without xUpdate it cannot be written.
constexpr sqlite3_module module_of_tables() {
  sqlite3_module module{};
  module.xConnect = connect;
  module.xBestIndex = best_index;
  module.xDisconnect = disconnect;
  module.xOpen = open_cursor;
  module.xClose = close_cursor;
  module.xFilter = filter;
  module.xNext = next;
  module.xEof = at_end;
  module.xColumn = give_column;
  module.xRowid = give_rowid;
  return module;
}
constexpr sqlite3_module kModule = module_of_tables();

}  // namespace

void add_virtual_tables(sqlite3* connection, Session& session) {
  for (const Table& table : tables()) {
    auto* of = new TableOfSession{&session, &table};
    sqlite3_create_module_v2(connection, std::string(table.name).c_str(), &kModule, of,
                             [](void* context) { delete static_cast<TableOfSession*>(context); });
  }
}

}  // namespace nl::query

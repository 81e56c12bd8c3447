#include <fmt/format.h>

#include "model/error.h"
#include "orchestrator/process/activity.h"
#include "runs/ledger/full_text.h"
#include "runs/ledger/ledger.h"
#include "runs/ledger/words.h"

namespace nl::runs {
namespace {

using database::Connection, database::Dialect, database::Row, database::Value, database::Values;

// {} is the column part_of, where there is one.
constexpr const char* kEntryColumns =
    "number, run_id, created_at, name, mode, status, model, precision, backend, gpu, gpu_count, hardware, revision, modified, command, {}, "
    "bundle";
constexpr int kEntryColumnCount = 17;

LedgerEntry entry_of(const Row& row) {
  LedgerEntry entry;
  int column = 0;
  entry.number = row.integer(column++);
  for (std::string* text : {&entry.run_id, &entry.created_at, &entry.name, &entry.mode, &entry.status, &entry.model, &entry.precision,
                            &entry.backend, &entry.gpu})
    *text = row.text(column++);
  entry.gpu_count = row.integer(column++);
  entry.hardware = row.text(column++);
  entry.revision = row.text(column++);
  if (!row.is_null(column)) entry.modified = row.integer(column) != 0;
  ++column;
  entry.command = row.text(column++);
  entry.part_of = row.text(column++);
  entry.bundle = row.text(column++);
  return entry;
}

// The statement of a filter, and its values in their order.
class Question {
 public:
  Question(const LedgerFilter& filter, Dialect dialect, const char* part_column)
      : filter_(filter), dialect_(dialect), part_column_(part_column) {
    ask_metrics();
    ask_words();
    for (const auto& [column, text] : {std::pair{"name", &filter.name}, {"mode", &filter.mode}, {"status", &filter.status}})
      if (!text->empty()) where(fmt::format("lower({}) = lower(?)", column), *text);
    for (const auto& [column, text] :
         {std::pair{"model", &filter.model}, {"gpu", &filter.gpu}, {"precision", &filter.precision}, {"backend", &filter.backend}})
      if (!text->empty()) where(fmt::format("lower({}) LIKE lower(?) ESCAPE '!'", column), "%" + like_text(*text) + "%");
    if (!filter.revision.empty()) where("revision LIKE ? ESCAPE '!'", like_text(filter.revision) + "%");
    if (!filter.since.empty()) where("created_at >= ?", filter.since);
    if (!filter.until.empty()) where("created_at <= ?", end_of(filter.until));
    if (!filter.parts) where(fmt::format("{} = ?", part_column), "");
    for (const std::string& tag : filter.tags) where("number IN (SELECT run FROM tags WHERE tag = ?)", tag);
  }

  // Newest first
  std::string statement() const {
    return select(fmt::format(kEntryColumns, part_column_), " DESC") + (filter_.limit > 0 ? fmt::format(" LIMIT {}", filter_.limit) : "");
  }
  // Oldest first
  std::string statement_of_values() const { return select("run_id, created_at, revision, hardware, model, precision", ""); }
  const Values& values() const { return values_; }

 private:
  std::string select(std::string_view columns, std::string_view order) const {
    return fmt::format("SELECT {}{} FROM runs{}{}{} ORDER BY created_at{}, number{}", columns, columns_, joins_,
                       conditions_.empty() ? "" : " WHERE ", conditions_, order, order);
  }

  // Their values come first: they stand in the joins.
  void ask_metrics() {
    for (std::size_t i = 0; i < filter_.metrics.size(); ++i) {
      columns_ += fmt::format(", m{}.value", i);
      joins_ +=
          fmt::format(" {}JOIN metrics AS m{} ON m{}.key = ? AND m{}.run = runs.number", filter_.only_with_metrics ? "" : "LEFT ", i, i, i);
      values_.push_back(filter_.metrics[i]);
    }
  }

  void ask_words() {
    if (filter_.words.empty()) return;
    const std::vector<std::string> words = search_words(filter_.words);
    if (words.empty())
      throw Error(ErrorKind::kUsage, fmt::format("'{}' has no word to search for", filter_.words), "ls", "give letters or digits");
    where(full_text_condition(dialect_), full_text_value(dialect_, words));
  }

  void where(const std::string& condition, std::string value) {
    conditions_ += (conditions_.empty() ? "" : " AND ") + condition;
    values_.emplace_back(std::move(value));
  }

  static std::string like_text(const std::string& text) {
    std::string escaped;
    for (const char c : text) escaped += (c == '%' || c == '_' || c == '!' ? std::string("!") : std::string()) + c;
    return escaped;
  }

  // "2026-11-16" is all of that day: every time of it is less than the letter after T.
  static std::string end_of(const std::string& until) { return until.find('T') == std::string::npos ? until + "U" : until; }

  const LedgerFilter& filter_;
  Dialect dialect_;
  const char* part_column_;
  std::string columns_, joins_, conditions_;
  Values values_;
};

// In pieces, since a statement takes a limited number of values.
void add_tags(Connection& connection, std::vector<LedgerEntry>& entries) {
  constexpr std::size_t kPiece = 500;
  std::map<std::int64_t, LedgerEntry*> by_number;
  for (LedgerEntry& entry : entries) by_number[entry.number] = &entry;
  for (auto next = by_number.begin(); next != by_number.end();) {
    std::string marks;
    Values values;
    for (; next != by_number.end() && values.size() < kPiece; ++next) {
      marks += marks.empty() ? "?" : ", ?";
      values.emplace_back(next->first);
    }
    connection.select("SELECT run, tag FROM tags WHERE run IN (" + marks + ") ORDER BY run, tag", values,
                      [&](const Row& row) { by_number.at(row.integer(0))->tags.push_back(row.text(1)); });
  }
}

}  // namespace

std::vector<LedgerEntry> Ledger::query(const LedgerFilter& filter) {
  const Activity searching("searching the ledger");
  const Question question(filter, connection_->dialect(), part_column());
  std::vector<LedgerEntry> entries;
  connection_->select(question.statement(), question.values(), [&](const Row& row) {
    entries.push_back(entry_of(row));
    for (std::size_t i = 0; i < filter.metrics.size(); ++i)
      if (const int column = kEntryColumnCount + static_cast<int>(i); !row.is_null(column))
        entries.back().metrics[filter.metrics[i]] = row.number(column);
  });
  add_tags(*connection_, entries);
  return entries;
}

void Ledger::each_value(const LedgerFilter& filter, const std::string& metric, const std::function<void(const LedgerValue&)>& each) {
  LedgerFilter with_metric = filter;
  with_metric.metrics = {metric};
  with_metric.only_with_metrics = true;
  const Question question(with_metric, connection_->dialect(), part_column());
  connection_->select(question.statement_of_values(), question.values(), [&](const Row& row) {
    each({row.text(0), row.text(1), row.text(2), row.text(3), row.text(4), row.text(5), row.number(6)});
  });
}

std::vector<std::string> Ledger::metric_keys() {
  std::vector<std::string> keys;
  connection_->select("SELECT DISTINCT key FROM metrics ORDER BY key", {}, [&](const Row& row) { keys.push_back(row.text(0)); });
  return keys;
}

std::vector<LedgerEntry> Ledger::select_entries(const std::string& conditions, const Values& values) {
  std::vector<LedgerEntry> entries;
  connection_->select(fmt::format("SELECT {} FROM runs {}", fmt::format(kEntryColumns, part_column()), conditions), values,
                      [&](const Row& row) { entries.push_back(entry_of(row)); });
  add_tags(*connection_, entries);
  return entries;
}

}  // namespace nl::runs

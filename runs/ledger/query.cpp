#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <regex>

#include "model/error_code.h"
#include "model/words.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/config/units.h"
#include "orchestrator/process/activity.h"
#include "runs/ledger/find_run.h"
#include "runs/ledger/full_text.h"
#include "runs/ledger/ledger.h"

namespace nl::runs {
namespace {

using database::Connection, database::Dialect, database::Row, database::Value, database::Values;

// {} are the columns part_of, workload and workload_text, where there are such.
constexpr const char* kEntryColumns =
    "number, run_id, created_at, name, mode, status, model, precision, backend, gpu, gpu_count, hardware, revision, modified, command, {}, "
    "bundle, {}";
constexpr int kEntryColumnCount = 19;

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
  entry.workload = row.text(column++);
  entry.workload_text = row.text(column++);
  return entry;
}

// The statement of a filter, and its values in their order.
class Question {
 public:
  Question(const LedgerFilter& filter, Dialect dialect, const char* part_column, const char* workload_columns)
      : filter_(filter), dialect_(dialect), part_column_(part_column), workload_columns_(workload_columns) {
    ask_metrics();
    ask_words();
    for (const auto& [column, text] : {std::pair{"name", &filter.name}, {"mode", &filter.mode}, {"status", &filter.status}})
      if (!text->empty()) where(fmt::format("lower({}) = lower(?)", column), *text);
    for (const auto& [column, text] :
         {std::pair{"model", &filter.model}, {"gpu", &filter.gpu}, {"precision", &filter.precision}, {"backend", &filter.backend}})
      if (!text->empty()) where(fmt::format("lower({}) LIKE lower(?) ESCAPE '!'", column), "%" + like_text(*text) + "%");
    if (!filter.revision.empty()) where("revision LIKE ? ESCAPE '!'", like_text(filter.revision) + "%");
    if (!filter.workload.empty()) where("workload LIKE ? ESCAPE '!'", like_text(filter.workload) + "%");
    if (!filter.since.empty()) where("created_at >= ?", filter.since);
    if (!filter.until.empty()) where("created_at <= ?", end_of(filter.until));
    if (!filter.parts) where(fmt::format("{} = ?", part_column), "");
    if (!filter.part_of.empty()) where(fmt::format("{} = ?", part_column), filter.part_of);
    if (filter.after) {  // both columns at once, as the index has them
      where("(created_at, number) < (?, ?)", filter.after->created_at);
      values_.emplace_back(filter.after->number);
    }
    for (const std::string& tag : filter.tags) where("number IN (SELECT run FROM tags WHERE tag = ?)", tag);
  }

  // Newest first
  std::string statement() const {
    return select(fmt::format(kEntryColumns, part_column_, workload_columns_), " DESC") +
           (filter_.limit > 0 ? fmt::format(" LIMIT {}", filter_.limit) : "");
  }
  // Oldest first
  std::string statement_of_values() const {
    return select(std::string("run_id, created_at, revision, hardware, model, precision, ") + workload_columns_ + ", command", "");
  }
  const Values& values() const { return values_; }

 private:
  std::string select(std::string_view columns, std::string_view order) const {
    return fmt::format("SELECT {}{} FROM runs{}{}{} ORDER BY created_at{}, number{}", columns, columns_, joins_,
                       conditions_.empty() ? "" : " WHERE ", conditions_, order, order);
  }

  // The values of metrics come first, because the joins come first in the statement.
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
  const char *part_column_, *workload_columns_;
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

constexpr const char* kNewestFirst = "ORDER BY created_at DESC, number DESC";
constexpr std::string_view kLast = "last", kBeforeLast = "last~", kTagPrefix = "tag:";
constexpr std::size_t kCandidates = 5;  // named where a beginning fits several runs

// last → 0, last~2 → 2
std::optional<std::int64_t> runs_before_last(std::string_view name) {
  if (name == kLast) return 0;
  if (!name.starts_with(kBeforeLast)) return std::nullopt;
  const std::string_view digits = name.substr(kBeforeLast.size());
  std::int64_t count = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (failure != std::errc() || end != digits.data() + digits.size() || count < 0)
    throw Error(ErrorKind::kUsage, fmt::format("'{}' names no run", name), "the name of a run", "write last, last~1, last~2 …");
  return count;
}

[[noreturn]] void throw_ambiguous(const std::string& name, const std::vector<LedgerEntry>& entries) {
  std::string candidates;
  for (std::size_t i = 0; i < entries.size() && i < kCandidates; ++i) candidates += (i > 0 ? ", " : "") + entries[i].run_id;
  if (entries.size() > kCandidates) candidates += " …";
  throw CodedError(ErrorCode::kAmbiguousRun, fmt::format("'{}' begins the ids of several runs", name), candidates,
                   "give more letters of the id");
}

// "7d"; what seconds_in() takes, too
std::optional<double> seconds_before(const std::string& text) {
  if (!text.ends_with('d')) return seconds_in(text);
  const auto days = seconds_in(text.substr(0, text.size() - 1));
  return days ? std::optional(*days * 86400) : std::nullopt;
}

}  // namespace

std::vector<LedgerEntry> Ledger::query(const LedgerFilter& filter) {
  const Activity searching("searching the ledger");
  const Question question(filter, connection_->dialect(), part_column(), workload_columns());
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
  const Question question(with_metric, connection_->dialect(), part_column(), workload_columns());
  connection_->select(question.statement_of_values(), question.values(), [&](const Row& row) {
    each({row.text(0), row.text(1), row.text(2), row.text(3), row.text(4), row.text(5), row.text(6), row.text(7), row.text(8),
          row.number(9)});
  });
}

std::vector<LedgerEntry> Ledger::latest_by_workload(std::size_t most) {
  if (!has_workloads_) return {};
  return select_entries(
      fmt::format(
          "WHERE number IN (SELECT number FROM (SELECT number, row_number() OVER (PARTITION BY workload, hardware {0}) AS place FROM runs "
          "WHERE part_of = '' AND status = ?) AS ranked WHERE place = 1) {0} LIMIT {1}",
          kNewestFirst, most),
      {std::string(key_of(RunStatus::kComplete))});
}

std::vector<std::string> Ledger::metric_keys() {
  std::vector<std::string> keys;
  connection_->select("SELECT DISTINCT key FROM metrics ORDER BY key", {}, [&](const Row& row) { keys.push_back(row.text(0)); });
  return keys;
}

std::vector<LedgerEntry> Ledger::select_entries(const std::string& conditions, const Values& values) {
  std::vector<LedgerEntry> entries;
  connection_->select(fmt::format("SELECT {} FROM runs {}", fmt::format(kEntryColumns, part_column(), workload_columns()), conditions),
                      values, [&](const Row& row) { entries.push_back(entry_of(row)); });
  add_tags(*connection_, entries);
  return entries;
}

bool is_of_ledger(std::string_view name) { return name == kLast || name.starts_with(kBeforeLast) || name.starts_with(kTagPrefix); }

std::optional<LedgerEntry> Ledger::find(const std::string& run_id) {
  std::vector<LedgerEntry> found = select_entries("WHERE run_id = ?", {run_id});
  return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
}

LedgerEntry Ledger::resolve(const std::string& name) {
  std::vector<LedgerEntry> found;
  if (const auto before = runs_before_last(name)) {
    found = select_entries(fmt::format("WHERE {} = '' {} LIMIT 1 OFFSET {}", part_column(), kNewestFirst, *before), {});
  } else if (name.starts_with(kTagPrefix)) {
    found = select_entries(fmt::format("WHERE number IN (SELECT run FROM tags WHERE tag = ?) {} LIMIT 1", kNewestFirst),
                           {name.substr(kTagPrefix.size())});
  } else if (!name.empty()) {
    found = select_entries("WHERE run_id = ?", {name});
    if (found.empty())
      found = select_entries(fmt::format("WHERE name = ? ORDER BY {} <> '', created_at DESC, number DESC LIMIT 1", part_column()), {name});
    if (found.empty())
      found =
          select_entries(fmt::format("WHERE run_id >= ? AND substr(run_id, 1, length(?)) = ? {} LIMIT {}", kNewestFirst, kCandidates + 1),
                         {name, name, name});
    if (found.size() > 1) throw_ambiguous(name, found);
  }
  if (found.empty())
    throw CodedError(ErrorCode::kNoSuchRun, fmt::format("the ledger has no run '{}'", name), location(),
                     "`nl-stage ls` lists the runs; give an id, the beginning of one, a name, tag:NAME or last");
  return std::move(found.front());
}

std::string moment_text(const std::string& text, const std::string& flag, std::chrono::system_clock::time_point now) {
  static const std::regex moment("[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])(T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z)?");
  if (text.empty() || std::regex_match(text, moment)) return text;
  constexpr double kMostSeconds = 100 * 366 * 86400.0;
  const auto seconds = seconds_before(text);
  if (!seconds || !(*seconds >= 0 && *seconds <= kMostSeconds))
    throw Error(ErrorKind::kUsage, "'" + text + "' is no time", flag, "write 2026-11-16, 2026-11-16T12:00:00Z (UTC), 24h or 7d");
  return utc_text(std::chrono::floor<std::chrono::seconds>(now - std::chrono::seconds(std::llround(*seconds))));
}

}  // namespace nl::runs

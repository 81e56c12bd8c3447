#include <SQLiteCpp/SQLiteCpp.h>

#include "exporters/fact_tables/writer.h"
#include "model/error.h"

namespace nl::exporters::fact_tables {
namespace {

const char* sql_type(Type type) {
  if (type == Type::kReal) return "REAL";
  return type == Type::kText || type == Type::kTime ? "TEXT" : "INTEGER";
}

std::string created(const Table& table) {
  std::string columns;
  for (const Column& column : table.columns) columns += (columns.empty() ? "\"" : ", \"") + column.name + "\" " + sql_type(column.type);
  return "CREATE TABLE " + table.name + " (" + columns + ")";
}

std::string inserted(const Table& table) {
  std::string values;
  for (std::size_t i = 0; i < table.columns.size(); ++i) values += i > 0 ? ", ?" : "?";
  return "INSERT INTO " + table.name + " VALUES (" + values + ")";
}

void bind(SQLite::Statement& insert, int place, const Batch::Values& column, std::size_t row) {
  if (!column.known[row]) return insert.bind(place);
  switch (column.type) {
    case Type::kInteger: return insert.bind(place, column.integers[row]);
    case Type::kReal: return insert.bind(place, column.reals[row]);
    case Type::kBoolean: return insert.bind(place, column.booleans[row] ? 1 : 0);
    case Type::kTime: return insert.bind(place, time_text(column.integers[row]));
    case Type::kText: return insert.bind(place, std::string(column.text(row)));
  }
}

template <class Work>
auto in_our_words(const std::filesystem::path& file, Work work) {
  try {
    return work();
  } catch (const SQLite::Exception& failure) {
    throw Error(ErrorKind::kOutput, std::string("cannot write the SQLite file: ") + failure.what(), file.string(),
                "check that its folder can be written and has room");
  }
}

class SqliteWriter : public Writer {
 public:
  SqliteWriter(const Table& table, SQLite::Database& database) : database_(made(table, database)), insert_(database, inserted(table)) {}
  void write(const Batch& batch) override {
    in_our_words(database_.getFilename(), [&] {
      for (std::size_t row = 0; row < batch.rows(); ++row) {
        for (std::size_t i = 0; i < batch.columns().size(); ++i) bind(insert_, static_cast<int>(i) + 1, batch.columns()[i], row);
        insert_.exec();
        insert_.reset();
      }
    });
  }
  void finish() override {}

 private:
  static SQLite::Database& made(const Table& table, SQLite::Database& database) {
    database.exec(created(table));
    return database;
  }
  SQLite::Database& database_;
  SQLite::Statement insert_;
};

}  // namespace

// Made in one go: a file that was not finished is made again, so nothing has to be kept for undoing it.
struct SqliteFacts::Parts {
  explicit Parts(const std::filesystem::path& path) : file(path), database(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE) {
    database.exec("PRAGMA journal_mode = OFF; PRAGMA locking_mode = EXCLUSIVE; BEGIN");
  }
  const std::filesystem::path file;
  SQLite::Database database;
};

SqliteFacts::SqliteFacts(const std::filesystem::path& file) {
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
  parts_ = in_our_words(file, [&] { return std::make_unique<Parts>(file); });
}

SqliteFacts::~SqliteFacts() = default;

std::unique_ptr<Writer> SqliteFacts::writer(const Table& table) {
  return in_our_words(parts_->file, [&] { return std::make_unique<SqliteWriter>(table, parts_->database); });
}

void SqliteFacts::finish() {
  in_our_words(parts_->file, [&] { parts_->database.exec("COMMIT"); });
}

}  // namespace nl::exporters::fact_tables

#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "runs/orchestrator_names.h"

// What the ledger asks of a database. Statements are written once for both: ? stands for a value, and the two dialects differ
// only where ledger/schema.cpp says so.
namespace nl::runs::database {

enum class Dialect { kSqlite, kPostgresql };

struct Bytes {
  std::string bytes;
};
using Value = std::variant<std::nullptr_t, std::int64_t, double, std::string, Bytes>;
using Values = std::vector<Value>;

// One row of an answer; columns from 0. Valid until the next row is asked for.
class Row {
 public:
  virtual ~Row() = default;
  virtual bool is_null(int column) const = 0;
  virtual std::int64_t integer(int column) const = 0;
  virtual double number(int column) const = 0;
  virtual std::string text(int column) const = 0;  // "" where it is null
  virtual std::string bytes(int column) const = 0;
};
using EachRow = std::function<void(const Row&)>;

// Throws Error: kInput where the database is damaged or not a ledger, kOutput where it cannot be reached or written.
class Connection {
 public:
  virtual ~Connection() = default;
  virtual Dialect dialect() const = 0;
  virtual const std::string& location() const = 0;  // for messages: a path, or a URL without its password
  virtual void run(const std::string& statement, const Values& values = {}) = 0;
  virtual void select(const std::string& statement, const Values& values, const EachRow& each) = 0;
  // From begin to commit no other process writes; begin waits for one that does.
  virtual void begin() = 0;
  virtual void commit() = 0;
  virtual void roll_back() noexcept = 0;
};

// Rolls back what was not committed.
class Transaction {
 public:
  explicit Transaction(Connection& connection) : connection_(connection) { connection_.begin(); }
  ~Transaction() {
    if (!committed_) connection_.roll_back();
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit() {
    connection_.commit();
    committed_ = true;
  }

 private:
  Connection& connection_;
  bool committed_ = false;
};

enum class Absent { kMake, kRefuse };  // what to do where there is no file yet

std::unique_ptr<Connection> open_sqlite(const std::filesystem::path& file, Absent absent);

// How long a server may keep us waiting. A run is finished before it is recorded: nothing may hold up its end for long.
struct ServerLimits {
  int lock_ms = 10'000;       // for what another session has locked; as long as SQLite waits
  int statement_ms = 30'000;  // for one statement, by the server's own clock
  int silence_ms = 40'000;    // without a byte from it, by ours
};
std::unique_ptr<Connection> open_postgresql(const std::string& url, const ServerLimits& limits = {});

}  // namespace nl::runs::database

#pragma once

#include <chrono>
#include <string>

#include "query/query.h"
#include "query/session.h"

struct sqlite3;
struct sqlite3_stmt;

namespace nl::query {

// A connection without a database that can only read the tables of its session, within its limits.
class Connection {
 public:
  explicit Connection(const Limits& limits);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Plans the statement; the session knows then what it needs.
  void prepare(const std::string& sql);
  Session& session() { return session_; }
  bool explains() const;  // its rows are the plan: nothing is read
  void run(Answer& answer);

 private:
  enum class Stop { kNone, kTime, kMemory, kSignal };
  static int authorize(void* self, int action, const char* first, const char* second, const char* database, const char* trigger);
  static int look_at_limits(void* self);
  int allows(int action, std::string_view first, std::string_view second);
  void refuse_writers(const char* rest);
  [[noreturn]] void throw_with_columns(const std::string& message, int offset, const Table& table) const;
  [[noreturn]] void fail_to_prepare(int status) const;
  [[noreturn]] void fail_to_run(int status) const;
  void read_row(Answer& answer);

  const Limits limits_;
  Session session_;
  sqlite3* connection_ = nullptr;
  sqlite3_stmt* statement_ = nullptr;
  std::string sql_, denied_;
  Stop stop_ = Stop::kNone;
  std::chrono::steady_clock::time_point deadline_;
  std::int64_t memory_at_begin_ = 0;
  std::uint64_t answer_bytes_ = 0;
};

// median(x) and percentile(x, p), which SQLite lacks. `most_values`: of one group.
void add_statistics(sqlite3* connection, std::uint64_t most_values);

// The unit of a column of an answer, by its name or the expression it stands for; empty: not known.
std::string_view unit_of_name(std::string_view name);

}  // namespace nl::query

#include <SQLiteCpp/SQLiteCpp.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <map>
#include <thread>

#include "model/error_code.h"
#include "orchestrator/bundle/bundle.h"
#include "runs/ledger/connection.h"

namespace fs = std::filesystem;

namespace nl::runs::database {
namespace {

constexpr int kBusyMs = 10000;  // a writer holds the lock for milliseconds; a longer wait is for a stopped process

[[noreturn]] void throw_sqlite_error(const fs::path& file, const SQLite::Exception& failure) {
  const std::string where = file.string();
  switch (failure.getErrorCode()) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      throw CodedError(ErrorCode::kLedgerDamaged, fmt::format("not a ledger, or a damaged one: {}", failure.getErrorStr()), where,
                       "move the file away, or name another ledger with --ledger");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw Error(ErrorKind::kOutput, fmt::format("another process has locked the ledger for {} s", kBusyMs / 1000), where,
                  "end the process that has the file open (fuser FILE shows it)");
    case SQLITE_READONLY:
      throw Error(ErrorKind::kOutput, "the ledger is read-only: its file or its folder cannot be written", where,
                  "ask for the right to write there, or name another ledger with --ledger");
    case SQLITE_FULL:
      throw Error(ErrorKind::kOutput, "the disk of the ledger is full", fmt::format("{} ({})", where, free_space_of(file)),
                  "free some space, or name another ledger with --ledger");
    default:
      throw Error(ErrorKind::kOutput, fmt::format("the ledger cannot be opened or written: {}", failure.what()),
                  fmt::format("{} ({})", where, free_space_of(file)),
                  "name another ledger with --ledger, or switch it off: --set ledger.enabled=false");
  }
}

// Write-ahead logging needs memory that all writers share, which file systems of a network do not give.
bool is_on_network(const fs::path& file) {
  constexpr std::array<std::uint32_t, 9> kNetworkMagic = {0x6969 /* NFS */,       0x517B /* SMB */,        0xFF534D42 /* CIFS */,
                                                          0xFE534D42 /* SMB 2 */, 0x0BD00BD0 /* Lustre */, 0x47504653 /* GPFS */,
                                                          0x00C36400 /* Ceph */,  0x19830326 /* BeeGFS */, 0x65735546 /* FUSE */};
  struct statfs system = {};
  if (::statfs(file.c_str(), &system) != 0) return false;
  return std::find(kNetworkMagic.begin(), kNetworkMagic.end(), static_cast<std::uint32_t>(system.f_type)) != kNetworkMagic.end();
}

struct SqliteRow : Row {
  explicit SqliteRow(SQLite::Statement& statement) : statement(statement) {}
  bool is_null(int column) const override { return statement.getColumn(column).isNull(); }
  std::int64_t integer(int column) const override { return statement.getColumn(column).getInt64(); }
  double number(int column) const override { return statement.getColumn(column).getDouble(); }
  std::string text(int column) const override { return statement.getColumn(column).getString(); }
  std::string bytes(int column) const override {
    const SQLite::Column value = statement.getColumn(column);
    return std::string(static_cast<const char*>(value.getBlob()), static_cast<std::size_t>(value.getBytes()));
  }
  SQLite::Statement& statement;
};

struct BindValue {
  SQLite::Statement& statement;
  int index;
  void operator()(std::nullptr_t) const { statement.bind(index); }
  void operator()(std::int64_t value) const { statement.bind(index, value); }
  void operator()(double value) const { statement.bind(index, value); }
  void operator()(const std::string& value) const { statement.bindNoCopy(index, value); }
  void operator()(const Bytes& value) const { statement.bindNoCopy(index, value.bytes.data(), static_cast<int>(value.bytes.size())); }
};

// Leaves a statement of the cache as it was, whatever its rows threw.
struct ResetAfterUse {
  SQLite::Statement& statement;
  ~ResetAfterUse() {
    statement.tryReset();
    statement.clearBindings();
  }
};

// file:/a%20b?immutable=1: a file that no process writes needs no files beside it.
std::string immutable_address(const fs::path& file) {
  std::string out = "file:";
  for (const unsigned char c : fs::absolute(file).string())
    out += std::isalnum(c) != 0 || c == '/' || c == '.' || c == '-' || c == '_' ? std::string(1, static_cast<char>(c))
                                                                                : fmt::format("%{:02X}", c);
  return out + "?immutable=1";
}

enum class Access { kWrite, kReadOnly };

class SqliteConnection : public Connection {
 public:
  SqliteConnection(const fs::path& file, int flags, Access access = Access::kWrite)
      : location_(file.string()), database_(access == Access::kWrite ? location_ : immutable_address(file), flags, kBusyMs) {
    database_.exec("PRAGMA foreign_keys = ON");
    if (access == Access::kReadOnly || is_on_network(file)) return;  // the rollback journal, and every commit on the disk
    use_write_ahead_log();
    database_.exec("PRAGMA synchronous = NORMAL");
  }

  Dialect dialect() const override { return Dialect::kSqlite; }
  const std::string& location() const override { return location_; }

  void run(const std::string& statement, const Values& values) override {
    select(statement, values, [](const Row&) {});
  }

  void select(const std::string& statement, const Values& values, const EachRow& each) override {
    try {
      SQLite::Statement& prepared = prepare(statement);
      const ResetAfterUse reset{prepared};
      for (std::size_t i = 0; i < values.size(); ++i) std::visit(BindValue{prepared, static_cast<int>(i) + 1}, values[i]);
      const SqliteRow row(prepared);
      while (prepared.executeStep()) each(row);
    } catch (const SQLite::Exception& failure) {
      throw_sqlite_error(location_, failure);
    }
  }

  void begin() override { run("BEGIN IMMEDIATE", {}); }
  void commit() override { run("COMMIT", {}); }
  void roll_back() noexcept override {
    if (sqlite3_get_autocommit(database_.getHandle()) == 0) database_.tryExec("ROLLBACK");
  }

 private:
  // Two processes that make the file at the same moment: SQLite does not wait by itself here.
  void use_write_ahead_log() {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::milliseconds(kBusyMs);
    while (true) {
      try {
        database_.exec("PRAGMA journal_mode = WAL");
        return;
      } catch (const SQLite::Exception& failure) {
        if (failure.getErrorCode() != SQLITE_BUSY || std::chrono::steady_clock::now() > give_up) throw;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    }
  }

  SQLite::Statement& prepare(const std::string& statement) {
    const auto found = statements_.find(statement);
    if (found != statements_.end()) return found->second;
    return statements_.try_emplace(statement, database_, statement).first->second;
  }

  std::string location_;
  SQLite::Database database_;
  std::map<std::string, SQLite::Statement> statements_;  // goes before the database
};

// Neither the file nor its folder can be written, for want of rights or of space, and no other process does: what is in the file is all there is. The log of writes that
// a running process keeps beside it cannot be read without writing.
bool can_be_read_alone(const fs::path& file, const SQLite::Exception& failure) {
  std::error_code missing;
  const auto log_bytes = fs::file_size(file.string() + "-wal", missing);
  const int code = failure.getErrorCode();
  const bool cannot_write = code == SQLITE_CANTOPEN || code == SQLITE_READONLY || code == SQLITE_FULL || code == SQLITE_IOERR;
  return cannot_write && (missing || log_bytes == 0) && ::access(file.c_str(), R_OK) == 0;
}

void make_folder_of(const fs::path& file) {
  std::error_code failure;
  if (file.has_parent_path()) fs::create_directories(file.parent_path(), failure);
  if (failure)
    throw Error(ErrorKind::kOutput, fmt::format("the folder of the ledger cannot be made: {}", failure.message()), file.string(),
                "name another ledger with --ledger");
}

// Commands and their arguments are for the owner alone. Where the file is there already its rights stay: a team may share it.
void make_private_file(const fs::path& file) {
  if (const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600); fd >= 0) close(fd);
}

}  // namespace

std::unique_ptr<Connection> open_sqlite(const fs::path& file, Absent absent) {
  std::error_code ignored;
  if (absent == Absent::kRefuse && !fs::exists(file, ignored))
    throw CodedError(ErrorCode::kNoLedger, "there is no ledger yet", file.string(),
                     "`nl-stage run` and `nl-stage import` make it; --ledger names another");
  try {
    if (absent == Absent::kMake) {
      make_folder_of(file);
      make_private_file(file);
    }
    return std::make_unique<SqliteConnection>(file, SQLite::OPEN_READWRITE | (absent == Absent::kMake ? SQLite::OPEN_CREATE : 0));
  } catch (const SQLite::Exception& failure) {
    if (absent == Absent::kMake || !can_be_read_alone(file, failure)) throw_sqlite_error(file, failure);
  }
  try {
    return std::make_unique<SqliteConnection>(file, SQLite::OPEN_READONLY | SQLite::OPEN_URI, Access::kReadOnly);
  } catch (const SQLite::Exception& failure) {
    throw_sqlite_error(file, failure);
  }
}

}  // namespace nl::runs::database

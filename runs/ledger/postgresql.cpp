#include <dlfcn.h>
#include <fmt/format.h>
#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <string_view>

#include "model/error.h"
#include "orchestrator/config/ledger_location.h"
#include "runs/ledger/connection.h"

namespace nl::runs::database {
namespace {

// The functions of libpq that are used. The library is opened where a ledger is in PostgreSQL; nl-stage does without it elsewhere.
struct Libpq {
  decltype(&PQconnectdbParams) connect = nullptr;
  decltype(&PQfinish) finish = nullptr;
  decltype(&PQstatus) status = nullptr;
  decltype(&PQerrorMessage) error_message = nullptr;
  decltype(&PQsendQueryParams) send = nullptr;
  decltype(&PQsetnonblocking) set_nonblocking = nullptr;
  decltype(&PQflush) flush = nullptr;
  decltype(&PQsocket) socket = nullptr;
  decltype(&PQconsumeInput) consume_input = nullptr;
  decltype(&PQisBusy) is_busy = nullptr;
  decltype(&PQgetResult) next_result = nullptr;
  decltype(&PQresultStatus) result_status = nullptr;
  decltype(&PQresultErrorField) error_field = nullptr;
  decltype(&PQntuples) rows = nullptr;
  decltype(&PQgetvalue) value = nullptr;
  decltype(&PQgetlength) length = nullptr;
  decltype(&PQgetisnull) is_null = nullptr;
  decltype(&PQclear) clear = nullptr;
  decltype(&PQsetNoticeProcessor) set_notice_processor = nullptr;
};

template <class Function>
bool resolve_function(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool resolve_functions(void* library, Libpq& f) {
  return resolve_function(library, "PQconnectdbParams", f.connect) && resolve_function(library, "PQfinish", f.finish) &&
         resolve_function(library, "PQstatus", f.status) && resolve_function(library, "PQerrorMessage", f.error_message) &&
         resolve_function(library, "PQsendQueryParams", f.send) && resolve_function(library, "PQsetnonblocking", f.set_nonblocking) &&
         resolve_function(library, "PQflush", f.flush) && resolve_function(library, "PQsocket", f.socket) &&
         resolve_function(library, "PQconsumeInput", f.consume_input) && resolve_function(library, "PQisBusy", f.is_busy) &&
         resolve_function(library, "PQgetResult", f.next_result) && resolve_function(library, "PQresultStatus", f.result_status) &&
         resolve_function(library, "PQresultErrorField", f.error_field) && resolve_function(library, "PQntuples", f.rows) &&
         resolve_function(library, "PQgetvalue", f.value) && resolve_function(library, "PQgetlength", f.length) &&
         resolve_function(library, "PQgetisnull", f.is_null) && resolve_function(library, "PQclear", f.clear) &&
         resolve_function(library, "PQsetNoticeProcessor", f.set_notice_processor);
}

// Throws Error(kTool) where this machine has no libpq.so.5.
const Libpq& libpq() {
  static const Libpq* const found = []() -> const Libpq* {
    static Libpq loaded;
    void* library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    return library != nullptr && resolve_functions(library, loaded) ? &loaded : nullptr;
  }();
  if (found == nullptr)
    throw Error(ErrorKind::kTool, "libpq.so.5 is needed for a ledger in PostgreSQL, and it was not found", "libpq.so.5",
                "sudo apt-get install libpq5");
  return *found;
}

constexpr Oid kInt8 = 20, kText = 25, kFloat8 = 701, kBytea = 17;                  // pg_type.oid, the same in every server
constexpr std::string_view kLockNotAvailable = "55P03", kQueryCanceled = "57014";  // SQLSTATE
constexpr const char* kWriterLock = "SELECT pg_advisory_xact_lock(hashtext('nl_stage.ledger'))";

// The server's and the library's messages have several lines and may repeat the connection's words.
std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

struct FreeResult {
  void operator()(PGresult* result) const { libpq().clear(result); }
};
using Result = std::unique_ptr<PGresult, FreeResult>;

struct FreeConnection {
  void operator()(PGconn* connection) const { libpq().finish(connection); }
};

// "SELECT ? WHERE x = ?" → "SELECT $1 WHERE x = $2"; no statement of ours has a ? that means something else.
std::string numbered(const std::string& statement) {
  std::string text;
  int number = 0;
  for (const char c : statement) text += c == '?' ? fmt::format("${}", ++number) : std::string(1, c);
  return text;
}

// Values as PQexecParams takes them: texts, and bytes as they are.
class Parameters {
 public:
  explicit Parameters(const Values& values) {
    texts_.reserve(values.size());  // pointers into it are kept
    for (const Value& value : values) std::visit(*this, value);
  }
  void operator()(std::nullptr_t) { add(0, nullptr, 0, false); }
  void operator()(std::int64_t value) { own(kInt8, std::to_string(value)); }
  void operator()(double value) { own(kFloat8, fmt::format("{}", value)); }
  // A text of PostgreSQL has no zero byte and is UTF-8; what a capture has of either is marked.
  void operator()(const std::string& value) { own(kText, plain(value)); }
  void operator()(const Bytes& value) { add(kBytea, value.bytes.data(), static_cast<int>(value.bytes.size()), true); }

  int count() const { return static_cast<int>(values_.size()); }
  const Oid* types() const { return types_.data(); }
  const char* const* values() const { return values_.data(); }
  const int* lengths() const { return lengths_.data(); }
  const int* formats() const { return formats_.data(); }

 private:
  static std::string plain(const std::string& text);
  void own(Oid type, std::string text) {
    texts_.push_back(std::move(text));
    add(type, texts_.back().c_str(), static_cast<int>(texts_.back().size()), false);
  }
  void add(Oid type, const char* value, int length, bool binary) {
    types_.push_back(type);
    values_.push_back(value);
    lengths_.push_back(length);
    formats_.push_back(binary ? 1 : 0);
  }
  std::vector<std::string> texts_;
  std::vector<Oid> types_;
  std::vector<const char*> values_;
  std::vector<int> lengths_, formats_;
};

// How many bytes the character that begins here has; 0: no valid character begins here.
std::size_t character_bytes(std::string_view text) {
  const auto byte = static_cast<unsigned char>(text[0]);
  const std::size_t size = byte == 0                     ? 0
                           : byte < 0x80                 ? 1
                           : byte >= 0xC2 && byte < 0xE0 ? 2
                           : byte >= 0xE0 && byte < 0xF0 ? 3
                           : byte >= 0xF0 && byte < 0xF5 ? 4
                                                         : 0;
  if (size == 0 || size > text.size()) return 0;
  for (std::size_t i = 1; i < size; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 0;
  const auto second = size > 2 ? static_cast<unsigned char>(text[1]) : 0;  // spelled too long, surrogates, beyond U+10FFFF
  const bool wrong = (byte == 0xE0 && second < 0xA0) || (byte == 0xED && second > 0x9F) || (byte == 0xF0 && second < 0x90) ||
                     (byte == 0xF4 && second > 0x8F);
  return wrong ? 0 : size;
}

std::string Parameters::plain(const std::string& text) {
  std::string out;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t size = character_bytes(rest);
    out += size > 0 ? rest.substr(0, size) : std::string_view("\uFFFD");
    rest.remove_prefix(size > 0 ? size : 1);
  }
  return out;
}

struct PostgresqlRow : Row {
  PostgresqlRow(const PGresult* result, int row) : result(result), row(row) {}
  std::string_view view(int column) const {
    return {libpq().value(result, row, column), static_cast<std::size_t>(libpq().length(result, row, column))};
  }
  template <class Number>
  Number parsed(int column) const {
    const std::string_view text = view(column);
    Number number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
  }
  bool is_null(int column) const override { return libpq().is_null(result, row, column) != 0; }
  std::int64_t integer(int column) const override { return parsed<std::int64_t>(column); }
  double number(int column) const override { return parsed<double>(column); }
  std::string text(int column) const override { return std::string(view(column)); }
  // "\x68616c6c6f"
  std::string bytes(int column) const override {
    const std::string_view hex = view(column).substr(2);
    std::string out(hex.size() / 2, '\0');
    for (std::size_t i = 0; i < out.size(); ++i) {
      unsigned char byte = 0;
      std::from_chars(hex.data() + 2 * i, hex.data() + 2 * i + 2, byte, 16);
      out[i] = static_cast<char>(byte);
    }
    return out;
  }
  const PGresult* result;
  int row;
};

class PostgresqlConnection : public Connection {
 public:
  PostgresqlConnection(const std::string& url, const ServerLimits& limits) : location_(without_password(url)), limits_(limits) {
    // Of two values of one name the last counts: what the URL says itself stands.
    const char* const names[] = {"connect_timeout", "tcp_user_timeout", "application_name", "dbname", "client_encoding", nullptr};
    const char* const values[] = {"10", "20000", "nl-stage", url.c_str(), "UTF8", nullptr};
    connection_.reset(libpq().connect(names, values, 1));
    if (libpq().status(connection_.get()) != CONNECTION_OK)
      throw Error(ErrorKind::kOutput,
                  fmt::format("the ledger's server cannot be reached: {}", first_line(libpq().error_message(connection_.get()))), location_,
                  "check host, user and database of the URL; a password belongs into ~/.pgpass or PGPASSWORD");
    libpq().set_notice_processor(connection_.get(), [](void*, const char*) {}, nullptr);  // stderr is not the server's
    if (libpq().set_nonblocking(connection_.get(), 1) != 0) throw_failure(nullptr);
    run(fmt::format("SET lock_timeout TO {}", limits_.lock_ms), {});
    run(fmt::format("SET statement_timeout TO {}", limits_.statement_ms), {});
    use_own_schema();
  }

  Dialect dialect() const override { return Dialect::kPostgresql; }
  const std::string& location() const override { return location_; }
  void run(const std::string& statement, const Values& values) override { execute(statement, values); }
  void select(const std::string& statement, const Values& values, const EachRow& each) override {
    const Result result = execute(statement, values);
    const int rows = libpq().rows(result.get());
    for (int i = 0; i < rows; ++i) each(PostgresqlRow(result.get(), i));
  }

  // One writer at a time, as in SQLite: what a transaction has read stays true until it commits.
  void begin() override {
    run("BEGIN", {});
    run(kWriterLock, {});
  }
  void commit() override { run("COMMIT", {}); }
  void roll_back() noexcept override {
    try {
      if (!silent_) execute("ROLLBACK", {});
    } catch (...) {
      // The server ends the transaction with the connection.
    }
  }

 private:
  // A team's database may have other tables of the same names: ours are in a schema of their own.
  void use_own_schema() {
    bool there = false;
    select("SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = 'nl_stage'", {}, [&](const Row&) { there = true; });
    if (!there) {
      Transaction transaction(*this);
      run("CREATE SCHEMA IF NOT EXISTS nl_stage", {});
      transaction.commit();
    }
    run("SET search_path TO nl_stage", {});
  }

  Result execute(const std::string& statement, const Values& values) {
    const Parameters parameters(values);
    if (silent_) throw_silent();
    if (libpq().send(connection_.get(), numbered(statement).c_str(), parameters.count(), parameters.types(), parameters.values(),
                     parameters.lengths(), parameters.formats(), 0) == 0)
      throw_failure(nullptr);
    Result result(answer());
    while (const Result rest{answer()}) {  // a statement has one result; the end is told by nothing
    }
    const ExecStatusType status = libpq().result_status(result.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) throw_failure(result.get());
    return result;
  }

  PGresult* answer() {
    PGconn* connection = connection_.get();
    for (int left = 1; (left = libpq().flush(connection)) != 0;) {
      if (left < 0) throw_failure(nullptr);
      wait_for_server(POLLIN | POLLOUT);
      if (libpq().consume_input(connection) == 0) throw_failure(nullptr);
    }
    while (libpq().is_busy(connection) != 0) {
      wait_for_server(POLLIN);
      if (libpq().consume_input(connection) == 0) throw_failure(nullptr);
    }
    return libpq().next_result(connection);
  }

  // A server that was stopped, or whose disk hangs, keeps its connections and says nothing.
  void wait_for_server(short events) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::milliseconds(limits_.silence_ms);
    while (true) {
      pollfd server{libpq().socket(connection_.get()), events, 0};
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
      const int ready = poll(&server, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
      if (ready > 0) return;
      if (ready < 0 && errno == EINTR) continue;
      silent_ = true;
      throw_silent();
    }
  }

  [[noreturn]] void throw_silent() const {
    throw Error(ErrorKind::kOutput, fmt::format("the ledger's server has not answered for {:g} s", limits_.silence_ms / 1000.0), location_,
                "check the server; then `nl-stage record BUNDLE` records the run");
  }

  [[noreturn]] void throw_failure(const PGresult* result) const {
    if (libpq().status(connection_.get()) != CONNECTION_OK)
      throw Error(ErrorKind::kOutput,
                  fmt::format("the connection to the ledger's server is lost: {}", first_line(libpq().error_message(connection_.get()))),
                  location_, "check that the server runs, then try again");
    const char* code = result != nullptr ? libpq().error_field(result, PG_DIAG_SQLSTATE) : nullptr;
    if (code != nullptr && std::string_view(code) == kLockNotAvailable)
      throw Error(ErrorKind::kOutput, fmt::format("another session has locked the ledger for {:g} s", limits_.lock_ms / 1000.0), location_,
                  "end that session (the server's view pg_stat_activity shows it); then `nl-stage record BUNDLE` records the run");
    if (code != nullptr && std::string_view(code) == kQueryCanceled)
      throw Error(ErrorKind::kOutput, fmt::format("the ledger's server took more than {:g} s", limits_.statement_ms / 1000.0), location_,
                  "check what loads the server; then `nl-stage record BUNDLE` records the run");
    const char* primary = result != nullptr ? libpq().error_field(result, PG_DIAG_MESSAGE_PRIMARY) : nullptr;
    throw Error(ErrorKind::kOutput,
                fmt::format("the ledger's server refuses: {}", primary ? primary : first_line(libpq().error_message(connection_.get()))),
                location_, "check the rights of the user on the schema nl_stage of the database");
  }

  std::string location_;
  ServerLimits limits_;
  bool silent_ = false;  // it stopped answering: nothing is asked any more
  std::unique_ptr<PGconn, FreeConnection> connection_;
};

}  // namespace

std::unique_ptr<Connection> open_postgresql(const std::string& url, const ServerLimits& limits) {
  return std::make_unique<PostgresqlConnection>(url, limits);
}

}  // namespace nl::runs::database

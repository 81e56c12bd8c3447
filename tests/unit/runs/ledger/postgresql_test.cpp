#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include "model/error.h"
#include "runs/ledger/bundles.h"
#include "tests/catch.h"
#include "tests/unit/runs/ledger/ledger_places.h"
#include "tests/unit/runs/ledger/postgresql_server.h"

using namespace nl;
using namespace nl::runs;
using test::ids_of, test::ledger_run, test::PostgresqlServer;
using Ids = std::vector<std::string>;

namespace {

std::string failure_of_recording(Ledger& ledger, const Run& run) {
  try {
    ledger.record(run, "{}", "");
  } catch (const Error& error) {
    CHECK(error.kind == ErrorKind::kOutput);
    CHECK(error.where == ledger.location());
    return error.message;
  }
  return "recorded";
}

std::string words_of_failure(database::Connection& connection, const std::string& statement) {
  try {
    connection.run(statement, {});
  } catch (const Error& error) {
    CHECK(error.kind == ErrorKind::kOutput);
    CHECK_FALSE(error.fix.empty());
    return error.message;
  }
  return "it answered";
}

}  // namespace

TEST_CASE("ledger: in PostgreSQL, several processes write at once, and nothing is lost") {
  if (!test::shared_postgresql().why_not.empty()) NL_SKIP(test::shared_postgresql().why_not);
  const std::string location = test::shared_postgresql().new_database();
  constexpr int kWriters = 3, kRuns = 5;
  std::vector<pid_t> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.push_back(fork());
    if (writers.back() != 0) continue;
    int status = 0;
    try {
      Ledger ledger = Ledger::open(location);  // all of them make its tables
      for (int i = 0; i < kRuns; ++i)
        ledger.record(ledger_run(std::to_string(writer) + "-" + std::to_string(i), "2026-11-16T10:00:00Z"), "{}", "");
    } catch (...) {
      status = 1;
    }
    _exit(status);
  }
  for (const pid_t writer : writers) {
    int status = -1;
    waitpid(writer, &status, 0);
    CHECK(status == 0);
  }
  CHECK(Ledger::open(location).query({}).size() == kWriters * kRuns);
}

TEST_CASE("ledger: PostgreSQL that goes in the middle is a clear error, and what was not committed is not there") {
  if (!test::shared_postgresql().why_not.empty()) NL_SKIP(test::shared_postgresql().why_not);
  PostgresqlServer server;
  REQUIRE(server.why_not.empty());
  Ledger ledger = Ledger::open(server.url());
  ledger.record(ledger_run("before", "2026-11-16T10:00:00Z"), "{}", "");
  ledger.connection().begin();
  ledger.connection().run("DELETE FROM tags");
  ledger.connection().run("DELETE FROM runs");
  server.stop(SIGINT);
  CHECK_THROWS_AS(ledger.connection().commit(), Error);
  CHECK(failure_of_recording(ledger, ledger_run("lost", "2026-11-16T10:01:00Z"))
            .starts_with("the connection to the ledger's server is lost: "));

  const LedgerRecord record = record_run({.path = server.url()}, ledger_run("lost", "2026-11-16T10:01:00Z"), "{}", "");
  CHECK(record.location.empty());
  REQUIRE(record.failure);
  CHECK(record.failure->message.starts_with("the ledger's server cannot be reached: "));

  server.start();
  REQUIRE(server.why_not.empty());
  CHECK(ids_of(Ledger::open(server.url()).query({})) == Ids{"before"});
}

TEST_CASE("ledger: PostgreSQL that another session has locked is given up soon, and says so") {
  if (!test::shared_postgresql().why_not.empty()) NL_SKIP(test::shared_postgresql().why_not);
  const std::string location = test::shared_postgresql().new_database();
  Ledger ledger = Ledger::open(location);
  ledger.connection().begin();
  ledger.connection().run("LOCK TABLE runs IN ACCESS EXCLUSIVE MODE");
  const auto other = database::open_postgresql(location, {.lock_ms = 300});
  for (const char* statement : {"SELECT run_id FROM runs", "SELECT pg_advisory_xact_lock(hashtext('nl_stage.ledger'))"}) {
    const auto begin = std::chrono::steady_clock::now();
    CHECK(words_of_failure(*other, statement) == "another session has locked the ledger for 0.3 s");
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
  }
  const auto slow = database::open_postgresql(location, {.statement_ms = 300});
  CHECK(words_of_failure(*slow, "SELECT pg_sleep(60)") == "the ledger's server took more than 0.3 s");
  ledger.connection().roll_back();
  CHECK(words_of_failure(*other, "SELECT run_id FROM runs") == "it answered");
}

TEST_CASE("ledger: PostgreSQL that stops answering is given up, and asked nothing any more") {
  if (!test::shared_postgresql().why_not.empty()) NL_SKIP(test::shared_postgresql().why_not);
  const auto connection = database::open_postgresql(test::shared_postgresql().new_database(), {.silence_ms = 300});
  pid_t server = 0;
  connection->select("SELECT pg_backend_pid()", {}, [&](const database::Row& row) { server = static_cast<pid_t>(row.integer(0)); });
  REQUIRE(server > 0);
  REQUIRE(kill(server, SIGSTOP) == 0);
  const auto begin = std::chrono::steady_clock::now();
  CHECK(words_of_failure(*connection, "SELECT 1") == "the ledger's server has not answered for 0.3 s");
  CHECK(words_of_failure(*connection, "SELECT 1") == "the ledger's server has not answered for 0.3 s");
  connection->roll_back();
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
  kill(server, SIGCONT);
}

TEST_CASE("ledger: in PostgreSQL it has a schema of its own beside other tables, and bytes that are no text are marked") {
  if (!test::shared_postgresql().why_not.empty()) NL_SKIP(test::shared_postgresql().why_not);
  const std::string location = test::shared_postgresql().new_database();
  Ledger::open(location).connection().run("CREATE TABLE public.runs (x INT)");
  Ledger ledger = Ledger::open(location);
  Run run = ledger_run("odd", "2026-11-16T10:00:00Z");
  run.model.name = std::string(
      "a\0b\xFF"
      "c\xC3\xA9",
      7);
  ledger.record(run, std::string("{\"bytes\": \"\0\xFF\"}", 15), "");
  CHECK(ledger.resolve("odd").model == "a\uFFFDb\uFFFDcé");
  CHECK(ledger.run_json("odd") == std::string("{\"bytes\": \"\0\xFF\"}", 15));
}

TEST_CASE("ledger: a server that is not there, a user without rights") {
  if (!test::shared_postgresql().why_not.empty()) NL_SKIP(test::shared_postgresql().why_not);
  try {
    Ledger::open("postgresql://me:secret@/runs?host=/nowhere");
    FAIL("it was opened");
  } catch (const Error& error) {
    CHECK(error.kind == ErrorKind::kOutput);
    CHECK(error.where == "postgresql://me@/runs?host=/nowhere");
    CHECK_FALSE(test::has(error.message, "secret"));
  }
  const std::string location = test::shared_postgresql().new_database();
  Ledger::open(location).connection().run("CREATE ROLE guest LOGIN");
  const std::string as_guest = location.substr(0, location.find("&user=")) + "&user=guest";
  try {
    Ledger::open(as_guest).record(ledger_run("one", "2026-11-16T10:00:00Z"), "{}", "");
    FAIL("it was recorded");
  } catch (const Error& error) {
    CHECK(error.kind == ErrorKind::kOutput);
    CHECK(test::has(error.message, "the ledger's server refuses: "));
  }
}

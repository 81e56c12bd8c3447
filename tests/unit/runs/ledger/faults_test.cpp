#include <SQLiteCpp/SQLiteCpp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <stdexcept>

#include "model/error.h"
#include "runs/ledger/bundles.h"
#include "runs/ledger/schema.h"
#include "tests/catch.h"
#include "tests/unit/files.h"
#include "tests/unit/runs/ledger/ledger_places.h"

using namespace nl;
using namespace nl::runs;
using test::ids_of, test::ledger_run, test::LedgerPlace;
using Ids = std::vector<std::string>;

namespace {

// The most bytes of addresses that this process had at a time.
std::uint64_t most_addresses() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "VmPeak:" && status >> word) return std::stoull(word) * 1024;
  throw std::runtime_error("no VmPeak");
}

// In a process of its own, which ends without the tests' own ending. 0: it did not throw.
pid_t in_child(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child != 0) return child;
  int status = 0;
  try {
    work();
  } catch (...) {
    status = 1;
  }
  _exit(status);
}

int status_of(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

// No file may grow past this size while it lives: what a full disk does to a writer.
struct FileSizeLimit {
  explicit FileSizeLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before);
    old_handler = signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, old_handler);
  }
  rlimit before = {};
  void (*old_handler)(int) = nullptr;
};

// Text that does not become small when it is packed.
std::string noise(std::size_t bytes) {
  std::string text;
  for (std::uint64_t state = 1; text.size() < bytes; state = state * 6364136223846793005u + 1442695040888963407u)
    text += static_cast<char>(' ' + (state >> 58));
  return text;
}

ErrorKind refusal_of(const std::string& location) {
  try {
    Ledger::open(location);
  } catch (const Error& error) {
    CHECK(test::has(error.where, location));
    CHECK_FALSE(error.fix.empty());
    return error.kind;
  }
  return ErrorKind::kInternal;
}

}  // namespace

TEST_CASE("ledger: on a full disk it can still be read") {
  const test::Folder folder;
  const std::string location = (folder / "ledger.sqlite").string();
  Ledger::open(location).record(ledger_run("one", "2026-11-16T10:00:00Z"), "{}", "");
  CHECK((std::filesystem::status(location).permissions() & (std::filesystem::perms::group_all | std::filesystem::perms::others_all)) ==
        std::filesystem::perms::none);
  CHECK(status_of(in_child([&] {
          signal(SIGXFSZ, SIG_IGN);
          const rlimit nothing{0, 0};  // no file can grow, as where the disk is full
          setrlimit(RLIMIT_FSIZE, &nothing);
          if (ids_of(Ledger::open(location, database::Absent::kRefuse).query({})) != Ids{"one"}) throw 1;
        })) == 0);
}

TEST_CASE("ledger: without a home folder the run says that it is not recorded, and why") {
  const auto failure = [](const LedgerOptions& options) {
    LedgerRecord record;
    CHECK(status_of(in_child([&] {
            for (const char* name : {"HOME", "XDG_DATA_HOME", "NL_STAGE_LEDGER"}) unsetenv(name);
            record = record_run(options, ledger_run("one", "2026-11-16T10:00:00Z"), "{}", "");
            const bool said = record.failure && test::has(record.failure->message, "neither HOME nor XDG_DATA_HOME is set");
            if (said != (options.path.empty() && options.enabled)) throw 1;
          })) == 0);
  };
  failure({});
  failure({.path = "off"});
  failure({.enabled = false});
}

TEST_CASE("ledger: several processes make it and write it at once, and nothing is lost") {
  const LedgerPlace place("sqlite");
  constexpr int kWriters = 4, kRuns = 10;
  std::vector<pid_t> writers;
  for (int writer = 0; writer < kWriters; ++writer)
    writers.push_back(in_child([&] {
      for (int i = 0; i < kRuns; ++i)
        place.open().record(ledger_run(std::to_string(writer) + "-" + std::to_string(i), "2026-11-16T10:00:00Z"), "{}", "");
    }));
  for (const pid_t writer : writers) CHECK(status_of(writer) == 0);
  CHECK(place.open().query({}).size() == kWriters * kRuns);
}

TEST_CASE("ledger: a writer that is killed in the middle of a record leaves the ledger as it was, and unlocked") {
  const LedgerPlace place("sqlite");
  place.open().record(ledger_run("before", "2026-11-16T10:00:00Z"), "{}", "");
  const pid_t writer = in_child([&] {
    Ledger ledger = place.open();
    ledger.connection().begin();
    ledger.connection().run("DELETE FROM runs");
    ledger.connection().run("INSERT INTO ledger_version (version) VALUES (9)");
    kill(getpid(), SIGKILL);
  });
  const int status = status_of(writer);
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGKILL);
  Ledger ledger = place.open();
  ledger.record(ledger_run("after", "2026-11-16T11:00:00Z"), "{}", "");
  CHECK(ids_of(ledger.query({})) == Ids{"after", "before"});
}

TEST_CASE("ledger: a full disk is a clear error, the records before stay, and the next run is recorded") {
  const LedgerPlace place("sqlite");
  place.open().record(ledger_run("before", "2026-11-16T10:00:00Z"), "{}", "");
  {
    const FileSizeLimit limit(200 * 1024);
    const LedgerRecord record = record_run({.path = place.location}, ledger_run("large", "2026-11-16T10:01:00Z"), noise(1 << 20), "");
    CHECK(record.location.empty());
    REQUIRE(record.failure);
    CHECK(record.failure->kind == ErrorKind::kOutput);
    CHECK(test::has(record.failure->where, place.location));
  }
  CHECK(ids_of(place.open().query({})) == Ids{"before"});
  CHECK(record_run({.path = place.location}, ledger_run("large", "2026-11-16T10:01:00Z"), noise(1 << 20), "").location == place.location);
  CHECK(ids_of(place.open().query({})) == Ids{"large", "before"});
}

TEST_CASE("ledger: SQLite's own report of a full disk names the free space") {
  const LedgerPlace place("sqlite");
  Ledger ledger = place.open();
  ledger.connection().run("PRAGMA max_page_count = 60");
  try {
    ledger.record(ledger_run("large", "2026-11-16T10:00:00Z"), noise(1 << 20), "");
    FAIL("it was recorded");
  } catch (const Error& error) {
    CHECK(error.kind == ErrorKind::kOutput);
    CHECK(error.message == "the disk of the ledger is full");
    CHECK(test::has(error.where, "free"));
  }
  ledger.record(ledger_run("small", "2026-11-16T10:00:00Z"), "{}", "");
  CHECK(ids_of(ledger.query({})) == Ids{"small"});
}

TEST_CASE("ledger: one from a newer version is refused and not touched") {
  const LedgerPlace place(GENERATE(from_range(test::ledger_databases())));
  {
    Ledger ledger = place.open();
    ledger.record(ledger_run("one", "2026-11-16T10:00:00Z"), "{}", "");
    ledger.connection().run("UPDATE ledger_version SET version = 99");
  }
  try {
    place.open();
    FAIL("it was opened");
  } catch (const Error& error) {
    CHECK(error.kind == ErrorKind::kInput);
    CHECK(error.message ==
          "the ledger is of version 99, and this nl-stage knows versions up to " + std::to_string(database::ledger_migrations().size()));
  }
  CHECK(record_run({.path = place.location}, ledger_run("two", "2026-11-16T11:00:00Z"), "{}", "").failure->kind == ErrorKind::kInput);
}

TEST_CASE("ledger: an older one gets the changes since, and keeps what it has") {
  const LedgerPlace place("sqlite");
  const database::Migration first = {{"CREATE TABLE things (name TEXT)"}}, second = {{"ALTER TABLE things ADD COLUMN size BIGINT"}};
  const auto connection = database::open_sqlite(place.location, database::Absent::kMake);
  database::migrate(*connection, {first});
  connection->run("INSERT INTO things (name) VALUES ('kept')");
  database::migrate(*connection, {first, second});
  database::migrate(*connection, {first, second});
  connection->select("SELECT name, size FROM things", {}, [](const database::Row& row) {
    CHECK(row.text(0) == "kept");
    CHECK(row.is_null(1));
  });
}

TEST_CASE("ledger: a migration that fails leaves the version before") {
  const LedgerPlace place("sqlite");
  const database::Migration first = {{"CREATE TABLE things (name TEXT)"}},
                            broken = {{"CREATE TABLE more (name TEXT)"}, {"CREATE NONSENSE"}};
  const auto connection = database::open_sqlite(place.location, database::Absent::kMake);
  database::migrate(*connection, {first});
  CHECK_THROWS_AS(database::migrate(*connection, {first, broken}), Error);
  CHECK_THROWS_AS(connection->run("SELECT * FROM more"), Error);
  database::migrate(*connection, {first});
}

TEST_CASE("ledger: one that may only be read is read, and says so where it would be written") {
  const test::Folder folder;
  const std::filesystem::path place = folder.path / "kept", file = place / "a ledger?.sqlite";
  std::filesystem::create_directories(place);
  Ledger::open(file.string()).record(ledger_run("one", "2026-11-16T10:00:00Z"), "{}", "");
  REQUIRE_FALSE(std::filesystem::exists(file.string() + "-wal"));
  chmod(folder.path.c_str(), 0755);
  for (const auto& [folder_mode, file_mode] : {std::pair{0555, 0644}, {0555, 0444}, {0777, 0444}}) {
    INFO(folder_mode << " " << file_mode);
    chmod(file.c_str(), static_cast<mode_t>(file_mode));
    chmod(place.c_str(), static_cast<mode_t>(folder_mode));
    const auto as_reader = [&](const std::function<void(Ledger&)>& work) {
      return status_of(in_child([&] {
        if (geteuid() == 0 && seteuid(65534) != 0) _exit(2);  // nothing is read-only for root
        Ledger ledger = Ledger::open(file.string(), database::Absent::kRefuse);
        work(ledger);
      }));
    };
    CHECK(as_reader([](Ledger& ledger) {
            if (ledger.query({}).size() != 1 || ledger.run_json("one") != "{}") _exit(3);
          }) == 0);
    CHECK(as_reader([](Ledger& ledger) {
            try {
              ledger.add_note("one", "text");
              _exit(4);
            } catch (const Error& error) {
              if (error.kind != ErrorKind::kOutput || error.message.find("read-only") == std::string::npos) _exit(5);
            }
          }) == 0);
    chmod(place.c_str(), 0755);
  }
  // One of the version before, which cannot be brought to this one.
  Ledger::open(file.string()).connection().run("ALTER TABLE runs DROP COLUMN part_of");
  Ledger::open(file.string()).connection().run("UPDATE ledger_version SET version = 2");
  chmod(file.c_str(), 0444);
  chmod(place.c_str(), 0555);
  CHECK(status_of(in_child([&] {
          if (geteuid() == 0 && seteuid(65534) != 0) _exit(2);
          Ledger ledger = Ledger::open(file.string(), database::Absent::kRefuse);
          if (ledger.query({}).size() != 1 || ledger.resolve("last").run_id != "one") _exit(3);
        })) == 0);
  chmod(place.c_str(), 0755);
}

TEST_CASE("ledger: files that are none are refused and stay as they are") {
  const test::Folder folder;
  const auto text =
      folder.file("notes.txt", "this is no database, and it is longer than the header of one would be, by far: " + noise(200));
  CHECK(refusal_of(text.string()) == ErrorKind::kInput);
  const std::filesystem::path capture = folder / "run.sqlite";
  {
    SQLite::Database(capture.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec("CREATE TABLE NVTX_EVENTS (x)");
  }
  CHECK(refusal_of(capture.string()) == ErrorKind::kInput);
  SQLite::Database after(capture.string());
  CHECK(after.execAndGet("SELECT count(*) FROM sqlite_master").getInt() == 1);
  CHECK(refusal_of(folder.path.string()) == ErrorKind::kOutput);
  CHECK(refusal_of((text / "ledger.sqlite").string()) == ErrorKind::kOutput);  // a file where a folder should be
  CHECK_THROWS_AS(Ledger::open((folder / "none.sqlite").string(), database::Absent::kRefuse), Error);
  CHECK_FALSE(std::filesystem::exists(folder / "none.sqlite"));
}

TEST_CASE("ledger: it is switched off by one key, and by the variable") {
  const LedgerPlace place("sqlite");
  const Run run = ledger_run("one", "2026-11-16T10:00:00Z");
  const LedgerRecord none = record_run({.enabled = false, .path = place.location}, run, "{}", "");
  CHECK(none.location.empty());
  CHECK_FALSE(none.failure);
  CHECK(record_run({}, run, "{}", "").location.empty());  // the tests' own NL_STAGE_LEDGER=off
  CHECK_FALSE(std::filesystem::exists(place.location));
}

TEST_CASE("ledger: a packed run.json that says it is gigabytes takes no memory") {
  // The head of a frame: its size in four bytes, as a damaged row may have it.
  const std::string frame("\x28\xb5\x2f\xfd\xa0\xff\xff\xff\x7f", 9);
  const pid_t child = in_child([&] {
    const std::uint64_t before = most_addresses();
    try {
      database::unpacked(frame, "here");
    } catch (const Error&) {
      if (most_addresses() - before < std::uint64_t{1} << 30) return;
    }
    throw 0;
  });
  CHECK(status_of(child) == 0);
}

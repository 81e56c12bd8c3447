#include "orchestrator/bundle/redact.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "model/error.h"
#include "tests/catch.h"

namespace fs = std::filesystem;

namespace {

struct Export {
  fs::path path = fs::temp_directory_path() / ("nl_redact_" + std::to_string(getpid()) + ".sqlite");
  Export() { fs::remove(path); }
  ~Export() { fs::remove(path); }
  std::string bytes() const {
    std::ifstream in(path, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }
};

// One secret per variable, long and short ones, in blocks of several pages.
std::string block(int process) {
  std::string text;
  for (int i = 0; i < 60; ++i) {
    text += "VARIABLE_" + std::to_string(i) + "=hunter2-" + std::to_string(process) + "-" + std::string(static_cast<std::size_t>(i), 'x');
    text += '\0';
  }
  text.pop_back();
  return text;
}

void fill(const fs::path& file) {
  SQLite::Database db(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  db.exec("CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL)");
  db.exec("CREATE TABLE META_DATA_CAPTURE (name TEXT NOT NULL, value TEXT)");
  db.exec(
      "CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName TEXT, name TEXT, nameEnum INTEGER, value "
      "TEXT)");
  SQLite::Transaction transaction(db);
  SQLite::Statement string(db, "INSERT INTO StringIds VALUES (?, ?)");
  for (int i = 0; i < 40; ++i) {
    string.bind(1, i * 2);
    string.bind(2, block(i));
    string.exec();
    string.reset();
    string.bind(1, i * 2 + 1);
    string.bind(2, "void kernel_" + std::to_string(i) + "<float, N=4>(int)");
    string.exec();
    string.reset();
  }
  SQLite::Statement meta(db, "INSERT INTO META_DATA_CAPTURE VALUES (?, ?)");
  for (int i = 0; i < 200; ++i) {
    meta.bind(1, i % 2 == 0 ? "PROCESS_0:ENVIRONMENT_VARIABLE" : "RATE_HZ");
    meta.bind(2, i % 2 == 0 ? "TOKEN_" + std::to_string(i) + "=\"hunter2-meta-" + std::to_string(i) + "\"" : std::string("1000"));
    meta.exec();
    meta.reset();
  }
  db.exec("INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (1, 'Local', 'DeviceEnvironment', 610, 'A=hunter2-device;B=1')");
  db.exec("INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (1, 'Local', 'OsDescription', 605, 'Ubuntu 24.04')");
  transaction.commit();
  // As nsys leaves them: rows that moved while it wrote, and whose old bytes are still in the pages. A distribution may
  // build SQLite so that it overwrites what is deleted; nsys' own does not.
  db.exec("PRAGMA secure_delete = OFF");
  db.exec("INSERT INTO StringIds VALUES (900, 'A=hunter2-stale' || char(0) || 'B=hunter2-stale')");
  db.exec("DELETE FROM StringIds WHERE id = 900");
}

}  // namespace

TEST_CASE("redact_environment removes the bytes from all three places and touches nothing else") {
  Export file;
  fill(file.path);
  REQUIRE(file.bytes().find("hunter2-stale") != std::string::npos);
  REQUIRE(file.bytes().find("hunter2-meta") != std::string::npos);
  CHECK(nl::orchestrator::redact_environment(file.path) == 40 + 100 + 1);
  CHECK(file.bytes().find("hunter2") == std::string::npos);
  CHECK(file.bytes().find("VARIABLE_5") == std::string::npos);
  CHECK_FALSE(fs::exists(file.path.string() + "-journal"));
  SQLite::Database db(file.path.string(), SQLite::OPEN_READONLY);
  CHECK(db.execAndGet("PRAGMA integrity_check").getString() == "ok");
  CHECK(db.execAndGet("SELECT count(*) FROM StringIds").getInt() == 80);
  CHECK(db.execAndGet("SELECT value FROM StringIds WHERE id = 9").getString() == "void kernel_4<float, N=4>(int)");
  CHECK(db.execAndGet("SELECT count(*) FROM META_DATA_CAPTURE WHERE value = '1000'").getInt() == 100);
  CHECK(db.execAndGet("SELECT value FROM TARGET_INFO_SYSTEM_ENV WHERE nameEnum = 605").getString() == "Ubuntu 24.04");
}

TEST_CASE("redact_environment leaves the numbers of ranks, and only numbers") {
  Export file;
  fill(file.path);
  {
    SQLite::Database db(file.path.string(), SQLite::OPEN_READWRITE);
    for (const char* value : {"RANK=\"3\"", "WORLD_SIZE=\"16\"", "SLURM_PROCID=7", "RANK=\"hunter2\"", "RANKED=\"4\"",
                              "WORLD_SIZE=\"1 hunter2\"", "rank=\"5\""}) {
      SQLite::Statement row(db, "INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE', ?)");
      row.bind(1, value);
      row.exec();
    }
  }
  nl::orchestrator::redact_environment(file.path);
  CHECK(file.bytes().find("hunter2") == std::string::npos);
  SQLite::Database db(file.path.string(), SQLite::OPEN_READONLY);
  std::vector<std::string> kept;
  SQLite::Statement rows(db, "SELECT value FROM META_DATA_CAPTURE WHERE name LIKE '%ENVIRONMENT_VARIABLE' AND value <> '' ORDER BY rowid");
  while (rows.executeStep()) kept.push_back(rows.getColumn(0).getString());
  CHECK(kept == std::vector<std::string>{"RANK=\"3\"", "WORLD_SIZE=\"16\"", "SLURM_PROCID=7"});
}

TEST_CASE("redact_environment removes what lives on in deleted rows alone") {
  Export file;
  {
    SQLite::Database db(file.path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    db.exec("PRAGMA secure_delete = OFF");
    db.exec("CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL)");
    db.exec("INSERT INTO StringIds VALUES (1, 'void kernel(int)'), (2, 'A=hunter2-stale' || char(0) || 'B=1')");
    db.exec("DELETE FROM StringIds WHERE id = 2");
  }
  REQUIRE(file.bytes().find("hunter2-stale") != std::string::npos);
  nl::orchestrator::redact_environment(file.path);
  CHECK(file.bytes().find("hunter2") == std::string::npos);
  CHECK(file.bytes().find("void kernel(int)") != std::string::npos);
}

TEST_CASE("redact_environment is content with an export that has none of the tables") {
  Export file;
  {
    SQLite::Database(file.path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec("CREATE TABLE x (y)");
  }
  CHECK(nl::orchestrator::redact_environment(file.path) == 0);
}

TEST_CASE("redact_environment refuses what is no database") {
  Export file;
  std::ofstream(file.path) << std::string(5000, 'z');
  CHECK_THROWS_AS(nl::orchestrator::redact_environment(file.path), nl::Error);
}

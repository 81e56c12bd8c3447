#pragma once

#include <random>
#include <string>

#include <SQLiteCpp/SQLiteCpp.h>

#include "tests/unit/files.h"

namespace nl::test {

// A database that SQLite makes for one test.
struct MadeDatabase {
  explicit MadeDatabase(int page_bytes = 4096, const std::string& encoding = "UTF-8", const std::string& vacuum = "NONE") {
    sql("PRAGMA page_size = " + std::to_string(page_bytes) + "; PRAGMA encoding = '" + encoding + "'; PRAGMA auto_vacuum = " + vacuum +
        ";" + kTables);
  }

  void sql(const std::string& statements) const { opened().exec(statements); }

  // Values of every kind and of many lengths, the same for the same seed.
  void add_rows(int count, unsigned seed) const {
    SQLite::Database database = opened();
    database.exec("BEGIN");
    SQLite::Statement mixed(database, "INSERT INTO mixed (number, real, text, blob) VALUES (?, ?, ?, ?)");
    SQLite::Statement plain(database, "INSERT INTO plain VALUES (?, ?, ?, ?)");
    std::mt19937_64 random(seed);
    for (int i = 0; i < count; ++i) {
      const auto width = random() % 64;
      const auto number = static_cast<std::int64_t>(random() >> width) * (i % 2 == 0 ? 1 : -1);
      mixed.bind(1, number);
      mixed.bind(2, i % 3 == 0 ? static_cast<double>(i) : static_cast<double>(number) / 7);
      std::string text;
      for (auto length = random() % (i % 20 == 0 ? 900 : 12); length > 0; --length) text += kLetters[random() % 7];
      mixed.bind(3, text);
      if (i % 4 != 0) mixed.bind(4, text.data(), static_cast<int>(text.size() / 2));
      for (int column = 1; column <= 4; ++column) plain.bind(column, static_cast<std::int64_t>(random() >> random() % 64));
      for (SQLite::Statement* each : {&mixed, &plain}) {
        each->exec();
        each->reset();
        each->clearBindings();
      }
    }
    database.exec("COMMIT");
  }

  static constexpr const char* kTables =
      "CREATE TABLE mixed (id INTEGER PRIMARY KEY, number INTEGER, real REAL, text TEXT, blob BLOB);"
      "CREATE TABLE plain (start INTEGER NOT NULL, end INTEGER, a, b INTEGER)";

  Folder folder;
  std::filesystem::path file = folder / "export.sqlite";

 private:
  static constexpr const char* kLetters[] = {"a", "Z", " ", "ü", "€", "\U0001F600", "\n"};

  SQLite::Database opened() const {
    SQLite::Database database(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    database.exec("PRAGMA synchronous = OFF");
    return database;
  }
};

}  // namespace nl::test

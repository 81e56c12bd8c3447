#include "runs/ledger/full_text.h"

#include "runs/ledger/words.h"

namespace nl::runs {
namespace {

using database::Connection, database::Dialect;

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// Words are cut by search_words(): PostgreSQL takes them as they are, without its own parser.
std::string word_list(Dialect dialect) { return dialect == Dialect::kSqlite ? "?" : "array_to_tsvector(string_to_array(?, ' '))"; }

}  // namespace

void put_words(Connection& connection, std::int64_t number, const std::vector<std::string>& words) {
  const std::string list = word_list(connection.dialect());
  drop_words(connection, number);
  connection.run("INSERT INTO words (rowid, run_words, remarks) VALUES (?, " + list + ", " + list + ")",
                 {number, joined(words), std::string()});
}

void put_remarks(Connection& connection, std::int64_t number) {
  std::string text;
  const auto add = [&](const database::Row& row) { text += row.text(0) + " "; };
  connection.select("SELECT tag FROM tags WHERE run = ?", {number}, add);
  connection.select("SELECT text FROM notes WHERE run = ?", {number}, add);
  connection.run("UPDATE words SET remarks = " + word_list(connection.dialect()) + " WHERE rowid = ?",
                 {joined(search_words(text)), number});
}

void drop_words(Connection& connection, std::int64_t number) { connection.run("DELETE FROM words WHERE rowid = ?", {number}); }

std::string full_text_condition(Dialect dialect) {
  return dialect == Dialect::kSqlite ? "number IN (SELECT rowid FROM words WHERE words MATCH ?)"
                                     : "number IN (SELECT rowid FROM words WHERE (run_words || remarks) @@ CAST(? AS tsquery))";
}

// SQLite: "llama"* "8b"*   PostgreSQL: 'llama':* & '8b':*
std::string full_text_value(Dialect dialect, const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    const bool first = text.empty();
    if (dialect == Dialect::kSqlite) text += (first ? "\"" : " \"") + word + "\"*";
    else text += (first ? "'" : " & '") + word + "':*";
  }
  return text;
}

}  // namespace nl::runs

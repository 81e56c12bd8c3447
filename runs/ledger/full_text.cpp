#include "runs/ledger/full_text.h"

#include <cctype>
#include <set>

namespace nl::runs {
namespace {

constexpr std::size_t kKernelsInWords = 20;  // as many as anyone searches for
constexpr std::size_t kLongestWord = 100;    // mangled names; a lexeme of PostgreSQL has at most 2 KB

bool is_word_byte(unsigned char byte) { return byte >= 0x80 || std::isalnum(byte); }

std::string text_of_run(const Run& run) {
  std::string text;
  const auto add = [&](const std::string& part) { text += part + " "; };
  for (const auto& part : {run.run_id, run.name, run.mode, run.model.name, run.model.precision, run.software.backend.name()}) add(part);
  for (const char* attribute : {"architecture", "dtype"})
    if (const auto found = run.model.attributes.find(attribute); found != run.model.attributes.end()) add(found->second);
  for (const Device& gpu : run.hardware.gpus) add(gpu.name);
  for (const std::string& word : run.workload.command) add(word);
  if (run.workload.repository) add(run.workload.repository->path + " " + run.workload.repository->revision);
  if (run.session) add(run.session->model + " " + run.session->provider);
  for (const StageEntry& stage : run.stages) add(stage.name);
  for (const Finding& finding : run.findings) add(finding.rule);
  if (run.kernels)
    for (std::size_t i = 0; i < run.kernels->size() && i < kKernelsInWords; ++i) add((*run.kernels)[i].short_name);
  return text;
}

using database::Connection, database::Dialect;

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// Words are cut by search_words(): PostgreSQL takes them as they are, without its own parser.
std::string word_list(Dialect dialect) { return dialect == Dialect::kSqlite ? "?" : "array_to_tsvector(string_to_array(?, ' '))"; }

}  // namespace

std::vector<std::string> search_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty() && word.size() <= kLongestWord) words.push_back(word);
    word.clear();
  };
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_word_byte(byte)) word += byte < 0x80 ? static_cast<char>(std::tolower(byte)) : c;
    else end_word();
  }
  end_word();
  return words;
}

std::vector<std::string> words_of_run(const Run& run) {
  std::vector<std::string> words;
  std::set<std::string> seen;
  for (std::string& word : search_words(text_of_run(run)))
    if (seen.insert(word).second) words.push_back(std::move(word));
  return words;
}

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

#include "tests/fuzz/input_files.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <zstd.h>

#include <charconv>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <vector>

#include "runs/archive/tar.h"

namespace fs = std::filesystem;

namespace nl::fuzz {
namespace {

class InputFolder {
 public:
  InputFolder() {
    std::string name = (fs::temp_directory_path() / "nl-stage-fuzz-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder can be made: " + name);
    path_ = name;
  }
  ~InputFolder() { fs::remove_all(path_); }
  InputFolder(const InputFolder&) = delete;
  InputFolder& operator=(const InputFolder&) = delete;

  const fs::path& emptied() const {
    for (const auto& each : fs::directory_iterator(path_)) fs::remove_all(each);
    return path_;
  }

 private:
  fs::path path_;
};

fs::path new_path(const char* name) {
  static const InputFolder folder;
  return folder.emptied() / name;
}

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::string packed_by_zstd(std::string_view text) {
  std::string bytes(ZSTD_compressBound(text.size()), '\0');
  bytes.resize(ZSTD_compress(bytes.data(), bytes.size(), text.data(), text.size(), 1));
  return bytes;
}

template <class Number>
bool is_number(std::string_view cell, Number& number) {
  const auto [end, failed] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
  return failed == std::errc{} && end == cell.data() + cell.size();
}

void bind(sqlite3_stmt* statement, int column, std::string_view cell) {
  sqlite3_int64 whole = 0;
  double number = 0;
  const auto bind_blob = [&](std::string_view bytes) {
    sqlite3_bind_blob64(statement, column, bytes.data(), bytes.size(), SQLITE_TRANSIENT);
  };
  if (cell == "NULL") sqlite3_bind_null(statement, column);
  else if (is_number(cell, whole)) sqlite3_bind_int64(statement, column, whole);
  else if (is_number(cell, number)) sqlite3_bind_double(statement, column, number);
  else if (take_prefix(cell, "zstd ")) bind_blob(packed_by_zstd(cell));
  else if (take_prefix(cell, "blob ")) bind_blob(cell);
  else sqlite3_bind_text64(statement, column, cell.data(), cell.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

class TextDatabase {
 public:
  explicit TextDatabase(const fs::path& file) {
    sqlite3* opened = nullptr;
    const int failed = sqlite3_open(file.c_str(), &opened);
    database_.reset(opened);
    if (failed) throw std::runtime_error("no database can be made");
    run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
  }

  void add(std::string_view text) {
    for (const std::string_view line : parts_of(text, '\n')) {
      std::vector<std::string_view> cells = parts_of(line, '\t');
      if (cells[0] == "table" && cells.size() > 2) begin_table(cells);
      else if (insert_) add_row(cells);
    }
    run("COMMIT");
  }

 private:
  void run(const std::string& statement) { sqlite3_exec(database_.get(), statement.c_str(), nullptr, nullptr, nullptr); }

  static std::string quoted(std::string_view name) {
    std::string text = "\"";
    for (const char c : name) text += c == '"' || c == '\0' ? '_' : c;
    return text + '"';
  }

  void begin_table(const std::vector<std::string_view>& words) {
    std::string columns, values;
    for (std::size_t i = 2; i < words.size(); ++i) {
      columns += (i > 2 ? ", " : "") + quoted(words[i]);
      values += i > 2 ? ", ?" : "?";
    }
    const std::string table = quoted(words[1]);
    run("CREATE TABLE " + table + " (" + columns + ")");
    sqlite3_stmt* prepared = nullptr;
    sqlite3_prepare_v2(database_.get(), ("INSERT INTO " + table + " (" + columns + ") VALUES (" + values + ")").c_str(), -1, &prepared,
                       nullptr);
    insert_.reset(prepared);
  }

  void add_row(const std::vector<std::string_view>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) bind(insert_.get(), static_cast<int>(i) + 1, cells[i]);
    sqlite3_step(insert_.get());
    sqlite3_reset(insert_.get());
    sqlite3_clear_bindings(insert_.get());
  }

  struct Close {
    void operator()(sqlite3* database) const { sqlite3_close(database); }
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3, Close> database_;
  std::unique_ptr<sqlite3_stmt, Close> insert_;
};

}  // namespace

fs::path as_file(std::string_view bytes, const char* name) {
  fs::path file = new_path(name);
  std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return file;
}

fs::path as_database(std::string_view bytes, std::string_view empty) {
  if (bytes.starts_with("SQLite format 3")) return as_file(bytes, "input.sqlite");
  fs::path file = as_file(empty, "input.sqlite");
  TextDatabase(file).add(bytes);
  return file;
}

fs::path as_archive(std::string_view bytes) {
  constexpr std::string_view kZstd = "\x28\xb5\x2f\xfd", kBegin = "@@ ";
  if (bytes.starts_with(kZstd)) return as_file(bytes, "input.nlz");
  fs::path file = new_path("input.nlz");
  runs::TarWriter tar(file);
  while (take_prefix(bytes, kBegin)) {
    const std::size_t line = std::min(bytes.find('\n'), bytes.size());
    const std::string path(bytes.substr(0, line));
    bytes.remove_prefix(std::min(line + 1, bytes.size()));
    const std::string_view content = bytes.substr(0, bytes.find(kBegin));
    tar.begin_file(path, content.size());
    tar.append(content);
    bytes.remove_prefix(content.size());
  }
  tar.commit();
  return file;
}

}  // namespace nl::fuzz

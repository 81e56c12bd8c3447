// Files that are damaged: never anything but what SQLite reads, or an Error that names the page.
#include <fstream>
#include <map>

#include "tests/catch.h"
#include "tests/unit/files.h"
#include "tests/unit/parsers/sqlite_pages/made_database.h"
#include "tests/unit/parsers/sqlite_pages/oracle.h"

namespace {

namespace fs = std::filesystem;
using namespace nl::test;

// Changes bytes of a file in place, and puts them back.
class ChangedFile {
 public:
  ChangedFile(const fs::path& file, std::string whole)
      : whole_(std::move(whole)), stream_(file, std::ios::binary | std::ios::in | std::ios::out) {}

  void put(std::size_t at, char byte) {
    changed_.push_back(at);
    write(at, byte);
  }
  void flush() { stream_.flush(); }
  void restore() {
    for (const std::size_t at : changed_) write(at, whole_[at]);
    changed_.clear();
  }
  const std::string& whole() const { return whole_; }

 private:
  void write(std::size_t at, char byte) {
    stream_.seekp(static_cast<std::streamoff>(at));
    stream_.put(byte);
  }
  std::string whole_;
  std::fstream stream_;
  std::vector<std::size_t> changed_;
};

// Mostly where it matters: the header of the file, the heads of pages and their lists of cells.
std::size_t place_to_change(std::mt19937_64& random, std::size_t size, std::size_t page_bytes) {
  switch (random() % 4) {
    case 0: return random() % 100;
    case 1: return random() % (size / page_bytes) * page_bytes + random() % 40;
    default: return random() % size;
  }
}

using Outcomes = std::map<Agreement, std::size_t>;

void compare_damaged(const MadeDatabase& made, std::size_t page_bytes, int times, unsigned seed, Outcomes& outcomes) {
  std::mt19937_64 random(seed);
  ChangedFile scratch(made.file, read_text(made.file));
  for (int i = 0; i < times; ++i) {
    for (auto bytes = 1 + random() % 4; bytes > 0; --bytes) {
      const std::size_t at = place_to_change(random, scratch.whole().size(), page_bytes);
      constexpr unsigned char kTelling[] = {0, 1, 2, 5, 10, 13, 127, 128, 255};
      const auto byte = random() % 2 == 0 ? kTelling[random() % sizeof kTelling] : static_cast<unsigned char>(random());
      scratch.put(at, static_cast<char>(byte));
    }
    scratch.flush();
    compare_file(made.file, 1 + random() % 3, [&](const std::string& table, const TableComparison& found) {
      if (found.agreement == Agreement::kDifferent) {
        INFO("seed " << seed << ", mutation " << i << ": " << table << ": " << found.detail);
        CHECK(false);
      }
      ++outcomes[found.agreement];
    });
    scratch.restore();
  }
}

// A table of several levels of pages of 512 bytes, whose pages a test can write into.
class TableTree {
 public:
  TableTree() {
    made_.add_rows(500, 5);
    bytes_ = read_text(made_.file);
    SQLite::Database database = opened_by_sqlite(made_.file);
    root = static_cast<std::uint32_t>(database.execAndGet("SELECT rootpage FROM sqlite_master WHERE name = 'plain'").getInt());
    left_leaf = child(root, 0);
    while (head(left_leaf)[0] == '\x05') left_leaf = child(left_leaf, 0);
  }

  char* head(std::uint32_t page) { return bytes_.data() + (page - 1) * kPage; }
  char* cell(std::uint32_t page, int index) {
    const bool leaf = head(page)[0] == '\x0D';
    return head(page) + number(head(page) + (leaf ? 8 : 12) + 2 * index, 2);
  }
  std::uint32_t child(std::uint32_t page, int index) { return number(cell(page, index), 4); }
  static void put(char* at, std::uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) at[i] = static_cast<char>(value >> 8 * (bytes - 1 - i));
  }

  // What is said of the table.
  std::string said(std::size_t parts = 1) {
    const fs::path file = made_.folder.file("changed.sqlite", bytes_);
    std::string detail = "equal";
    compare_file(file, parts, [&](const std::string& table, const TableComparison& each) {
      CHECK(each.agreement != Agreement::kDifferent);
      if (table == "plain" && each.agreement != Agreement::kEqual) detail = each.detail;
    });
    return detail;
  }

  std::uint32_t root = 0, left_leaf = 0;

 private:
  static constexpr std::size_t kPage = 512;
  static std::uint32_t number(const char* at, int bytes) {
    std::uint32_t value = 0;
    for (int i = 0; i < bytes; ++i) value = value << 8 | static_cast<unsigned char>(at[i]);
    return value;
  }
  MadeDatabase made_{static_cast<int>(kPage)};
  std::string bytes_;
};

}  // namespace

TEST_CASE("sqlite pages: what is damaged is named, with its page") {
  TableTree tree;
  REQUIRE(tree.said() == "equal");
  REQUIRE(tree.head(tree.root)[0] == '\x05');
  const std::string leaf = "the database is damaged: page " + std::to_string(tree.left_leaf);
  const std::string root = "the database is damaged: page " + std::to_string(tree.root);
  SECTION("a page of another kind") {
    tree.head(tree.left_leaf)[0] = '\x0A';
    CHECK(tree.said() == leaf + " is not a page of a table");
  }
  SECTION("more cells than there is room for") {
    TableTree::put(tree.head(tree.left_leaf) + 3, 60000, 2);
    CHECK(tree.said() == leaf + " cannot hold 60000 cells");
  }
  SECTION("an empty leaf") {
    TableTree::put(tree.head(tree.left_leaf) + 3, 0, 2);
    CHECK(tree.said() == leaf + " is empty");
  }
  SECTION("a cell outside of the page") {
    TableTree::put(tree.head(tree.left_leaf) + 8 + 2 * 2, 511, 2);
    CHECK(tree.said() == leaf + " is wrong: cell 2 lies outside of the page");
  }
  SECTION("rows out of order") {
    std::swap_ranges(tree.head(tree.left_leaf) + 8, tree.head(tree.left_leaf) + 10, tree.head(tree.left_leaf) + 10);
    CHECK(tree.said() == leaf + " is wrong: cell 1 is out of order");
  }
  SECTION("a row that is longer than the file") {
    std::copy_n("\x87\xFF\xFF\xFF\x7F", 5, tree.cell(tree.left_leaf, 0));
    CHECK(tree.said().starts_with(leaf));
  }
  SECTION("a record whose values are longer than the row") {
    tree.cell(tree.left_leaf, 0)[3] = '\x06';
    CHECK(tree.said() == leaf + " is wrong: cell 0 is no record");
  }
  SECTION("a child that is not there") {
    TableTree::put(tree.cell(tree.root, 0), 60000, 4);
    CHECK(tree.said() == root + " names page 60000, which is not there");
  }
  SECTION("a tree that goes round in circles") {
    TableTree::put(tree.cell(tree.root, 0), tree.root, 4);
    CHECK(tree.said().starts_with(root + " is wrong: cell 1 is out of order"));
    CHECK(tree.said(3).starts_with(root));
  }
  SECTION("a leaf that is there twice") {
    TableTree::put(tree.head(tree.root) + 8, tree.child(tree.root, 0), 4);
    CHECK(tree.said().find("is out of order") != std::string::npos);
  }
}

TEST_CASE("sqlite pages: a file that is cut short while it is read is an error") {
  namespace pages = nl::parsers::sqlite_pages;
  const MadeDatabase made(512);
  made.add_rows(2000, 5);
  const pages::PageFile::Opening opening = pages::PageFile::open(made.file);
  REQUIRE(opening.pages);
  const auto [shape, refusal] = pages::read_shape(*opening.pages, opened_by_sqlite(made.file), "plain");
  REQUIRE(shape);
  pages::TableRows rows(*opening.pages, *shape, {"start"});
  REQUIRE(rows.next());
  fs::resize_file(made.file, fs::file_size(made.file) / 2);
  try {
    while (rows.next()) {
    }
    FAIL("the rows that are no longer there were read");
  } catch (const nl::Error& error) {
    CHECK(error.message.starts_with("the database became shorter while it was read: it ends before byte "));
    CHECK(error.where == made.file.string());
    CHECK(error.fix == "wait until it is written, then read it again");
  }
}

TEST_CASE("sqlite pages: a chain of overflow pages that goes round in circles ends") {
  const MadeDatabase made(512);
  made.sql("CREATE TABLE long (t BLOB); INSERT INTO long VALUES (zeroblob(4000))");
  SQLite::Database database = opened_by_sqlite(made.file);
  const int root = database.execAndGet("SELECT rootpage FROM sqlite_master WHERE name = 'long'").getInt();
  std::string bytes = read_text(made.file);
  const std::size_t first = static_cast<std::size_t>(root) * 512;  // the page behind the leaf
  REQUIRE(bytes.substr(first, 4) == std::string({0, 0, 0, static_cast<char>(root + 2)}));
  const auto with_link = [&](std::uint32_t page) {
    for (int i = 0; i < 4; ++i) bytes[first + static_cast<std::size_t>(i)] = static_cast<char>(page >> 8 * (3 - i));
    TableComparison found;
    compare_file(made.folder.file("changed.sqlite", bytes), 1, [&](const std::string& table, const TableComparison& each) {
      if (table == "long") found = each;
    });
    return found;
  };
  // As often as the row is long; SQLite reads the same.
  CHECK(with_link(static_cast<std::uint32_t>(root + 1)).agreement == Agreement::kEqual);
  CHECK(with_link(0).detail == "the database is damaged: page " + std::to_string(root + 1) + " names page 0, which is not there");
  CHECK(with_link(1).detail == "the database is damaged: page " + std::to_string(root + 1) + " names page 1 as a part of a row");
}

TEST_CASE("sqlite pages: ten thousand damaged files are read as SQLite reads them, or refused by name") {
  Outcomes outcomes;
  unsigned seed = 1;
  const int times = 10'000 / 8;
  for (const char* encoding : {"UTF-8", "UTF-16le"})
    for (const char* vacuum : {"NONE", "FULL"}) {
      const MadeDatabase made(512, encoding, vacuum);
      made.add_rows(25, seed);
      made.sql(
          "DELETE FROM mixed WHERE id % 5 = 0; CREATE TABLE grown (a INTEGER); INSERT INTO grown VALUES (1), (2); "
          "ALTER TABLE grown ADD COLUMN b INTEGER DEFAULT 77");
      compare_damaged(made, 512, times, seed++, outcomes);
      const MadeDatabase larger(1024, encoding, vacuum);
      larger.add_rows(12, seed);
      compare_damaged(larger, 1024, times, seed++, outcomes);
    }
  CHECK(outcomes[Agreement::kEqual] > 5000);
  CHECK(outcomes[Agreement::kDamaged] > 1000);
  CHECK(outcomes[Agreement::kRefused] > 1000);
}

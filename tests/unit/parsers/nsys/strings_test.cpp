#include "parsers/nsys/strings.h"

#include "tests/unit/parsers/nsys/crafted.h"

using namespace nl;
using namespace nl::parsers;

TEST_CASE("UTF-8 is left as it is") {
  for (const char* text : {"", "plain", "\xC3\xA9", "\xE4\xB8\xAD", "\xF0\x9F\x98\x80", "\xEF\xBF\xBD", "\xED\x9F\xBF", "\xF4\x8F\xBF\xBF"})
    CHECK(!mended_utf8(text).has_value());
}

TEST_CASE("what is not UTF-8 becomes U+FFFD, one for each longest beginning of a character") {
  const std::string bad = "\xEF\xBF\xBD";
  CHECK(mended_utf8("a\xFF"
                    "b") == "a" + bad + "b");
  CHECK(mended_utf8("\xC3") == bad);  // cut short
  CHECK(mended_utf8("\xE4\xB8") == bad);
  CHECK(mended_utf8("\xF0\x9F\x98!") == bad + "!");
  CHECK(mended_utf8("\xC0\xAF") == bad + bad);            // overlong
  CHECK(mended_utf8("\xED\xA0\x80") == bad + bad + bad);  // a surrogate
  CHECK(mended_utf8("\xF4\x90\x80\x80") == bad + bad + bad + bad);
  CHECK(mended_utf8("\x80x\xC3\xA9") == bad + "x\xC3\xA9");
}

TEST_CASE("an id that is asked for twice is looked up, mended and missed once") {
  const char* const key = GENERATE("INTEGER NOT NULL PRIMARY KEY", "INTEGER");  // looked up one by one, or loaded whole
  test::CraftedExport made;
  made.sql(std::string("CREATE TABLE StringIds (id ") + key +
           ", value TEXT); INSERT INTO StringIds VALUES (1, 'gemm'), (2, CAST(x'61FF' AS TEXT)), (3, NULL)");
  const NsysDatabase database(made.file);
  StringPool pool;
  NsysStrings strings(database, pool);
  for (int time = 0; time < 2; ++time) {
    CHECK(pool[strings.by_id(1)] == "gemm");
    CHECK(pool[strings.by_id(2)] == "a\xEF\xBF\xBD");
    CHECK(strings.by_id(3) == StringId());
    CHECK_FALSE(strings.find(4).has_value());
  }
  CHECK(strings.mended() == 1);
  CHECK(strings.missing() == 2);
}

TEST_CASE("an export without strings misses every id") {
  test::CraftedExport made;
  made.sql(GENERATE(as<std::string>(), "CREATE TABLE other (id INTEGER)", "CREATE TABLE StringIds (id INTEGER PRIMARY KEY)"));
  const NsysDatabase database(made.file);
  StringPool pool;
  NsysStrings strings(database, pool);
  CHECK_FALSE(strings.find(1).has_value());
  CHECK_FALSE(strings.find(1).has_value());
  CHECK(strings.missing() == 1);
}

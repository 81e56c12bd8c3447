#include "model/visible_text.h"

#include "tests/catch.h"

TEST_CASE("visible: no control character is left, and JSON reads back what stood there") {
  CHECK(nl::visible("\x1b[31mred\x1b[0m") == "\\u001b[31mred\\u001b[0m");
  CHECK(nl::visible(std::string_view("a\0b", 3)) == "a\\u0000b");
  CHECK(nl::visible("\r\b\x7f") == "\\u000d\\u0008\\u007f");
  CHECK(nl::visible("\xc2\x9b"
                    "31m") == "\\u009b31m");  // C1, as UTF-8
  CHECK(nl::visible("\xe2\x80\xae"
                    "evil") == "\\u202eevil");  // turns the line around
  CHECK(nl::visible("two\nlines\tand a tab") == "two\nlines\tand a tab");
  CHECK(nl::visible_line("two\nlines\tand a tab") == "two lines and a tab");
  CHECK(nl::visible("größe µs 日本 …") == "größe µs 日本 …");
}

TEST_CASE("visible: bytes that are no UTF-8 become the replacement character, one each") {
  for (const char* bytes : {"\x9b", "\xc0\xaf", "\xe2\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xff"}) {
    const std::string out = nl::visible(bytes);
    CHECK(out.find("\xef\xbf\xbd") == 0);
    CHECK(out.size() % 3 == 0);
  }
  CHECK(nl::visible("a\x9b"
                    "b") ==
        "a\xef\xbf\xbd"
        "b");
}

TEST_CASE("cut_to: places are counted, not bytes") {
  CHECK(nl::columns_of("größe") == 5);
  CHECK(nl::columns_of("日本") == 4);
  CHECK(nl::columns_of("e\xcc\x81") == 1);  // an accent that combines
  CHECK(nl::cut_to("größe", 5) == "größe");
  CHECK(nl::cut_to("größer", 5) == "größ…");
  CHECK(nl::cut_to("日本語", 5) == "日本…");
  CHECK(nl::cut_to("日本語", 4) == "日…");
  CHECK(nl::cut_to("ab", 0) == "");
}

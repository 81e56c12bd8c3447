#include "model/visible_text.h"

#include "tests/catch.h"

using nl::wrapped;

TEST_CASE("wrapped text: lines break at blanks, and those below the first have their indent") {
  CHECK(wrapped("one two three four", 9, 0, 2) == "one two\n  three\n  four");
  CHECK(wrapped("one two three four", 9, 4, 4) == "one\n    two\n    three\n    four");
  CHECK(wrapped("one two", 7, 0, 2) == "one two");
  CHECK(wrapped("one two", 6, 0, 2) == "one\n  two");
  CHECK(wrapped("one two three", 0, 4, 4) == "one two three");
  CHECK(wrapped("one two", 9, 8, 2) == "\n  one two");  // no room behind what stands before it
  CHECK(wrapped("", 10, 0, 0).empty());
}

TEST_CASE("wrapped text: a long word stays whole, blanks inside a line stay, and places are counted, not bytes") {
  CHECK(wrapped("at /a/very/long/path of it", 10, 0, 2) == "at\n  /a/very/long/path\n  of it");
  CHECK(wrapped("a   # b", 10, 0, 2) == "a   # b");
  CHECK(wrapped("äöü äöü", 7, 0, 2) == "äöü äöü");
}

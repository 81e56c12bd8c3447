#include "exporters/report/text/markdown.h"

#include "tests/catch.h"

using nl::exporters::markdown_code, nl::exporters::markdown_text;

TEST_CASE("markdown text: a name makes no link, no tag and no second cell") {
  CHECK(markdown_text("[click](https://evil.example)") == "[click]\\(https:\\//evil.example)");
  CHECK(markdown_text("![x](javascript:alert(1))") == "![x]\\(javascript:alert(1))");
  CHECK(markdown_text("[x]: http://evil.example") == "[x]\\: http:\\//evil.example");
  CHECK(markdown_text("[x][y]") == "[x]\\[y]");
  CHECK(markdown_text("WWW.evil.example www.evil.example") == "WWW\\.evil.example www\\.evil.example");
  CHECK(markdown_text("<https://evil.example>") == "\\<https:\\//evil.example>");
  CHECK(markdown_text("a|b <unnamed>") == "a\\|b \\<unnamed>");
  CHECK(markdown_text("\x1b[31mred\n") == " [31mred ");
}

TEST_CASE("markdown text: what turns the direction of a line is shown, and what is no UTF-8 is replaced") {
  CHECK(markdown_text("gemm\u202Egnp.exe") == "gemm\\u202egnp.exe");
  CHECK(markdown_code("a\u2066b") == "`a\\u2066b`");
  CHECK(markdown_text("3.2\xff\xfe") == "3.2\uFFFD\uFFFD");
  CHECK(markdown_text("größe\x1b\n") == "größe  ");
}

TEST_CASE("markdown text: a backslash of the name does not take ours away") {
  CHECK(markdown_text("\\<b>") == "\\\\\\<b>");  // \<b> is shown as it is
  CHECK(markdown_text("\\\\|") == "\\\\\\\\\\|");
  CHECK(markdown_text("a\\b") == "a\\b");
}

TEST_CASE("markdown text: names of kernels stay as they are") {
  for (const char* name : {"void gemm<4>(T1 const*, int)", "f(int)::[lambda() [with T = int]]::operator ()", "at::native::add_kernel",
                           "ns::f(int [4])", "a/b//c", "x.y.z", "operator[]"})
    CHECK(markdown_text(name) == name);
  CHECK(markdown_text("operator[](int)") == "operator[]\\(int)");  // else an empty link
}

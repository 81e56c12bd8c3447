#include "servers/mcp/line_reader.h"

#include <string>

#include "tests/catch.h"

using nl::servers::mcp::LineReader;

namespace {

std::vector<LineReader::Line> take_text(LineReader& reader, const std::string& text) { return reader.take(text.data(), text.size()); }

}  // namespace

TEST_CASE("servers mcp lines: they come whole, however they are cut") {
  LineReader reader(100);
  CHECK(take_text(reader, "ab").empty());
  const auto lines = take_text(reader, "c\nde\r\n\nf");
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].text == "abc");
  CHECK(lines[1].text == "de");
  CHECK(lines[2].text.empty());
  CHECK(take_text(reader, "\n").at(0).text == "f");
}

TEST_CASE("servers mcp lines: a line that is too long is reported and not kept, and the next is read") {
  LineReader reader(10);
  for (int i = 0; i < 1000; ++i) CHECK(take_text(reader, std::string(100, 'x')).empty());
  const auto lines = take_text(reader, "x\nnext\n");
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].too_long);
  CHECK(lines[0].text.empty());
  CHECK_FALSE(lines[1].too_long);
  CHECK(lines[1].text == "next");
  CHECK_FALSE(take_text(reader, std::string(10, 'y') + "\n").at(0).too_long);
  CHECK(take_text(reader, std::string(11, 'y') + "\n").at(0).too_long);
}

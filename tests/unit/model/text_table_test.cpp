#include "model/text_table.h"

#include "model/visible_text.h"
#include "tests/catch.h"

namespace {

nl::TextTable sums() {
  return {{"Name", "Share", "Total", "Min", "Max"},
          {{"ampere_sgemm_128x64_tn_with_a_long_name", "62.5", "1,000", "10", "20"}, {"reduce", "7.5", "20", "1", "2"}},
          {false, true, true, true, true},
          2};
}

std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0;
  for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    longest = std::max(longest, end - begin);
  return longest;
}

}  // namespace

TEST_CASE("text table: numbers stand to the right, texts to the left, and no line ends with blanks") {
  nl::TextTable table = sums();
  table.ruled = true;
  CHECK(nl::fitted(table, 0).text ==
        "Name                                     Share  Total  Min  Max\n"
        "---------------------------------------  -----  -----  ---  ---\n"
        "ampere_sgemm_128x64_tn_with_a_long_name   62.5  1,000   10   20\n"
        "reduce                                     7.5     20    1    2\n");
}

TEST_CASE("text table: texts are left out where the table says so, after the numbers") {
  nl::TextTable table{{"run", "n", "model", "tags"},
                      {{"a-run-with-an-id-of-its-own", "1", "a-model-with-a-long-name-too", "one-tag-or-another"}},
                      {false, true, false, false},
                      0};
  CHECK(nl::fitted(table, 60).left_out == std::vector<std::string>{"n"});
  table.texts_always_shown = 1;
  CHECK(nl::fitted(table, 60).left_out == std::vector<std::string>{"tags", "n"});
  CHECK(nl::fitted(table, 30).left_out == std::vector<std::string>{"model", "tags", "n"});
  CHECK(nl::fitted(table, 10).text.starts_with("run\n"));
}

TEST_CASE("text table: texts are cut first, then numbers are left out, and the first of those stay") {
  const auto cut = nl::fitted(sums(), 60);
  CHECK(longest_line(cut.text) <= 62);  // an ellipsis has three bytes
  CHECK(cut.text.find("ampere_sgemm_128x64_tn_with_a_long_…   62.5  1,000   10   20\n") != std::string::npos);
  CHECK(cut.left_out.empty());
  const auto narrow = nl::fitted(sums(), 42);
  CHECK(narrow.left_out == std::vector<std::string>{"Min", "Max"});
  CHECK(narrow.text.find("ampere_sgemm_128x64_tn_with…   62.5  1,000\n") != std::string::npos);
  CHECK(nl::fitted(sums(), 5).left_out == std::vector<std::string>{"Min", "Max"});                     // narrower it does not become
  CHECK(nl::fitted(sums(), 32).text.find("ampere_sgemm_128x…   62.5  1,000\n") != std::string::npos);  // where nothing more can be left out
}

TEST_CASE("text table: a name with control characters and line ends stays in its line") {
  CHECK(nl::fitted({{"kernel"}, {{"\x1b[31mred\nblue"}}, {}}, 0).text == "kernel\n\\u001b[31mred blue\n");
}

TEST_CASE("text table: texts are cut below 12 places before a line grows too long") {
  nl::TextTable table{{"kernel of side A", "stage of it all", "A", "B"},
                      {{"a kernel of a long name", "a stage of a long name", "235 tokens/s", "235 tokens/s"}},
                      {false, false, true, true},
                      2};
  const std::string text = nl::fitted(table, 46).text;
  for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    CHECK(nl::columns_of(text.substr(begin, end - begin)) <= 46);
}

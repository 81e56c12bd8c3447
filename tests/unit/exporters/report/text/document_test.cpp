#include "exporters/report/text/document.h"

#include <string>

#include "exporters/report/html/html.h"
#include "exporters/report/text/markdown.h"
#include "tests/catch.h"
#include "tests/unit/files.h"

using namespace nl::exporters::report;
using nl::test::count;
using nl::test::has;

namespace {

std::string as_markdown(Blocks blocks) { return nl::exporters::markdown({"T", "", {}, std::move(blocks)}).substr(5); }
std::string as_html(const Blocks& blocks) { return nl::exporters::html::blocks_markup(blocks); }

// The same text wherever a block holds one.
Blocks all_blocks(const std::string& text) {
  Table table{text, {{text}, {text, kRight}}};
  table.rows = {{Cell(Text(text), 1.0, text), Cell(code(text))}, {Cell(strong(text)), Cell(muted(text))}};
  table.foot = {{text, text}};
  table.text_note = text;
  table.sortable = true;
  Card card;
  card.id = card.title = text;
  card.about = card.gain = card.evidence_title = text;
  card.evidence.items = {{text, nl::exporters::report::Mark::kAgainst}};
  card.fixes = {{{text}}, true};
  RooflineChart roofline{{{1, 1e9, text, text}, {2, 2e9, text, text, "p-none", 1}}, {{4e9, text}}, 1e9, text};
  return {Paragraph{text},
          Heading{text, text},
          List{{{text}}},
          table,
          Legend{{{"b-copy", text, text}}},
          Tiles{{{text, text, text}}},
          Notice{nl::RunStatus::kFailed, text, {text}},
          card,
          Figure(BarChart{{{text, text, {{50, "b-copy", text, text}}, 100, text, text, 1, 2}}}),
          Figure(ColumnChart{text, 1, {{text, false, 1, {{1, "s-0", text}}}}}),
          Figure(Explorer{text}),
          Figure(CurveChart{10, text, {{text, text, text, text, "b-copy", 0, 10, 1, {1.0}}}, {{0, 5, false, text}}}),
          Figure(roofline),
          Fold{text, {Paragraph{Text(text, Inline::kName)}, Paragraph{Text(text, Inline::kShortName, text)}}}};
}

}  // namespace

TEST_CASE("a page escapes the text of every block, in elements and in attributes") {
  const std::string page = as_html(all_blocks("<i>&\"'</i>"));
  CHECK_FALSE(has(page, "<i>"));
  CHECK_FALSE(has(page, "&\"'"));
  CHECK(has(page, "aria-label=\"&lt;i&gt;&amp;&quot;&#39;&lt;/i&gt;\""));
  CHECK(has(page, "title=\"&lt;i&gt;&amp;&quot;&#39;&lt;/i&gt;\""));
  CHECK(has(page, "<code>&lt;i&gt;&amp;&quot;&#39;&lt;/i&gt;</code>"));
}

TEST_CASE("Markdown escapes what would end a cell or open a tag, in every block") {
  const std::string text = as_markdown(all_blocks("a|b\n<img>"));
  CHECK(count(text, " <img>") == count(text, " <img>`"));  // in code spans only
  CHECK_FALSE(has(text, "a|b"));
  CHECK(has(text, "| a\\|b \\<img> | `a\\|b <img>` |"));  // code keeps its tag, and not its pipe
  CHECK(has(text, "- against it: a\\|b \\<img>\n"));
}

TEST_CASE("a code span outside a table keeps its pipe, and its backticks inside a longer fence") {
  CHECK(as_markdown({Paragraph{code("a|b")}}) == "`a|b`\n");
  CHECK(as_markdown({Paragraph{Text("run ") + code("`x`")}}) == "run `` `x` ``\n");
}

TEST_CASE("Markdown leaves figures out, and the headings and captions that stand with them alone") {
  const Figure bars = BarChart{{{"x", "", {{1, "a"}}, 1, "", "", 0, 0}}};
  CHECK(as_markdown({Paragraph{"one"}, Heading{"Picture"}, bars, Paragraph{"what it shows", Role::kCaption}, Heading{"Next"},
                     Paragraph{"two"}}) == "one\n\n### Next\n\ntwo\n");
  CHECK(has(as_html({Heading{"Picture"}, bars}), "<h3>Picture</h3>\n<div class=\"chart\">"));
  Section drawn{"x", "X", "Drawn", {Paragraph{"seen"}}, true};
  CHECK(nl::exporters::markdown({"T", "", {}, {}, {drawn}}) == "# T\n\n");
}

TEST_CASE("a table: a text has its first rows and narrow columns, a page has all") {
  Table table{"label", {{"name"}, {"n", kRight}, {"command", kLeft, kWide}}};
  table.rows = {{"a", Cell("1", 1.0), "run"}, {"b", Cell("2", 2.0, "2 ns"), "run"}};
  table.foot = {{"sum", "3"}};
  table.text_rows = 1;
  table.text_note = "2 in all.";
  CHECK(as_markdown({table}) == "| name | n |\n| --- | ---: |\n| a | 1 |\n\n2 in all.\n");
  table.text_rows = 2;
  CHECK(has(as_markdown({table}), "| b | 2 |\n| **sum** | 3 |\n"));
  table.sortable = true;
  const std::string page = as_html({table});
  CHECK(has(page, "<td class=\"n\" data-v=\"2\" title=\"2 ns\">2</td><td>run</td>"));
  CHECK(has(page, "<tfoot>\n<tr><th scope=\"row\">sum</th><td class=\"n\">3</td></tr>\n</tfoot>"));
}

TEST_CASE("Markdown: what a row lacks is empty, and a tag may begin with any letter") {
  Table table{"", {{"a"}, {"b"}}};
  table.rows = {{"1"}};
  CHECK(as_markdown({table}) == "| a | b |\n| --- | --- |\n| 1 |  |\n");
  CHECK(as_markdown({Paragraph{"<a <z <A <Z </ <! <? <1 < <"}}) == "\\<a \\<z \\<A \\<Z \\</ \\<! \\<? <1 < <\n");
}

TEST_CASE("Markdown: a name of ninety characters is left whole") {
  const auto shown = [](std::size_t length) {
    return as_markdown({Paragraph{Text("f<" + std::string(length - 3, 'x') + ">", Inline::kName)}});
  };
  CHECK(has(shown(90), "xxx>"));
  CHECK(shown(91) == "f<...> [1]\n");
  CHECK(as_markdown({Paragraph{Text(std::string(), Inline::kName) + Text("a")}}) == "a\n");
}

TEST_CASE("a page: a name of sixty-four characters is left whole, a longer one is cut") {
  const auto shown = [](const std::string& name) { return as_html({Paragraph{Text(name, Inline::kName)}}); };
  CHECK(shown(std::string(64, 'n')) == "<p><code>" + std::string(64, 'n') + "</code></p>\n");
  CHECK(has(shown(std::string(65, 'n')),
            "<summary><code>" + std::string(64, 'n') + "…</code></summary><code>" + std::string(65, 'n') + "</code>"));
}

TEST_CASE("names that were shortened are numbered once and listed in full where the document says so") {
  const std::string name = "void f<" + std::string(100, 'x') + ">(int)";
  Document document{"T", "", {}, {Paragraph{Text(name, Inline::kName)}, Paragraph{Text(name, Inline::kName)}}};
  CHECK(nl::exporters::markdown(document) == "# T\n\nvoid f<...>(...) [1]\n\nvoid f<...>(...) [1]\n");
  document.full_names = true;
  CHECK(has(nl::exporters::markdown(document), "\n## Names in full\n\n1. void f\\<xxx"));
  CHECK(has(as_html({Paragraph{Text(name, Inline::kName)}}), "<details class=\"name\"><summary><code>f</code></summary>"));
}

TEST_CASE("document: picked columns read the same cells under other titles, a number in another way") {
  const ColumnsOf<int> all = {{{"Name", kLeft, kWide, "name"}, [](int value) { return "n" + std::to_string(value); }},
                              {{"Even", kLeft, kAlways, "even"}, [](int value) { return Cell(value % 2 == 0 ? "yes" : "—"); }},
                              {{"Time", kRight, kAlways, "time"}, [](int value) { return Cell("about", value); }}};
  const std::string picks = as_markdown({table_of(
      "Picked",
      picked(all, {{"time_ms", "time", [](double value) { return std::to_string(static_cast<int>(value) * 10); }}, {"id", "name"}}),
      std::vector<int>{1, 2})});
  CHECK(picks == "| time_ms | id |\n| ---: | --- |\n| 10 | n1 |\n| 20 | n2 |\n");
  CHECK(as_markdown({table_of("All", all, std::vector<int>{2})}) == "| Even | Time |\n| --- | ---: |\n| yes | about |\n");
  CHECK(picked(all, {{"gone", "no such key"}}).empty());
}

TEST_CASE("document: texts and numbers are columns, in the order in which they are added") {
  const Table table{"T", texts({"a", "b"}) + numbers({"c"}) + texts({"d"}, kWide), {{"1", "2", "3", "4"}}};
  CHECK(as_markdown({table}) == "| a | b | c |\n| --- | --- | ---: |\n| 1 | 2 | 3 |\n");
}

#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "model/rule.h"

// What a report says, in no format yet. Sections make blocks of a Run; markdown.h and html/html.h write them. All text is
// plain: each renderer escapes it.
namespace nl::exporters::report {

enum class Inline : std::uint8_t {
  kPlain,
  kStrong,
  kCode,
  kMuted,
  kName,       // of a kernel: shortened; Markdown numbers it and lists it in full, a page unfolds it
  kShortName,  // the same without a number
};

struct Span {
  std::string text;
  Inline style = Inline::kPlain;
  std::string link = {};   // "#finding-1": of a page only
  std::string brief = {};  // of a kernel's name, what a page shows folded; empty: as it reads alone
};

struct Text {
  std::vector<Span> spans;

  Text() = default;
  Text(const char* plain) : Text(std::string(plain)) {}
  Text(std::string plain, Inline style = Inline::kPlain, std::string link = {}) {
    if (!plain.empty()) spans.push_back({std::move(plain), style, std::move(link)});
  }
  bool empty() const { return spans.empty(); }
  Text& operator+=(const Text& more) {
    spans.insert(spans.end(), more.spans.begin(), more.spans.end());
    return *this;
  }
  friend Text operator+(Text left, const Text& right) { return left += right; }
};
inline Text strong(std::string text) { return Text(std::move(text), Inline::kStrong); }
inline Text code(std::string text) { return Text(std::move(text), Inline::kCode); }
inline Text muted(std::string text) { return Text(std::move(text), Inline::kMuted); }

struct Cell {
  Text text;
  std::optional<double> value;  // what it is sorted by where that is a number
  std::string tip;              // shown when pointed at
  std::string colour;           // a patch of it before the text: "b-starved"
  std::uint32_t indent = 0;
  std::string brief = {};   // of a page: shown in the place of the text, which is for scripts
  std::uint32_t shade = 0;  // of a page: how much of it there is, 0 to 4, beside the text that says it

  Cell(const char* plain) : text(plain) {}
  Cell(std::string plain) : text(std::move(plain)) {}
  Cell(Text text, std::optional<double> value = std::nullopt, std::string tip = {})
      : text(std::move(text)), value(value), tip(std::move(tip)) {}
};

enum Align : bool { kLeft, kRight };
enum Room : bool { kAlways, kWide };  // kWide: a page has room for it, a text has not
struct Column {
  std::string title;
  Align align = kLeft;
  Room room = kAlways;
  // For a page's script: the column's name, whether it is off at first, and whether the values of rows may be added.
  const char* key = "";
  bool hidden = false, sum = false;
};
// The columns of a plain table: texts({"Stage"}) + numbers({"Mean", "p99"}).
inline std::vector<Column> texts(std::initializer_list<std::string> titles, Room room = kAlways) {
  std::vector<Column> out;
  for (const std::string& title : titles) out.push_back({title, kLeft, room});
  return out;
}
inline std::vector<Column> numbers(std::initializer_list<std::string> titles, Room room = kAlways) {
  std::vector<Column> out;
  for (const std::string& title : titles) out.push_back({title, kRight, room});
  return out;
}
inline std::vector<Column> operator+(std::vector<Column> left, const std::vector<Column>& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}
struct Row : std::vector<Cell> {
  using vector::vector;
  std::string id = {};                                         // of a page: "kernel-3"
  bool in_page = true;                                         // false: a page says it in another row
  std::vector<std::pair<const char*, std::string>> data = {};  // what a page's script groups and filters by: {"kind", "gemm"}
};

struct Table {
  std::string label;  // for those who hear it
  std::vector<Column> columns;
  std::vector<Row> rows = {};
  std::vector<Row> foot = {};  // below the rows, never sorted away
  bool sortable = false, filter = false;
  std::size_t text_rows = std::numeric_limits<std::size_t>::max();  // Markdown shows no more,
  std::string text_note = {};                                       // and says this below
  const char* name = "";                                            // for a page's script
};

// A column, and how its cell is read from what a row is of.
template <class Entry>
struct ColumnOf {
  Column head;
  std::function<Cell(const Entry&)> read;
};
template <class Entry>
using ColumnsOf = std::vector<ColumnOf<Entry>>;

template <class Entry>
Row row_of(const ColumnsOf<Entry>& columns, const Entry& entry) {
  Row row;
  for (const auto& column : columns) row.push_back(column.read(entry));
  return row;
}
template <class Entry, class Entries = std::vector<Entry>>
Table table_of(std::string label, const ColumnsOf<Entry>& columns, const Entries& entries) {
  Table table{std::move(label), {}};
  for (const auto& column : columns) table.columns.push_back(column.head);
  for (const Entry& entry : entries) table.rows.push_back(row_of(columns, entry));
  return table;
}

// Columns of a larger table by their keys, under titles of their own. `text` says a cell's number in another way.
struct PickedColumn {
  std::string title;
  std::string_view key;
  std::string (*text)(double value) = nullptr;
};
template <class Entry>
ColumnsOf<Entry> picked(const ColumnsOf<Entry>& all, const std::vector<PickedColumn>& picks) {
  ColumnsOf<Entry> out;
  for (const PickedColumn& pick : picks)
    for (const auto& column : all)
      if (column.head.key == pick.key)
        out.push_back({{pick.title, column.head.align}, [read = column.read, text = pick.text](const Entry& entry) {
                         Cell cell = read(entry);
                         return text != nullptr && cell.value ? Cell(text(*cell.value)) : cell;
                       }});
  return out;
}

enum class Role : std::uint8_t { kPlain, kLead, kMissing, kCaption };
struct Paragraph {
  Text text;
  Role role = Role::kPlain;
};
struct Heading {
  std::string title, id = {};
};

enum class Mark : std::uint8_t { kNone, kHolds, kAgainst, kUnknown };
struct Item {
  Text text;
  Mark mark = Mark::kNone;
};
struct List {
  std::vector<Item> items;
  bool ordered = false;
};

struct Legend {
  struct Entry {
    std::string colour, name, text;
  };
  std::vector<Entry> entries;
  bool with_text = true;   // false: it explains a figure only, which Markdown leaves out
  std::string title = {};  // what of the figure: "GPU"
};

struct Tile {  // a figure to see first
  std::string title, figure, detail;
};
struct Tiles {
  std::vector<Tile> tiles;
};

struct Notice {  // what went wrong with the run
  RunStatus status = RunStatus::kComplete;
  Text text;
  std::vector<Text> items;
};

struct Card {  // a finding
  std::string id;
  std::size_t number = 0;
  Severity severity = Severity::kInfo;
  std::string title;
  bool open = false;
  bool in_text = true;  // false: a page has room for it, a text has not
  Text about, gain;
  Text evidence_title;
  List evidence, fixes;
};

// Figures are data: a page draws them, Markdown leaves them out. What they show stands in a table as well.
struct Segment {
  double value = 0;
  std::string colour;  // "b-starved", "s-2"
  std::string tip = {};
  std::string label = {};  // inside, where it is wide enough
};
struct Bar {
  std::string name, detail;
  std::vector<Segment> segments;  // side by side
  double whole = 0;               // as much as the full width stands for
  std::string figure;             // beside it
  std::string spoken;             // for those who hear it
  double tick = 0, far = 0;       // the median, and a line up to p99; 0: none
  std::string id = {};            // of a page: "budget-decode"
};
struct BarChart {
  std::vector<Bar> bars;
};

struct ColumnChart {
  struct Column {
    std::string tip;
    bool faded = false;
    double value = 0;
    std::vector<Segment> parts;  // on top of each other
  };
  std::string label;
  double scale = 0;  // nanoseconds: as much as the full height stands for
  std::vector<Column> columns;
  std::string unit = {};  // of what stands side by side: "iteration"
};

struct Explorer {     // the timeline that a page's script draws out of its data
  std::string label;  // for those who hear it, and where no script runs
};

struct CurveChart {  // values over time
  struct Curve {
    std::string title, scale, mean, tip, colour;
    double start_ns = 0, end_ns = 0;
    double top = 1;
    std::vector<std::optional<double>> values;
  };
  struct Window {
    double start_ns = 0, end_ns = 0;
    bool faded = false;
    std::string tip;
  };
  double span_ns = 0;
  std::string label;
  std::vector<Curve> curves;
  std::vector<Window> windows;
};

struct RooflineChart {  // FLOP/s over FLOPs a byte, both logarithmic
  struct Point {
    double intensity = 0, flops_per_s = 0;
    std::string name, tip, colour = {};
    std::size_t number = 0;  // as in the table; 0: a stage, under its name
  };
  struct Roof {
    double flops_per_s = 0;
    std::string name;
  };
  std::vector<Point> points;
  std::vector<Roof> roofs;  // the highest first
  double bytes_per_s = 0;   // 0: not known
  std::string memory;
};

struct FlameChart {  // who calls whom, callers above, and how much of the whole each takes
  struct Frame {
    double start = 0, width = 0;  // shares of the whole
    std::size_t depth = 0;
    std::string name, tip, colour;
  };
  std::string label;
  std::vector<Frame> frames;
};

struct StripChart {  // windows below each other on one scale of time, each with its lanes
  struct Part {
    double start_ns = 0, end_ns = 0;
    std::string colour, tip;
    std::string label = {};  // inside, where it is wide enough
  };
  struct Lane {
    std::string title;
    std::vector<Part> parts;
  };
  struct Strip {
    std::string title, figure;
    double length_ns = 0;
    std::vector<Lane> lanes;
    double low_ns = 0, high_ns = 0;  // of a predicted length: its interval; 0: none
  };
  double span_ns = 0;
  std::string label;
  std::vector<Strip> strips;
};
using Figure = std::variant<BarChart, ColumnChart, Explorer, CurveChart, RooflineChart, FlameChart, StripChart>;

struct Block;
using Blocks = std::vector<Block>;
struct Fold {  // a page shows its title only, until it is opened
  std::string title;
  Blocks blocks;
};
struct Block : std::variant<Paragraph, Heading, List, Table, Legend, Tiles, Notice, Card, Figure, Fold> {
  using variant::variant;
};

struct Section {
  std::string id, link;  // link: its name in a page's navigation
  std::string title;
  Blocks blocks = {};
  bool drawn_only = false;  // nothing in it but figures: Markdown leaves it out
};

struct Document {
  std::string title;
  std::string status;              // "complete"; empty: none
  std::vector<std::string> facts;  // beside the title of a page
  Blocks lead = {};
  std::vector<Section> sections = {};
  bool full_names = false;  // ends with the list of names that were shortened
};

}  // namespace nl::exporters::report

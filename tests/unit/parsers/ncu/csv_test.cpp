#include "parsers/ncu/csv.h"

#include <cmath>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "model/error.h"
#include "parsers/ncu/cells.h"
#include "tests/catch.h"
#include "tests/unit/files.h"
#include "tests/unit/remark_texts.h"

using nl::test::kLlama;
using nl::test::kProbe;
using nl::test::read_text;

namespace {

const std::string kDuration = "gpu__time_duration.sum";

std::string replace_all(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) text.replace(at, from.size(), to);
  return text;
}

// A raw page of one metric.
std::string raw_page(const std::string& unit, const std::vector<std::string>& values, const std::string& metric = kDuration) {
  std::string text = "\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"" + metric + "\"\n";
  text += "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"" + unit + "\"\n";
  for (std::size_t i = 0; i < values.size(); ++i)
    text += "\"" + std::to_string(i) + "\",\"7\",\"k\",\"(32, 1, 1)\",\"(4, 2, 1)\",\"0\",\"9.0\",\"" + values[i] + "\"\n";
  return text;
}

double only(const std::string& unit, const std::string& value) {
  const auto report = nl::parsers::parse_ncu_csv(raw_page(unit, {value}), "test");
  REQUIRE(report.launches.size() == 1);
  REQUIRE(report.launches[0].metrics.count(kDuration) == 1);
  return report.launches[0].metrics.at(kDuration);
}

std::uint64_t damaged_rows(const nl::NcuReport& report) {
  std::uint64_t rows = 0;
  for (const auto& [reason, count] : report.rows_damaged) rows += count;
  return rows;
}

// Both printed the same number: to 6 decimals of a scaled unit (raw), or to 2 decimals of the base unit.
// So they may differ by half a unit of the last place of either. ncu chooses one unit per column, by its
// largest value.
bool same_printed(double scaled, double base, double largest) {
  const double unit_factor = largest >= 1e9 ? 1e9 : largest >= 1e6 ? 1e6 : 1e3;
  const double tolerance = 0.5e-6 * unit_factor + 0.5e-2;
  return std::abs(scaled - base) <= tolerance * 1.0001 + std::abs(base) * 1e-12;
}

}  // namespace

TEST_CASE("one report printed with scaled and with base units gives the same launches and values") {
  const auto scaled = nl::parsers::read_ncu_csv(kLlama + "ncu_decode_raw.csv");
  const auto base = nl::parsers::read_ncu_csv(kLlama + "ncu_decode_raw_base.csv");
  CHECK(scaled.page == "raw");
  REQUIRE(scaled.launches.size() == 16);
  REQUIRE(base.launches.size() == 16);
  CHECK(scaled.rows_damaged.empty());
  CHECK(base.rows_damaged.empty());
  std::map<std::string, double> largest;
  for (const auto& launch : base.launches)
    for (const auto& [name, value] : launch.metrics) largest[name] = std::max(largest[name], std::abs(value));
  std::size_t compared = 0;
  for (std::size_t i = 0; i < 16; ++i) {
    const auto& a = scaled.launches[i];
    const auto& b = base.launches[i];
    CHECK(a.kernel_name == b.kernel_name);
    CHECK(a.grid == b.grid);
    CHECK(a.text_metrics == b.text_metrics);
    REQUIRE(a.metrics.size() == b.metrics.size());
    for (const auto& [name, value] : a.metrics) {
      INFO(name << " " << value << " " << b.metrics.at(name));
      CHECK(same_printed(value, b.metrics.at(name), largest.at(name)));
      ++compared;
    }
  }
  CHECK(compared > 16 * 1500);
  CHECK(scaled.launches[0].metrics.at(kDuration) == Approx(3104).epsilon(1e-12));
  CHECK(base.launches[0].metrics.at("dram__bytes.sum.per_second") == Approx(2061855670.10).epsilon(1e-12));
  CHECK(base.launches[0].metrics.count("derived__local_spilling_requests_pct") == 0);  // "no data"
  CHECK(base.launches[0].text_metrics.at("device__attribute_display_name") == "NVIDIA H200");
}

TEST_CASE("the details page agrees with the raw page where they overlap") {
  const auto raw = nl::parsers::read_ncu_csv(kLlama + "ncu_decode_raw_base.csv");
  const auto details = nl::parsers::read_ncu_csv(kLlama + "ncu_decode_details.csv");
  CHECK(details.page == "details");
  CHECK(details.rows_damaged.empty());
  REQUIRE(details.launches.size() == raw.launches.size());
  std::set<std::string> overlap;
  for (std::size_t i = 0; i < raw.launches.size(); ++i) {
    CHECK(details.launches[i].kernel_name == raw.launches[i].kernel_name);
    CHECK(details.launches[i].block == raw.launches[i].block);
    for (const auto& [name, value] : details.launches[i].metrics) {
      const auto found = raw.launches[i].metrics.find(name);
      if (found == raw.launches[i].metrics.end()) continue;
      overlap.insert(name);
      INFO(name << " " << value << " " << found->second);
      // Printed to two decimals of a unit up to giga, so to within half a hundredth of it.
      const double unit = found->second >= 1e9 ? 1e9 : found->second >= 1e6 ? 1e6 : found->second >= 1e3 ? 1e3 : 1;
      CHECK(std::abs(value - found->second) <= 0.00501 * unit + 0.00501);
    }
  }
  // All names of the map that these sections hold.
  CHECK(overlap.size() == 19);
  CHECK(overlap.count(kDuration) == 1);
  CHECK(overlap.count("sm__throughput.avg.pct_of_peak_sustained_elapsed") == 1);
  CHECK(overlap.count("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed") == 1);
  CHECK(overlap.count("sm__warps_active.avg.pct_of_peak_sustained_active") == 1);
  CHECK(details.launches[0].metrics.count("Launch Statistics/Threads") == 1);
}

TEST_CASE("demangled, mangled and details of one report are the same launches") {
  const auto raw = nl::parsers::read_ncu_csv(kProbe + "ncu_prefill_raw.csv");
  const auto mangled = nl::parsers::read_ncu_csv(kProbe + "ncu_prefill_raw_mangled.csv");
  const auto details = nl::parsers::read_ncu_csv(kProbe + "ncu_prefill_details.csv");
  REQUIRE(raw.launches.size() == 6);
  REQUIRE(mangled.launches.size() == 6);
  REQUIRE(details.launches.size() == 6);
  CHECK(mangled.launches[0].kernel_name == "_ZN36_GLOBAL__N__3bf8baaf_8_probe_cu_main5scaleIfEEvPT_iS1_");
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(raw.launches[i].metrics == mangled.launches[i].metrics);
    CHECK(raw.launches[i].metrics.at(kDuration) == details.launches[i].metrics.at(kDuration));
    REQUIRE(raw.launches[i].ranges.size() == 1);
    CHECK(raw.launches[i].ranges[0].domain == "LLM");
    CHECK(raw.launches[i].ranges[0].name == "prefill");
    CHECK(raw.launches[i].pid == 1838);
    CHECK(details.launches[i].stream == raw.launches[i].stream);
  }
}

TEST_CASE("a German or French print of the same report gives the same values") {
  const std::string english = read_text(kLlama + "ncu_decode_raw_base.csv");
  const auto expected = nl::parsers::parse_ncu_csv(english, "en");
  // Only the metric cells change; the header, names and dimensions hold other commas and points.
  const auto translate = [&](const std::string& group, const std::string& decimal) {
    std::string out, row;
    std::size_t lines = 0;
    for (std::size_t at = 0; at < english.size();) {
      const std::size_t end = std::min(english.find('\n', at), english.size());
      row = english.substr(at, end - at);
      at = end + 1;
      if (++lines > 2) {
        const std::size_t values = row.find("\",\"9.0\",") + 8;
        std::string cells = replace_all(row.substr(values), "\",\"", "\x01");
        cells = replace_all(replace_all(replace_all(cells, ",", "\x02"), ".", decimal), "\x02", group);
        row = row.substr(0, values) + replace_all(cells, "\x01", "\",\"");
      }
      out += row + "\n";
    }
    return nl::parsers::parse_ncu_csv(out, "translated");
  };
  for (const auto& [group, decimal] : std::vector<std::pair<std::string, std::string>>{
           {".", ","}, {" ", ","}, {"\xC2\xA0", ","}, {"\xE2\x80\xAF", ","}, {"'", "."}, {"\xE2\x80\x99", "."}, {"", ","}, {"", "."}}) {
    INFO("group '" << group << "' decimal '" << decimal << "'");
    const auto report = translate(group, decimal);
    CHECK(report.rows_damaged.empty());
    REQUIRE(report.launches.size() == expected.launches.size());
    for (std::size_t i = 0; i < report.launches.size(); ++i) CHECK(report.launches[i].metrics == expected.launches[i].metrics);
  }
}

TEST_CASE("a doubtful number is decided by the rest of the file, or counted") {
  SECTION("the other values say that the comma groups") {
    const auto report = nl::parsers::parse_ncu_csv(raw_page("us", {"3,670", "1,234,567"}), "test");
    CHECK(report.launches[0].metrics.at(kDuration) == 3670e3);
  }
  SECTION("the other values say that the comma sets off decimals") {
    const auto report = nl::parsers::parse_ncu_csv(raw_page("us", {"3,670", "0,25"}), "test");
    CHECK(report.launches[0].metrics.at(kDuration) == Approx(3670));
  }
  SECTION("a point that sets off decimals makes the comma a group mark") {
    const auto report = nl::parsers::parse_ncu_csv(raw_page("us", {"3,670", "12.25"}), "test");
    CHECK(report.launches[0].metrics.at(kDuration) == 3670e3);
  }
  SECTION("no kernel takes 3.67 ns") { CHECK(only("ns", "3,670") == 3670); }
  SECTION("nothing decides it") {
    const auto report = nl::parsers::parse_ncu_csv(raw_page("us", {"3,670", "12"}), "test");
    CHECK(report.launches[0].metrics.empty());
    CHECK(report.launches[1].metrics.at(kDuration) == 12e3);
    CHECK(nl::test::texts_of(report.rows_damaged).at("a number that two locales read differently") == 1);
  }
  SECTION("the file contradicts itself") {
    const auto report = nl::parsers::parse_ncu_csv(raw_page("us", {"3,670", "0,25", "0.25"}), "test");
    CHECK(report.launches[0].metrics.empty());
    CHECK(damaged_rows(report) == 1);
  }
}

TEST_CASE("units become ns, bytes, Hz and rates per second") {
  CHECK(only("nsecond", "5") == 5);
  CHECK(only("usecond", "5") == 5e3);
  CHECK(only("us", "5") == 5e3);
  CHECK(only("msecond", "5") == 5e6);
  CHECK(only("ms", "5") == 5e6);
  CHECK(only("second", "5") == 5e9);
  CHECK(only("s", "5") == 5e9);
  CHECK(only("Kbyte", "5") == 5e3);
  CHECK(only("Gbyte", "5") == 5e9);
  CHECK(only("KiB", "5") == 5 * 1024.0);
  CHECK(only("MiB", "5") == 5 * 1048576.0);
  CHECK(only("Mhz", "5") == 5e6);
  CHECK(only("hz", "5") == 5);
  CHECK(only("cycle/nsecond", "1.98") == Approx(1.98e9));
  CHECK(only("byte/second", "5") == 5);
  CHECK(only("Gbyte/s", "5") == 5e9);
  CHECK(only("Kbyte/block", "5") == 5e3);
  CHECK(only("inst/cycle", "0.5") == 0.5);
  CHECK(only("register/thread", "32") == 32);
  CHECK(only("%", "61.5") == 61.5);
  CHECK(only("", "1.5e+06") == 1.5e6);
  CHECK(only("", "-12") == -12);
  CHECK(only("", "119 (3; 4; 112)") == 119);
  const auto report = nl::parsers::parse_ncu_csv(raw_page("Xbyte", {"5"}), "test");
  CHECK(report.launches[0].metrics.empty());
  CHECK(nl::test::texts_of(report.rows_damaged).at("a number of the unknown unit Xbyte") == 1);
}

TEST_CASE("a number that is not finite is missing, and counted") {
  const std::string metric = "smsp__average_ratio.ratio";
  const auto report = nl::parsers::parse_ncu_csv(raw_page("Gbyte", {"nan", "5", "-inf", "1e400", "1e305"}, metric), "test");
  REQUIRE(report.launches.size() == 5);
  for (std::size_t i = 0; i < 5; ++i) CHECK(report.launches[i].metrics.count(metric) == (i == 1 ? 1 : 0));
  CHECK(report.launches[0].text_metrics.empty());
  CHECK(nl::test::texts_of(report.rows_damaged) ==
        std::map<std::string, std::uint64_t>{{metric + " that is not a finite number (counts as missing)", 4}});
}

TEST_CASE("tool messages and the program's output may stand anywhere between the rows") {
  std::string text = raw_page("ns", {"1000", "2000"});
  const auto first_row = text.find("\"0\",\"7\"");
  const auto second_row = text.find("\"1\",\"7\"");
  text.insert(second_row, "tokens: 1,2,3\n==PROF== Profiling \"k\": 0%....100%\r\nunfinished line ");
  text.insert(first_row, "\n\"a quoted greeting\", he said\n");
  text = "\xEF\xBB\xBF==PROF== Connected to process 7\nloading ... " + replace_all(text, "\n", "\r\n");
  const auto report = nl::parsers::parse_ncu_csv(text, "test");
  REQUIRE(report.launches.size() == 2);
  CHECK(report.launches[1].metrics.at(kDuration) == 2000);
  CHECK(report.rows_damaged.empty());
  REQUIRE(report.tool_messages.size() == 2);
  CHECK(report.tool_messages[1] == "==PROF== Profiling \"k\": 0%....100%");
}

TEST_CASE("a file cut off anywhere counts its last row and keeps the others") {
  const std::string text = read_text(kProbe + "ncu_prefill_raw.csv");
  const auto whole = nl::parsers::parse_ncu_csv(text, "whole");
  const std::size_t last_row = text.rfind('\n', text.size() - 2) + 1;
  for (const std::size_t cut : {last_row + 5, last_row + 200, last_row + 1001, text.size() - 2}) {
    INFO("cut at " << cut - last_row);
    const auto report = nl::parsers::parse_ncu_csv(text.substr(0, cut), "cut");
    CHECK(report.launches.size() == whole.launches.size() - 1);
    CHECK(damaged_rows(report) == 1);
  }
  const std::string details = read_text(kProbe + "ncu_prefill_details.csv");
  const auto report = nl::parsers::parse_ncu_csv(details.substr(0, details.size() - 30), "cut");
  CHECK(report.launches.size() == 6);
  CHECK(damaged_rows(report) == 1);
}

TEST_CASE("a row cut off in the middle does not swallow the next") {
  std::string text = raw_page("ns", {"1000", "2000", "3000"});
  const auto second_row = text.find("\"1\",\"7\"");
  const auto third_row = text.find("\"2\",\"7\"");
  text = text.substr(0, second_row + 25) + "\n" + text.substr(third_row);
  const auto report = nl::parsers::parse_ncu_csv(text, "test");
  REQUIRE(report.launches.size() == 2);
  CHECK(report.launches[1].metrics.at(kDuration) == 3000);
  CHECK(damaged_rows(report) == 1);
}

TEST_CASE("numbers without a row of units are left out and counted") {
  std::string text = raw_page("ns", {"1000"});
  const auto units = text.find("\"\",\"\"");
  text.erase(units, text.find('\n', units) + 1 - units);
  const auto report = nl::parsers::parse_ncu_csv(text, "test");
  REQUIRE(report.launches.size() == 1);
  CHECK(report.launches[0].metrics.empty());
  CHECK(damaged_rows(report) == 1);
}

TEST_CASE("two tables in one file are both read") {
  const auto report = nl::parsers::parse_ncu_csv(raw_page("ns", {"1000"}) + raw_page("us", {"2"}), "test");
  REQUIRE(report.launches.size() == 2);
  CHECK(report.launches[1].metrics.at(kDuration) == 2000);
}

TEST_CASE("what is no ncu CSV is an error; nothing profiled is not") {
  try {
    nl::parsers::parse_ncu_csv("kernel,time\nfoo,1\n", "some.csv");
    FAIL("no error");
  } catch (const nl::Error& error) {
    CHECK(error.kind == nl::ErrorKind::kInput);
    CHECK(error.where == "some.csv");
    CHECK(error.fix.find("ncu --import") != std::string::npos);
  }
  REQUIRE_THROWS_AS(nl::parsers::read_ncu_csv(NL_FIXTURES), nl::Error);
  REQUIRE_THROWS_AS(nl::parsers::read_ncu_csv(kLlama + "no-such-file.csv"), nl::Error);
  REQUIRE_THROWS_AS(nl::parsers::parse_ncu_csv("", "empty.csv"), nl::Error);
  const auto nothing = nl::parsers::parse_ncu_csv("==WARNING== No kernels were profiled.\n", "none.csv");
  CHECK(nothing.launches.empty());
  CHECK(nothing.tool_messages.size() == 1);
}

TEST_CASE("range cells: domains, names with colons and quotes, start/end ids") {
  std::vector<nl::NcuRange> ranges;
  nl::parsers::read_ncu_ranges(
      "1606  \"<default domain>:sample:none:none:none:none:none:none\"  "
      "\"LLM:decode_all:none:none:none:none:REGISTERED:decode_all\"  "
      "\"LLM:step 1:2:none:none:none:none:ASCII:step 1:2\"  "
      "\"a:b:x:UINT64:3:ARGB:0xff00ff00:ASCII:x\"  "
      "\"<default domain>:aten::mm, op \"7\":none:none:none:none:none:none\" ",
      nl::RangeStyle::kPushPop, ranges);
  nl::parsers::read_ncu_ranges(" \"12:LLM:decode:all:none:none:none:none:ASCII:decode:all\" ", nl::RangeStyle::kStartEnd, ranges);
  nl::parsers::read_ncu_ranges("", nl::RangeStyle::kPushPop, ranges);
  REQUIRE(ranges.size() == 6);
  CHECK(ranges[0].domain.empty());
  CHECK(ranges[0].name == "sample");
  CHECK(ranges[1].domain == "LLM");
  CHECK(ranges[2].name == "step 1:2");
  CHECK(ranges[2].domain == "LLM");
  CHECK(ranges[3].domain == "a:b");
  CHECK(ranges[3].name == "x");
  CHECK(ranges[4].name == "aten::mm, op \"7\"");
  CHECK(ranges[5].domain == "LLM");
  CHECK(ranges[5].name == "decode:all");
  CHECK(ranges[5].style == nl::RangeStyle::kStartEnd);
}

TEST_CASE("range cells: what is cut or has too few fields is left out, and a name may hold what separates") {
  const auto read = [](const std::string& cell) {
    std::vector<nl::NcuRange> ranges;
    nl::parsers::read_ncu_ranges(cell, nl::RangeStyle::kPushPop, ranges);
    std::string text;
    for (const nl::NcuRange& range : ranges) text += range.domain + "|" + range.name + ";";
    return text;
  };
  CHECK(read("\"LLM:a:ASCII:b:none:none:none:none:ASCII:a:ASCII:b\"") == "LLM|a:ASCII:b;");
  CHECK(read("\"LLM:größe:none:none:none:none:UNICODE:größe\"") == "LLM|größe;");
  CHECK(read("\"alone:none:none:none:none:none:none\"") == "|alone;");
  CHECK(read("\"LLM:too few\" \"LLM:x:none:none:none:none:none:none\"") == "LLM|x;");
  CHECK(read("\"LLM:x:none:none:none:none:none:none\" \"LLM:cut:none") == "LLM|x;");
  CHECK(read("\"x:ASCII:much longer than the rest\"").empty());
}

TEST_CASE("rows without a launch are counted, names over several lines are read, and a row that a new one cuts off is counted") {
  const std::string page = raw_page("ns", {"100", "200"});
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = page;
    text.replace(text.find(from), from.size(), to);
    return nl::parsers::parse_ncu_csv(text, "test");
  };
  using Damage = nl::DamagedRows;
  for (const auto& [from, to] : {std::pair("\"0\",\"7\"", "\"99999999999999999999999\",\"7\""),
                                 {"(32, 1, 1)", "(32, 1)"},
                                 {"(32, 1, 1)", ""},
                                 {"(4, 2, 1)", "(4, 2, 99999999999)"}}) {
    INFO(to);
    const auto report = with(from, to);
    CHECK(report.rows_damaged == Damage{{{nl::Code::kRowWithoutLaunch}, 1}});
    REQUIRE(report.launches.size() == 1);
    CHECK(report.launches[0].metrics.at(kDuration) == 200);
  }
  const auto lines = with("\"k\"", "\"k\nof two\nmore\"");
  CHECK(lines.rows_damaged.empty());
  CHECK(lines.launches.at(0).kernel_name == "k\nof two\nmore");
  CHECK(lines.launches.at(1).metrics.at(kDuration) == 200);
  for (const char* after : {"\n", "\n==PROF== Disconnected\n"}) {
    const auto cut = with(",\"100\"\n", std::string(",\"10") + after);
    CHECK(cut.rows_damaged == Damage{{{nl::Code::kRowCut}, 1}});
    REQUIRE(cut.launches.size() == 1);
    CHECK(cut.launches[0].id == 1);
    CHECK(cut.tool_messages.size() == (std::string(after) == "\n" ? 0 : 1));
  }
}

TEST_CASE("the two Memory Throughputs of the details page are told apart") {
  CHECK(nl::parsers::raw_metric_name("Memory Workload Analysis", "Memory Throughput", true) == "dram__bytes.sum.per_second");
  CHECK(nl::parsers::raw_metric_name("GPU Speed Of Light Throughput", "Memory Throughput", false) ==
        "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed");
  CHECK(nl::parsers::raw_metric_name("Command line profiler metrics", "dram__bytes.sum", false) == "dram__bytes.sum");
}

TEST_CASE("two processes in one page: launches of the same id are told apart, raw and details") {
  const std::string raw = replace_all(raw_page("ns", {"100", "200"}), "\"1\",\"7\"", "\"0\",\"8\"");
  const auto both = nl::parsers::parse_ncu_csv(raw, "test");
  REQUIRE(both.launches.size() == 2);
  CHECK((both.launches[0].pid == 7 && both.launches[1].pid == 8));
  CHECK((both.launches[0].id == 0 && both.launches[1].id == 0));
  CHECK((both.launches[0].metrics.at(kDuration) == 100 && both.launches[1].metrics.at(kDuration) == 200));

  const std::string row = ",\"k\",\"(32, 1, 1)\",\"(4, 2, 1)\",\"0\",\"9.0\",\"GPU Speed Of Light Throughput\",\"Duration\",\"ns\",\"";
  const auto details = nl::parsers::parse_ncu_csv(
      "\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric "
      "Unit\",\"Metric Value\"\n\"0\",\"7\"" +
          row + "100\"\n\"0\",\"8\"" + row + "200\"\n",
      "test");
  REQUIRE(details.launches.size() == 2);
  CHECK((details.launches[0].pid == 7 && details.launches[1].pid == 8));
  REQUIRE(details.launches[1].metrics.size() == 1);
  CHECK((details.launches[0].metrics.begin()->second == 100 && details.launches[1].metrics.begin()->second == 200));
}

TEST_CASE("each column is read by its name, and one that the table lacks leaves its value as it is") {
  const auto launch = nl::parsers::parse_ncu_csv(
                          "ID,Process ID,Device,Grid Size,Block Size,Stream,Context,Kernel Name,gpu__time_duration.sum\n"
                          ",,,,,,,,ns\n"
                          "9,77,3,\"(4, 2, 1)\",\"(32, 8, 2)\",13,5,k,120\n",
                          "test")
                          .launches.at(0);
  CHECK((launch.id == 9 && launch.pid == 77 && launch.context == 5 && launch.stream == 13 && launch.device == 3));
  CHECK((launch.grid == nl::Dim3{4, 2, 1} && launch.block == nl::Dim3{32, 8, 2}));
  CHECK(launch.metrics == std::map<std::string, double>{{kDuration, 120}});

  const auto plain = nl::parsers::parse_ncu_csv(
      "ID,Process ID,Kernel Name,Block Size,Grid Size,gpu__time_duration.sum\n"
      ",,,,,ns\n"
      "9,77,k,\"(32, 8, 2)\",\"(4, 2, 1)\",120\n"
      "the program said x\"1\",\"2\",of this\n",
      "test");
  CHECK(plain.launches.size() == 1);
  CHECK(plain.rows_damaged.empty());
  const auto& bare = plain.launches.at(0);
  CHECK((bare.id == 9 && bare.context == 0 && bare.stream == 0 && bare.device == 0 && bare.ranges.empty()));
  CHECK(bare.metrics == launch.metrics);
}

TEST_CASE("a row whose quotes are broken is counted, and the next one is read") {
  std::string text = raw_page("ns", {"100", "200"});
  text.replace(text.find("\"k\""), 3, "\"k\"x\"\"");
  const auto report = nl::parsers::parse_ncu_csv(text, "test");
  CHECK(report.rows_damaged == nl::DamagedRows{{{nl::Code::kBrokenQuotes}, 1}});
  REQUIRE(report.launches.size() == 1);
  CHECK(report.launches[0].metrics.at(kDuration) == 200);
  const std::string whole = raw_page("ns", {"100", "200"});
  CHECK(nl::parsers::parse_ncu_csv(whole.substr(0, whole.size() - 4), "test").rows_damaged == nl::DamagedRows{{{nl::Code::kRowCut}, 1}});
}

TEST_CASE("each table of a file has its own units and launches, and a table without kernels spoils no other") {
  const std::string table = raw_page("us", {"5"});
  const std::string header = table.substr(0, table.find('\n') + 1), row = table.substr(table.rfind("\"0\",\"7\""));
  const auto without_units = nl::parsers::parse_ncu_csv(table + header + row, "test");
  REQUIRE(without_units.launches.size() == 2);
  CHECK(without_units.launches[0].metrics.at(kDuration) == 5e3);
  CHECK(without_units.launches[1].metrics.empty());
  CHECK(without_units.rows_damaged == nl::DamagedRows{{{nl::Code::kRowBeforeUnits}, 1}});

  const auto useless = nl::parsers::parse_ncu_csv(table + "\"ID\",\"Process ID\",\"Name\"\n\"0\",\"1\",\"cron\"\n", "test");
  REQUIRE(useless.launches.size() == 1);
  CHECK(useless.page == "raw");
  CHECK(useless.rows_damaged == nl::DamagedRows{{{nl::Code::kTableUnusable}, 1}, {{nl::Code::kRowOfUnusableTable}, 1}});

  const std::string details =
      "\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric "
      "Value\"\n"
      "\"0\",\"7\",\"k\",\"(32, 1, 1)\",\"(4, 2, 1)\",\"GPU Speed Of Light\",\"Duration\",\"ns\",\"100\"\n";
  CHECK(nl::parsers::parse_ncu_csv(details + details, "test").launches.size() == 2);
  const std::string short_row = details.substr(0, details.rfind(",\"100\"")) + "\n";
  CHECK(nl::parsers::parse_ncu_csv(short_row, "test").launches.empty());
  CHECK(nl::parsers::parse_ncu_csv(short_row, "test").rows_damaged == nl::DamagedRows{{{nl::Code::kRowWithoutValue}, 1}});
  CHECK(nl::parsers::parse_ncu_csv(details + details, "test").page == "details");
  CHECK(nl::parsers::parse_ncu_csv(details + table, "test").page == "mixed");
}

TEST_CASE("details whose columns are in another order: a short row is read as far as it goes") {
  const auto report = nl::parsers::parse_ncu_csv(
      "\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Metric Value\",\"Metric Name\",\"Metric Unit\",\"Section "
      "Name\"\n"
      "\"0\",\"7\",\"k\",\"(32, 1, 1)\",\"(4, 2, 1)\",\"5\"\n"
      "\"1\",\"7\",\"k\",\"(32, 1, 1)\",\"(4, 2, 1)\",\"5\",\"Duration\"\n",
      "test");
  REQUIRE(report.launches.size() == 2);
  CHECK(report.launches[0].metrics.empty());
}

TEST_CASE("a file that ends inside its header, or before its first row, is cut, not empty") {
  const std::string whole = read_text(kProbe + "ncu_prefill_raw.csv");
  const std::size_t header = whole.find("\"ID\","), rows = whole.find('\n', header);
  for (const std::size_t end : {header + 60, header + 200, rows, rows + 1}) {
    CAPTURE(end);
    const nl::NcuReport report = nl::parsers::parse_ncu_csv(std::string_view(whole).substr(0, end), "x.csv");
    CHECK(report.launches.empty());
    CHECK(report.rows_damaged.count({nl::Code::kHeaderCut}) == 1);
  }
  CHECK(nl::parsers::parse_ncu_csv(whole, "x.csv").rows_damaged.count({nl::Code::kHeaderCut}) == 0);
}

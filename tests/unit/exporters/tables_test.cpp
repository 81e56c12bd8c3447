#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "analysis/nsys_stats/reports.h"
#include "exporters/tables.h"
#include "parsers/nsys/sqlite.h"
#include "tests/catch.h"
#include "tests/unit/files.h"

using namespace nl;
using namespace nl::parsers;
using namespace nl::analysis;
using namespace nl::exporters;
namespace fs = std::filesystem;
using nl::test::Folder;
using nl::test::read_text;

namespace {

fs::path unpacked(const fs::path& gz, const Folder& folder) {
  fs::path out = folder.path / "export.sqlite";
  std::string command = "gzip -dc '" + gz.string() + "' > '" + out.string() + "'";
  REQUIRE(std::system(command.c_str()) == 0);
  return out;
}

// Where the first difference is, so that a failure can be read.
std::string first_difference(const std::string& ours, const std::string& theirs) {
  std::istringstream a(ours), b(theirs);
  std::string line_a, line_b;
  for (int line = 1;; ++line) {
    bool more_a = static_cast<bool>(std::getline(a, line_a)), more_b = static_cast<bool>(std::getline(b, line_b));
    if (!more_a && !more_b) return {};
    if (more_a != more_b || line_a != line_b)
      return "line " + std::to_string(line) + "\n ours: " + (more_a ? line_a : "(end)") + "\n nsys: " + (more_b ? line_b : "(end)");
  }
}

void check_report(const Trace& trace, std::string_view report, const std::string& theirs) {
  StatTable table = make_stats_report(trace, report);
  INFO(report);
  CHECK(table.missing == "");
  std::string ours = stat_csv(table);
  INFO(first_difference(ours, theirs));
  CHECK((ours == theirs));
}

void check_against_nsys(const Trace& trace, const fs::path& folder, const std::string& prefix) {
  for (std::string_view report : stats_report_names())
    check_report(trace, report, read_text(folder / (prefix + "_" + std::string(report) + ".csv")));
}

// The same, where nsys had something to say to only some of the reports.
void check_crafted(const std::string& name, std::size_t reports) {
  fs::path folder = fs::path(NL_FIXTURES) / "crafted";
  Trace trace = read_nsys_sqlite(folder / (name + ".sqlite"));
  std::size_t checked = 0;
  for (std::string_view report : stats_report_names()) {
    fs::path file = folder / (name + "_" + std::string(report) + ".csv");
    if (!fs::exists(file)) {
      INFO(report);
      CHECK(make_stats_report(trace, report).missing != "");
      continue;
    }
    ++checked;
    check_report(trace, report, read_text(file));
  }
  CHECK(checked == reports);
}

}  // namespace

TEST_CASE("reports equal nsys 2025.3 byte for byte") {
  fs::path fixtures(NL_FIXTURES);
  SECTION("a PyTorch model") { check_against_nsys(read_nsys_sqlite(fixtures / "h200-llama/nsys.sqlite"), fixtures / "h200-llama", "nsys"); }
  SECTION("a PyTorch model with operator ranges") {
    Folder folder;
    Trace trace = read_nsys_sqlite(unpacked(fixtures / "h200-llama/nsys_pytorch_ops.sqlite.gz", folder));
    check_against_nsys(trace, fixtures / "h200-llama", "nsys_pytorch_ops");
  }
  SECTION("the probe with graph nodes") {
    check_against_nsys(read_nsys_sqlite(fixtures / "h200-probe/probe_node.sqlite"), fixtures / "h200-probe", "probe_node");
  }
  SECTION("the probe with whole graphs") {
    check_against_nsys(read_nsys_sqlite(fixtures / "h200-probe/probe_graph.sqlite"), fixtures / "h200-probe", "probe_graph");
  }
}

TEST_CASE("reports equal nsys 2025.3 where it matters which of two equals comes first") { check_crafted("ties", 6); }

TEST_CASE("reports equal nsys 2025.3 on ranges that overlap, repeat, cross threads or never end") { check_crafted("ranges", 5); }

TEST_CASE("reports equal nsys 2025.3 on names that a CSV trips over, and on means between two roundings") {
  // But for one thing: nsys tells a kernel whose name is empty from one whose name is not in the export; to us both
  // have none. So the lines without a name are left out there.
  fs::path folder = fs::path(NL_FIXTURES) / "crafted";
  Trace trace = read_nsys_sqlite(folder / "names.sqlite");
  for (std::string report : {"cuda_api_sum", "nvtx_sum", "nvtx_gpu_proj_sum", "nvtx_kern_sum"})
    check_report(trace, report, read_text(folder / ("names_" + report + ".csv")));
  auto named = [](const std::string& csv) {
    std::istringstream in(csv);
    std::string kept;
    for (std::string line; std::getline(in, line);)
      if (!line.ends_with(',')) kept += line + "\n";
    return kept;
  };
  std::string ours = named(stat_csv(make_stats_report(trace, "cuda_gpu_kern_sum")));
  std::string theirs = named(read_text(folder / "names_cuda_gpu_kern_sum.csv"));
  INFO(first_difference(ours, theirs));
  CHECK((ours == theirs));
}

namespace {

StatTable small_table() {
  StatTable table;
  table.report = "some_sum";
  table.title = "Some Summary";
  table.columns = {"Time (%)", "Total Time (ns)", "Name"};
  table.rows = {{StatTable::Tenth{99.95}, std::int64_t{1234567}, std::string("a, \"b\"")},
                {StatTable::Tenth{0.25}, std::int64_t{-1000}, std::string("\u00e9\n")},
                {std::monostate(), std::int64_t{0}, std::monostate()}};
  return table;
}

}  // namespace

TEST_CASE("CSV: quotes around commas only, halves away from zero, nothing where there is no value") {
  CHECK(stat_csv(small_table()) == "Time (%),Total Time (ns),Name\n100.0,1234567,\"a, \"b\"\"\n0.3,-1000,\u00e9\n\n,0,\n");
}

TEST_CASE("JSON: an array of objects with the columns as keys") {
  CHECK(stat_json(small_table()) ==
        "[\n  {\n    \"Time (%)\": 100.0,\n    \"Total Time (ns)\": 1234567,\n    \"Name\": \"a, \\\"b\\\"\"\n  },\n"
        "  {\n    \"Time (%)\": 0.3,\n    \"Total Time (ns)\": -1000,\n    \"Name\": \"\u00e9\\n\"\n  },\n"
        "  {\n    \"Time (%)\": \"\",\n    \"Total Time (ns)\": 0,\n    \"Name\": \"\"\n  }\n]\n");
}

TEST_CASE("table: aligned columns, thousands set apart, one line a row") {
  CHECK(stat_text(small_table()) ==
        "Some Summary (some_sum)\n\n"
        "Time (%)  Total Time (ns)  Name\n"
        "--------  ---------------  ------\n"
        "   100.0        1,234,567  a, \"b\"\n"
        "     0.3           -1,000  \u00e9\n"
        "                        0\n");
}

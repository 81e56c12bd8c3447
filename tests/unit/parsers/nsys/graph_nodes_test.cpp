#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "parsers/nsys/sqlite.h"
#include "tests/catch.h"
#include "tests/unit/parsers/nsys/crafted.h"

using namespace nl;
using namespace nl::parsers;
using nl::test::CraftedExport;
using nl::test::global_tid;

namespace {

// Where each kernel's node was made, by the kernel's start: "21@40"; empty: not known.
std::map<Ns, std::string> made(const Trace& trace) {
  std::map<Ns, std::string> out;
  for (std::size_t i = 0; i < trace.kernels.size(); ++i) {
    std::string& text = out[trace.kernels[i].start_ns];
    if (trace.kernel_nodes.empty() || trace.kernel_nodes[i] == kNone) continue;
    const GraphNode& node = trace.graph_nodes.at(trace.kernel_nodes[i]);
    text = fmt::format("{}@{}", trace.threads.at(node.thread).tid, node.made_ns);
  }
  return out;
}

constexpr const char* kTables = R"sql(
  CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
  CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER,
    correlationId INTEGER, globalPid INTEGER, graphNodeId INTEGER);
  CREATE TABLE CUDA_GRAPH_NODE_EVENTS (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, nameId INTEGER,
    graphNodeId INTEGER, originalGraphNodeId INTEGER);
)sql";

// Kernels that start at 1000, 1001 … on these nodes; 0: on none.
std::string kernels(long long pid, std::initializer_list<int> nodes, int start = 1000) {
  std::string sql;
  for (int node : nodes)
    sql += fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({}, {}, 0, 1, 7, 5, {}, {});", start, start + 1, global_tid(pid, 0),
                       node == 0 ? "NULL" : std::to_string(node)),
        ++start;
  return sql;
}

std::string event(int time, long long tid, int node, const std::string& original = "NULL") {
  return fmt::format("INSERT INTO CUDA_GRAPH_NODE_EVENTS VALUES ({0}, {0}, 77, {1}, 1, {2}, {3});", time, tid, node, original);
}

}  // namespace

// The node events of the export, by hand: each process captures four nodes (the third is a copy), and the graph that
// runs is a clone of them, made when it is instantiated.
TEST_CASE("every kernel and copy of a real capture's graphs is joined to where it was captured") {
  const Trace trace = read_nsys_sqlite(std::filesystem::path(NL_FIXTURES) / "h200-probe/probe_node.sqlite");
  const auto in_graph = std::count_if(trace.kernels.begin(), trace.kernels.end(), [](const Kernel& k) { return k.in_graph; });
  std::map<std::string, int> launches;
  for (const auto& [start, where] : made(trace)) ++launches[where];
  launches.erase("");
  CHECK(in_graph == 24);
  const std::map<std::string, int> expected = {{"622@607036835", 4},  {"622@607046416", 4},  {"622@607063012", 4},
                                               {"642@1180249636", 4}, {"642@1180258220", 4}, {"642@1180275035", 4}};
  CHECK(launches == expected);
  std::map<Ns, int> copies;
  REQUIRE(trace.mem_op_nodes.size() == trace.mem_ops.size());
  for (std::size_t i = 0; i < trace.mem_ops.size(); ++i) {
    CHECK((trace.mem_op_nodes[i] != kNone) == trace.mem_ops[i].in_graph);
    if (trace.mem_ops[i].in_graph) ++copies[trace.graph_nodes.at(trace.mem_op_nodes[i]).made_ns];
  }
  CHECK(copies == std::map<Ns, int>{{607053952, 4}, {1180265274, 4}});
  CHECK(trace.stats.rows_read.at("CUDA_GRAPH_NODE_EVENTS") == 28);
}

TEST_CASE("a clone of a clone belongs to the node that was made first") {
  CraftedExport made_here;
  const long long main = global_tid(200, 21), other = global_tid(200, 22);
  made_here.sql(kTables + kernels(200, {3, 0, 4, 1, 3}) + event(60, main, 3) + event(61, main, 3, "2") + event(50, main, 2) +
                event(51, main, 2, "1") + event(40, main, 1) + event(45, other, 4));
  const Trace trace = read_nsys_sqlite(made_here.file);
  const std::map<Ns, std::string> expected = {{1000, "21@40"}, {1001, ""}, {1002, "22@45"}, {1003, "21@40"}, {1004, "21@40"}};
  CHECK(made(trace) == expected);
  CHECK(trace.kernel_nodes.size() == trace.kernels.size());
  CHECK(trace.mem_op_nodes.empty());
}

TEST_CASE("nodes of two processes with one number are two") {
  CraftedExport made_here;
  made_here.sql(kTables + kernels(200, {1}) + kernels(300, {1, 2}, 2000) + event(40, global_tid(200, 21), 1) +
                event(70, global_tid(300, 31), 1) + event(41, global_tid(200, 21), 2));
  const std::map<Ns, std::string> expected = {{1000, "21@40"}, {2000, "31@70"}, {2001, ""}};
  CHECK(made(read_nsys_sqlite(made_here.file)) == expected);
}

// The capture began after the graph was made, or between its making and its instantiation; the rest is damage.
TEST_CASE("a node whose making is not in the capture is joined to nothing") {
  CraftedExport made_here;
  const long long main = global_tid(200, 21);
  made_here.sql(kTables + kernels(200, {1, 2, 3, 5, 6}) + event(50, main, 2) + event(51, main, 2, "9") + event(52, main, 3, "4") +
                event(53, main, 4, "3") + "INSERT INTO CUDA_GRAPH_NODE_EVENTS VALUES (54, 54, 77, NULL, 1, 5, NULL), (NULL, 55, 77, " +
                std::to_string(main) + ", 1, 6, NULL), (56, 56, 77, " + std::to_string(main) + ", 1, NULL, NULL);");
  const Trace trace = read_nsys_sqlite(made_here.file);
  for (const auto& [start, where] : made(trace)) CHECK(where == "");
  CHECK(trace.graph_nodes.empty());
  CHECK(trace.kernel_nodes.empty());
  CHECK(trace.kernels.at(0).in_graph);
}

TEST_CASE("where an export does not tell clones from what was made, nothing is joined") {
  CraftedExport made_here;
  made_here.sql(kTables + kernels(200, {1}) + event(40, global_tid(200, 21), 1) +
                "ALTER TABLE CUDA_GRAPH_NODE_EVENTS DROP COLUMN originalGraphNodeId;");
  CHECK(read_nsys_sqlite(made_here.file).graph_nodes.empty());
}

TEST_CASE("without ranges nobody asks where nodes were made") {
  CraftedExport made_here;
  made_here.sql(kTables + kernels(200, {1}) + event(40, global_tid(200, 21), 1));
  NsysTables tables;
  tables.ranges = false;
  const Trace trace = read_nsys_sqlite(made_here.file, tables);
  CHECK(trace.kernel_nodes.empty());
  CHECK(trace.stats.rows_read.count("CUDA_GRAPH_NODE_EVENTS") == 0);
}

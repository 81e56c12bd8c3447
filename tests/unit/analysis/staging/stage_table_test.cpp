#include "analysis/staging/stage_table.h"

#include "tests/catch.h"
#include "tests/unit/analysis/trace_builder.h"

namespace {

std::vector<std::string> stage_names_of(const nl::Run& run) {
  std::vector<std::string> names;
  for (const auto& each : run.stages) names.push_back(each.name);
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("stages come in the order of their starts, whatever the order of the rows") {
  TraceBuilder b;
  b.stage("decode_all", 500, 600);
  b.stage("vision", 100, 200);
  b.stage("prefill", 300, 400);
  CHECK(stage_names_of(b.run_all()) == Names{"vision", "prefill", "decode"});
}

TEST_CASE("of stages that start together the longest comes first, then the first row") {
  TraceBuilder b;
  b.stage("sampling", 100, 200);
  b.stage("vision", 100, 200);
  b.stage("prefill", 100, 300);
  CHECK(stage_names_of(b.run_all()) == Names{"prefill", "sampling", "vision"});
}

TEST_CASE("ranges of one name are told apart by their domain and their style, and a stage has each spelling once") {
  TraceBuilder b;
  b.range("LLM", "prefill", 0, 10);
  b.range("LLM", "prefill", 20, 30, 0, nl::RangeStyle::kStartEnd);
  b.range("", "LLM:prefill", 40, 50);
  b.range("other", "prefill", 60, 70);
  const nl::analysis::StageTable table(b.trace);
  const auto entries = table.entries(b.trace);
  REQUIRE(entries.size() == 1);
  CHECK(entries[0].name == "prefill");
  CHECK(entries[0].ranges == Names{"LLM:prefill"});
  const auto walls = table.group_walls(b.trace);
  REQUIRE(walls.size() == 4);
  for (const auto& wall : walls) CHECK(wall.count == 1);
}

TEST_CASE("a step alone is decoding, and stands after it") {
  TraceBuilder b;
  b.stage("decode_step", 0, 10);
  b.stage("decode_step", 20, 30);
  CHECK(stage_names_of(b.run_all()) == Names{"decode", "decode_step"});
}

TEST_CASE("a range that the end of the session ended was never closed, and has no duration") {
  TraceBuilder b;
  b.stage("prefill", 0, 10);
  b.stage("prefill", 20, 100);
  b.range("LLM", "prefill", 30, 90, 0, nl::RangeStyle::kPushPop, true);
  b.range("", "noise", 20, 100);
  b.trace.session_end_ns = 100;
  const nl::analysis::StageTable table(b.trace);
  CHECK(table.entries(b.trace)[0].open_ranges == 2);
  CHECK(table.group_walls(b.trace)[0].count == 1);
  CHECK(table.group_walls(b.trace)[0].total_ns == 10);
}

#include "tests/unit/query/asked.h"
#include "tests/unit/unpacked.h"

using nl::test::asked;
using nl::test::kLlamaExport;
using nl::test::of_export;

// The oracle is SQLite on the tables that nsys wrote.
namespace {

const char* const kKernelsByName =
    "SELECT s.value, count(*), sum(k.end - k.start), min(k.start), max(k.end) FROM CUPTI_ACTIVITY_KIND_KERNEL k "
    "JOIN StringIds s ON s.id = k.demangledName GROUP BY s.value ORDER BY s.value";
const char* const kOurKernelsByName =
    "SELECT name, count(*), sum(duration_ns), min(start_ns), max(end_ns) FROM slices WHERE kind = 'kernel' GROUP BY name ORDER BY name";

void check_equal(const std::string& file, const std::string& ours, const std::string& theirs) {
  INFO(ours);
  const auto expected = of_export(file, theirs);
  REQUIRE_FALSE(expected.empty());
  CHECK(asked(file, ours).rows == expected);
}

}  // namespace

TEST_CASE("slices: kernels are those of nsys' export, name by name") {
  for (const char* export_of : {"/h200-llama/nsys.sqlite", "/h200-probe/probe_node.sqlite", "/crafted/ties.sqlite"}) {
    INFO(export_of);
    check_equal(std::string(NL_FIXTURES) + export_of, kOurKernelsByName, kKernelsByName);
  }
}

TEST_CASE("slices: kernels of a packed export, and by what they were launched with") {
  const Unpacked llava(std::string(NL_FIXTURES) + "/h200-llava/nsys.sqlite.gz");
  check_equal(llava.file, kOurKernelsByName, kKernelsByName);
  check_equal(llava.file,
              "SELECT stream, grid_x, block_x, registers, shared_bytes, count(*) FROM slices WHERE kind = 'kernel' "
              "GROUP BY stream, grid_x, block_x, registers, shared_bytes ORDER BY 1, 2, 3, 4, 5",
              "SELECT streamId, gridX, blockX, registersPerThread, staticSharedMemory + dynamicSharedMemory, count(*) "
              "FROM CUPTI_ACTIVITY_KIND_KERNEL GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5");
}

TEST_CASE("slices: every CUDA call is one, however short, also where the stages are asked for") {
  const std::string theirs =
      "SELECT CASE WHEN substr(s.value, -6, 2) = '_v' THEN substr(s.value, 1, length(s.value) - 6) ELSE s.value END AS name, count(*), "
      "sum(r.end - r.start) FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN StringIds s ON s.id = r.nameId GROUP BY 1 ORDER BY 1";
  check_equal(kLlamaExport, "SELECT name, count(*), sum(duration_ns) FROM slices WHERE kind = 'call' GROUP BY name ORDER BY name", theirs);
  check_equal(kLlamaExport, "SELECT name, count(id), sum(duration_ns) FROM slices WHERE kind = 'call' GROUP BY name ORDER BY name", theirs);
}

TEST_CASE("slices: copies and sets by direction, with their bytes") {
  check_equal(
      kLlamaExport,
      "SELECT direction, count(*), sum(bytes), sum(duration_ns) FROM slices WHERE kind = 'copy' AND direction IN ('h2d', 'd2h') "
      "GROUP BY direction ORDER BY direction DESC",
      "SELECT CASE copyKind WHEN 1 THEN 'h2d' ELSE 'd2h' END, count(*), sum(bytes), sum(end - start) FROM CUPTI_ACTIVITY_KIND_MEMCPY "
      "WHERE copyKind IN (1, 2) GROUP BY copyKind ORDER BY copyKind");
  check_equal(kLlamaExport, "SELECT count(*), sum(bytes), sum(duration_ns) FROM slices WHERE kind = 'set'",
              "SELECT count(*), sum(bytes), sum(end - start) FROM CUPTI_ACTIVITY_KIND_MEMSET");
}

TEST_CASE("slices: a launch and its kernel are joined as nsys' correlation ids join them") {
  const std::string theirs =
      "SELECT k.start, k.start - r.start, r.correlationId FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r "
      "ON r.correlationId = k.correlationId ORDER BY k.start";
  check_equal(kLlamaExport, "SELECT start_ns, launch_delay_ns, correlation FROM slices WHERE kind = 'kernel' ORDER BY start_ns", theirs);
  check_equal(kLlamaExport,
              "SELECT k.start_ns, k.start_ns - c.start_ns, c.correlation FROM slices k JOIN slices c ON c.id = k.launch_id "
              "WHERE k.kind = 'kernel' ORDER BY k.start_ns",
              theirs);
}

TEST_CASE("slices: ranges by name, those of the workload") {
  check_equal(kLlamaExport,
              "SELECT name, count(*), sum(duration_ns) FROM slices WHERE kind = 'range' AND name LIKE 'LLM@%' GROUP BY name ORDER BY name",
              "SELECT coalesce(e.text, s.value) AS name, count(*), sum(e.end - e.start) FROM NVTX_EVENTS e LEFT JOIN StringIds s ON s.id = "
              "e.textId WHERE e.eventType = 59 AND name LIKE 'LLM@%' GROUP BY 1 ORDER BY 1");
}

TEST_CASE("slices: kernels by stage add up to those in a window, which is around the call that launched them") {
  const auto split =
      asked(kLlamaExport, "SELECT stage, count(*), sum(duration_ns) FROM slices WHERE kind = 'kernel' GROUP BY stage ORDER BY stage");
  const auto by_hand =
      asked(kLlamaExport,
            "SELECT count(*) FROM slices k JOIN slices c ON c.id = k.launch_id JOIN windows w ON c.start_ns >= w.start_ns AND "
            "c.end_ns <= w.end_ns AND w.tid = c.tid WHERE k.kind = 'kernel' AND w.stage = 'decode_step'");
  std::int64_t steps = 0, all = 0;
  for (const auto& row : split.rows) {
    all += nl::test::number(row[1]);
    if (row[0] == nl::query::Cell("decode_step")) steps = nl::test::number(row[1]);
  }
  CHECK(all == nl::test::number(of_export(kLlamaExport, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL")[0][0]));
  CHECK(steps > 0);
  CHECK(steps == nl::test::number(by_hand.rows[0][0]));
}

TEST_CASE("slices: ids stay the same, whatever else a query reads") {
  const auto alone = asked(kLlamaExport, "SELECT id, name FROM slices WHERE kind = 'copy' ORDER BY start_ns LIMIT 3");
  const auto all = asked(kLlamaExport, "SELECT id, name FROM (SELECT * FROM slices) WHERE kind || '' = 'copy' ORDER BY start_ns LIMIT 3");
  CHECK(alone.rows == all.rows);
  CHECK(alone.rows.size() == 3);
}

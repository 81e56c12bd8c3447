#include <filesystem>
#include <fstream>

#include "model/run_metrics.h"
#include "orchestrator/bundle/read_run.h"
#include "tests/unit/files.h"
#include "tests/unit/query/asked.h"

using nl::test::asked;
using nl::test::number;

namespace {

const std::string kRunJson = std::string(NL_FIXTURES) + "/golden/h200-llama/run.json";

nl::Run golden() { return nl::orchestrator::read_run(nl::orchestrator::read_run_text(kRunJson), kRunJson); }

}  // namespace

TEST_CASE("run tables: what run.json has is there without the capture") {
  const nl::Run run = golden();
  CHECK(number(asked(kRunJson, "SELECT count(*) FROM findings").rows[0][0]) == static_cast<std::int64_t>(run.findings.size()));
  CHECK(number(asked(kRunJson, "SELECT count(*) FROM kernels").rows[0][0]) == static_cast<std::int64_t>(run.kernels->size()));
  CHECK(asked(kRunJson, "SELECT rule, message FROM findings WHERE id = 0").rows[0] ==
        std::vector<nl::query::Cell>{run.findings[0].rule, run.findings[0].message});
  std::int64_t total = 0;
  for (const nl::KernelEntry& kernel : *run.kernels) total += kernel.time.total_ns;
  CHECK(number(asked(kRunJson, "SELECT sum(total_ns) FROM kernels").rows[0][0]) == total);
  CHECK(number(asked(kRunJson, "SELECT sum(total_ns) FROM kernel_stages").rows[0][0]) == total);
  const auto evidence = asked(kRunJson, "SELECT text FROM evidence WHERE finding = 0");
  REQUIRE(evidence.rows.size() == run.findings[0].evidence.size());
  CHECK(evidence.rows[0][0] == nl::query::Cell(run.findings[0].evidence[0].text));
}

TEST_CASE("run tables: figures are those that gates have") {
  const nl::Run run = golden();
  const auto metrics = nl::run_metrics(run, nl::kEveryKernel);
  const auto answer = asked(kRunJson, "SELECT key, value FROM figures");
  REQUIRE(answer.rows.size() == metrics.size());
  for (std::size_t i = 0; i < metrics.size(); ++i) CHECK(answer.rows[i] == std::vector<nl::query::Cell>{metrics[i].key, metrics[i].value});
}

TEST_CASE("run tables: kernels of a capture that has no run.json are those of its analysis") {
  const auto own = asked(nl::test::kLlamaExport, "SELECT name, calls, total_ns FROM kernels ORDER BY name");
  const auto slices = asked(nl::test::kLlamaExport,
                            "SELECT name, count(*), sum(duration_ns) FROM slices WHERE kind = 'kernel' GROUP BY name ORDER BY name");
  CHECK(own.rows == slices.rows);
}

TEST_CASE("run tables: a table without rows says why") {
  const auto answer = asked(nl::test::kLlamaExport, "SELECT * FROM stacks");
  CHECK(answer.rows.empty());
  REQUIRE(answer.notes.size() == 1);
  CHECK(answer.notes[0].find("not sampled") != std::string::npos);
  CHECK(asked(nl::test::kLlamaExport, "SELECT * FROM slices WHERE name = 'x'").notes.empty());
}

TEST_CASE("run tables: the kernels by innermost stage are those that slices have") {
  const auto run = asked(nl::test::kLlamaExport,
                         "SELECT stage, sum(calls), sum(total_ns) FROM kernel_stages WHERE stage <> 'none' GROUP BY stage ORDER BY stage");
  const auto slices =
      asked(nl::test::kLlamaExport,
            "SELECT CASE WHEN stage LIKE 'decode%' THEN 'decode' ELSE stage END AS top, count(*), sum(duration_ns) FROM slices "
            "WHERE kind = 'kernel' AND stage IS NOT NULL GROUP BY top ORDER BY top");
  REQUIRE_FALSE(run.rows.empty());
  CHECK(run.rows == slices.rows);
}

#include <algorithm>

#include "analysis/runs/compare/compare.h"
#include "analysis/runs/gate/gate.h"
#include "model/identity.h"
#include "model/run_metrics.h"
#include "tests/catch.h"

using namespace nl;

namespace {

// A hundred requests, so many a second.
Run run_at(double per_s, std::uint64_t prompt = 130, double median_ns = 5e8) {
  Run run;
  run.run_id = "run";
  StageEntry& stage = run.stages.emplace_back();
  stage.name = "decode_step";
  stage.wall = {.count = 40, .total_ns = 400, .mean_ns = 10, .median_ns = 10, .min_ns = 10, .max_ns = 10};
  stage.series.wall_ns.assign(40, 10);
  Serving& serving = run.serving.emplace();
  serving.arrived = serving.count = 100;
  serving.end_ns = static_cast<Ns>(100e9 / per_s);
  serving.prompt_tokens = 100 * prompt;
  serving.output_tokens = 3200;
  serving.latencies = {{ServingLatency::Figure::kTotal, 100, median_ns, {{0.5, median_ns, {}, {}}}}};
  serving.tail.judged = 100;
  serving.tail.judged_times[ServingPart::kQueue] = 100 * 2'000'000;
  return run;
}

Run with_users(Run run, std::uint64_t users) {
  run.serving->client = LoadArrivals{ArrivalKind::kClosed, {}, {}, users, {}};
  return run;
}

std::optional<Difference> load_difference(const Run& a, const Run& b) {
  const Comparison comparison = analysis::compare(std::vector{a}, std::vector{b});
  for (const Difference& each : comparison.comparability.differences)
    if (each.code == DifferenceCode::kLoad) {
      CHECK(comparison.comparability.refused);
      return each;
    }
  return std::nullopt;
}

}  // namespace

TEST_CASE("load: windows of another load are not compared, and the reason is said") {
  CHECK_FALSE(load_difference(run_at(4), run_at(4.2)));
  const auto rate = load_difference(run_at(4), run_at(8));
  REQUIRE(rate);
  CHECK(rate->severity == Severity::kHigh);
  CHECK(rate->a == "4 requests/s, prompts of 130, answers of 32");
  CHECK(rate->b == "8 requests/s, prompts of 130, answers of 32");
  CHECK(load_difference(run_at(4), run_at(4, 500)));
  CHECK_FALSE(load_difference(with_users(run_at(4), 8), with_users(run_at(40), 8)));  // a faster server gets more of them
  CHECK(load_difference(with_users(run_at(4), 8), with_users(run_at(4), 16)));
  Run other = run_at(4);
  other.serving.reset();
  CHECK_FALSE(load_difference(run_at(4), other));  // not known
}

TEST_CASE("load: what the client asked for counts before what came") {
  Run run = run_at(4);
  run.serving->client = LoadArrivals{ArrivalKind::kPoisson, 4.5, {}, {}, 1};
  CHECK(identity_of(run)[IdentityPart::kLoad] == "4.5 requests/s, prompts of 130, answers of 32");
  CHECK(identity_key(identity_of(run)) == identity_key(identity_of(run_at(9))));  // of the same program
}

TEST_CASE("load: requests have figures to compare and to gate") {
  CHECK(figure_value(run_at(4), "request_median_ms") == 500);
  CHECK(figure_value(run_at(4), "request_queue_ms") == 2);
  CHECK_FALSE(figure_value(run_at(4), "request_p99_ms"));
  const Comparison comparison = analysis::compare(std::vector{run_at(4)}, std::vector{run_at(4, 130, 7e8)});
  const auto& lines = comparison.headline.lines;
  const auto found = std::find_if(lines.begin(), lines.end(), [](const CompareLine& line) { return line.key == "request_time"; });
  REQUIRE(found != lines.end());
  CHECK(found->a->median == 5e8);
  CHECK(found->b->median == 7e8);
}

TEST_CASE("load: a gate leaves out a run of another load, and says so") {
  const analysis::GateRun expected = analysis::gate_run(run_at(4));
  CHECK(expected.from.load == "4 requests/s, prompts of 130, answers of 32");
  Expectations expectations{{0.05, true}, {{expected.hardware, {{"request_median_ms", 500, {}, expected.from, 1}}}}};
  const auto line = [&](const Run& run) { return analysis::judge(expectations, {analysis::gate_run(run)}).at(0).lines.at(0); };
  CHECK(line(run_at(4.1)).outcome == GateOutcome::kMet);
  CHECK(line(run_at(4, 130, 9e8)).outcome == GateOutcome::kRegressed);
  const GateLine other = line(run_at(8));
  CHECK(other.outcome == GateOutcome::kMissing);
  REQUIRE(other.not_comparable);
  CHECK(other.not_comparable->key == "load");
}

#include "analysis/load/report.h"

#include "exporters/load/words.h"
#include "tests/catch.h"
#include "tests/unit/files.h"
#include "tests/unit/load/random_load.h"

using namespace nl;
using test::kMs;

namespace {

// A request every 10 ms, each answered after 30 ms; three tokens 10 ms apart.
LoadRun even_load(std::size_t count) {
  LoadRun run;
  run.arrivals.kind = ArrivalKind::kConstant;
  run.arrivals.rate_per_s = 100;
  for (std::size_t i = 0; i < count; ++i) {
    LoadRequest request;
    request.scheduled_ns = static_cast<Ns>(i) * 10 * kMs;
    request.sent_ns = *request.scheduled_ns + 1000;
    for (const int at_ms : {10, 20, 30}) request.chunks.push_back({*request.sent_ns + at_ms * kMs, ChunkKind::kText});
    request.chunk_count = 3;
    request.output_tokens = 3;
    request.prompt_tokens = 7;
    request.end_ns = *request.sent_ns + 30 * kMs;
    run.requests.push_back(request);
  }
  run.duration_ns = static_cast<Ns>(count) * 10 * kMs;
  return run;
}

std::vector<LoadRemark> remarks_of(const LoadReport& report) {
  std::vector<LoadRemark> remarks;
  for (const LoadNote& note : report.notes) {
    CHECK_FALSE(exporters::note_text(note).empty());
    remarks.push_back(note.remark);
  }
  return remarks;
}

}  // namespace

TEST_CASE("load report: rates, delays and tokens of an even load") {
  const LoadReport report = analysis::load_report(even_load(200), {});
  CHECK(report.answered == 200);
  CHECK(report.prompt_tokens == 1400);
  CHECK(report.output_tokens == 600);
  CHECK(*report.rates.requested_per_s == 100);
  CHECK(*report.rates.scheduled_per_s == Approx(100));
  CHECK(*report.rates.sent_per_s == Approx(100));
  CHECK(*report.rates.answered_per_s == Approx(200 / 2.02));  // 199 gaps of 10 ms and one answer
  CHECK(report.schedule_delay->p99_ns == 1000);
  CHECK(report.figures.at(LoadFigure::kTtft).median_ns == 10 * kMs);
  CHECK(report.figures.at(LoadFigure::kItl).count == 400);
  CHECK(report.figures.at(LoadFigure::kItl).p99_ns == 10 * kMs);
  CHECK_FALSE(report.figures.at(LoadFigure::kItl).median_95.has_value());  // gaps of one request depend on each other
  CHECK(report.figures.at(LoadFigure::kE2e).median_95->low == 30 * kMs);
  CHECK(remarks_of(report).empty());
}

TEST_CASE("load report: percentiles and their intervals only where there are enough requests") {
  const auto ttft = [](std::size_t count) { return analysis::load_report(test::random_load(9, count), {}).figures.at(LoadFigure::kTtft); };
  CHECK_FALSE(ttft(18).p95_ns.has_value());
  CHECK_FALSE(ttft(90).p99_ns.has_value());
  CHECK(ttft(90).median_95.has_value());
  CHECK(ttft(200).p99_ns.has_value());
  CHECK_FALSE(ttft(200).p99_95.has_value());
  CHECK(ttft(900).p99_95.has_value());
  CHECK(remarks_of(analysis::load_report(even_load(99), {})) == std::vector<LoadRemark>{LoadRemark::kFewForP99});
}

TEST_CASE("load report: requests that wait for those before are worth fewer") {
  LoadRun queue = even_load(400), shuffled = queue;
  Draw draw(1);
  double wait = 0;
  std::vector<Ns> waits;
  for (std::size_t i = 0; i < 400; ++i) waits.push_back(static_cast<Ns>(wait = 0.95 * wait + static_cast<double>(draw.below(20 * kMs))));
  const auto delay = [](LoadRequest& request, Ns by_ns) {
    for (LoadChunk& chunk : request.chunks) chunk.at_ns += by_ns;
    *request.end_ns += by_ns;
  };
  for (std::size_t i = 0; i < 400; ++i)
    delay(queue.requests[i], waits[i]), delay(shuffled.requests[i * 171 % 400 == 0 ? 0 : i], waits[i * 171 % 400]);
  const auto width = [](const LoadRun& run) {
    const auto interval = analysis::load_report(run, {}).figures.at(LoadFigure::kTtft).median_95;
    return interval ? interval->high - interval->low : 1e18;
  };
  CHECK(width(queue) > 2 * width(shuffled));
}

TEST_CASE("load report: the generator says where it was the bottleneck") {
  LoadRun late = even_load(200);
  for (std::size_t i = 0; i < 4; ++i) *late.requests[50 * i + 3].sent_ns += 2 * kMs;
  CHECK(remarks_of(analysis::load_report(late, {})) == std::vector<LoadRemark>{LoadRemark::kGeneratorLate});
  late.arrivals.rate_per_s = 10;  // 2 ms of 100 ms are little
  CHECK(remarks_of(analysis::load_report(late, {})).empty());
  CHECK(analysis::most_delay_ns(4) == 10 * kMs);
  CHECK(analysis::most_delay_ns(50) == 2 * kMs);
  CHECK(analysis::most_delay_ns(100'000) == 1 * kMs);
  CHECK(analysis::most_delay_ns({}) == 10 * kMs);
}

TEST_CASE("load report: failures are counted apart and in no figure, and warm-ups are not counted") {
  LoadRun run = even_load(150);
  run.requests[0].warmup = true;
  for (std::size_t i = 1; i < 11; ++i) {
    run.requests[i].outcome = i < 4 ? RequestOutcome::kTimedOut : i < 8 ? RequestOutcome::kStatus : RequestOutcome::kNotSent;
    run.requests[i].error = "failure " + std::to_string(i);
    for (LoadChunk& chunk : run.requests[i].chunks) chunk.at_ns += 5000 * kMs;
  }
  const LoadReport report = analysis::load_report(run, {.ttft_ns = 15 * kMs, .tpot_ns = {}, .itl_ns = {}, .e2e_ns = {}});
  CHECK(report.warmups == 1);
  CHECK(report.requests == 149);
  CHECK(report.answered == 139);
  CHECK(report.failed.at(RequestOutcome::kTimedOut) == 3);
  CHECK(report.first_error == "failure 1");
  CHECK(report.figures.at(LoadFigure::kTtft).max_ns == 10 * kMs);
  CHECK(report.goodput->good == 139);
  CHECK(report.goodput->sent == 149);
  CHECK(report.goodput->share_95.high < 0.97);
  CHECK(remarks_of(report) == std::vector<LoadRemark>{LoadRemark::kFailed, LoadRemark::kInFlightLimit});
  CHECK(exporters::failures_text(report) == "3 not sent, 4 with another status than 200 and 3 timed out");
}

TEST_CASE("load report: what else is worth knowing") {
  LoadRun run = even_load(120);
  run.arrivals = {ArrivalKind::kClosed, {}, {}, 8, {}};
  run.interrupted = true;
  for (LoadRequest& request : run.requests) request.scheduled_ns.reset(), request.output_tokens = 6, request.asked_output_tokens = 9;
  run.requests[0].output_tokens.reset();
  run.requests[1].every_chunk = false;
  CHECK(remarks_of(analysis::load_report(run, {})) ==
        std::vector<LoadRemark>{LoadRemark::kInterrupted, LoadRemark::kClosedLoop, LoadRemark::kNoSchedule, LoadRemark::kChunksAsTokens,
                                LoadRemark::kChunksNotKnown, LoadRemark::kSeveralTokens, LoadRemark::kShortAnswers});
}

TEST_CASE("load report: a load without a single answer has no figures") {
  LoadRun run = even_load(3);
  for (LoadRequest& request : run.requests) request.outcome = RequestOutcome::kNotReached, request.chunks.clear();
  const LoadReport report = analysis::load_report(run, {.ttft_ns = kMs, .tpot_ns = {}, .itl_ns = {}, .e2e_ns = {}});
  CHECK(report.figures.empty());
  CHECK(report.goodput->good == 0);
  CHECK(analysis::load_report(LoadRun{}, {}).requests == 0);
}

#include "runs/ledger/ledger.h"

#include <chrono>

#include "model/error.h"
#include "tests/catch.h"

using namespace nl::runs;

TEST_CASE("ledger: times of a search are dates, moments, or so long ago") {
  const std::chrono::system_clock::time_point now{std::chrono::seconds(1794830400)};  // 2026-11-16T12:00:00Z
  CHECK(moment_text("", "--since", now).empty());
  CHECK(moment_text("2026-11-01", "--since", now) == "2026-11-01");
  CHECK(moment_text("2026-11-01T23:59:59Z", "--since", now) == "2026-11-01T23:59:59Z");
  CHECK(moment_text("7d", "--since", now) == "2026-11-09T12:00:00Z");
  CHECK(moment_text("90m", "--since", now) == "2026-11-16T10:30:00Z");
  for (const char* odd : {"yesterday", "2026-13-01", "2026-11-01 10:00", "-3d", "d", "1e99d"})
    CHECK_THROWS_AS(moment_text(odd, "--since", now), nl::Error);
}

// The one main of every test program: runs Catch2 and closes with a line that tools/test adds up,
//   nl-tests: 12 passed, 0 failed, 1 skipped
#if !__has_include(<catch2/catch_all.hpp>)
#define CATCH_CONFIG_RUNNER
#endif
#include "tests/catch.h"

#include <cstdio>
#include <cstdlib>

namespace {

struct Tally {
  unsigned passed = 0, failed = 0, skipped = 0;
  bool skip_current = false, expected_to_fail = false;
} tally;

#if __has_include(<catch2/catch_all.hpp>)
using Listener = Catch::EventListenerBase;
#else
using Listener = Catch::TestEventListenerBase;
#endif

struct Counter : Listener {
  using Listener::Listener;
  void testCaseStarting(const Catch::TestCaseInfo& info) override {
    Listener::testCaseStarting(info);
    tally.skip_current = false;
    tally.expected_to_fail = info.expectedToFail();
  }
  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    Listener::testCaseEnded(stats);
    // The failures of [!shouldfail] are counted as failedButOk; one that passes is made a failed case by Catch2.
    if (stats.totals.assertions.failed > 0 || stats.totals.testCases.failed > 0) ++tally.failed;
    else if (tally.skip_current) ++tally.skipped;
    else ++tally.passed;
  }
};

}  // namespace

CATCH_REGISTER_LISTENER(Counter)

namespace nl::test {

bool record_skip(const std::string& reason) {
  tally.skip_current = true;
  std::printf("SKIPPED: %s\n", reason.c_str());
  return tally.expected_to_fail;
}

}  // namespace nl::test

int main(int argc, char** argv) {
  setenv("NL_STAGE_LEDGER", "off", 1);  // nothing of the user's is written by a test
  int status = Catch::Session().run(argc, argv);
  std::printf("nl-tests: %u passed, %u failed, %u skipped\n", tally.passed, tally.failed, tally.skipped);
  return status;
}

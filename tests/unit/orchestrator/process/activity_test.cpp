#include "orchestrator/process/activity.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "tests/catch.h"
#include "tests/integration/terminal.h"

namespace {

// What stands on a terminal after `work`, which has it as standard error.
template <class Work>
std::string seen_during(const Work& work) {
  nl::test::Terminal terminal(40);
  const int kept = dup(STDERR_FILENO), device = open(terminal.device().c_str(), O_WRONLY | O_NOCTTY);
  dup2(device, STDERR_FILENO);
  close(device);
  setenv("TERM", "xterm", 1);
  work();
  dup2(kept, STDERR_FILENO);
  close(kept);
  return terminal.text();
}

void wait_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

}  // namespace

TEST_CASE("activity: after two seconds a terminal says what is done, the innermost, and nothing is left of it") {
  const std::string seen = seen_during([] {
    const nl::orchestrator::Activity outer("analysing");
    const nl::orchestrator::Activity inner("writing a file whose name is \x1b[31mlonger than the terminal");
    wait_ms(2700);
  });
  CHECK(seen == "writing a file whose name is \\u001b[31…\r" + std::string(39, ' ') + "\r");
}

TEST_CASE("activity: what is quick is not mentioned, and what is no terminal is told nothing") {
  CHECK(seen_during([] { const nl::orchestrator::Activity quick("reading"); }) == "");
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const int kept = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  close(ends[1]);
  {
    const nl::orchestrator::Activity activity("reading");
    wait_ms(2600);
  }
  dup2(kept, STDERR_FILENO);
  close(kept);
  char byte = 0;
  CHECK(read(ends[0], &byte, 1) == 0);
  close(ends[0]);
}

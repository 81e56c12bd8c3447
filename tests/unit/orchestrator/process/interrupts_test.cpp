#include "orchestrator/process/interrupts.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

#include "tests/catch.h"

using nl::orchestrator::Interrupts;

namespace {

// drain() of a pipe that blocks would wait for ever.
void drain_unless_it_blocks() {
  REQUIRE((fcntl(Interrupts::wake_fd(), F_GETFL) & O_NONBLOCK) != 0);
  Interrupts::drain();
}

bool readable(int fd) {
  pollfd waiting{fd, POLLIN, 0};
  return poll(&waiting, 1, 0) == 1;
}

}  // namespace

TEST_CASE("neither end of the wake pipe blocks, however many signals come, and no child inherits it") {
  Interrupts interrupts;
  const int fd = Interrupts::wake_fd();
  REQUIRE((fcntl(fd, F_GETFL) & O_NONBLOCK) != 0);
  REQUIRE((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
  // A pipe that is full must not stop the program inside its signal handler; the alarm ends a test that hangs.
  REQUIRE(fcntl(fd, F_SETPIPE_SZ, 4096) == 4096);
  alarm(20);
  for (int i = 0; i < 5000; ++i) raise(SIGCHLD);
  alarm(0);
  CHECK(readable(fd));
  drain_unless_it_blocks();
  CHECK_FALSE(readable(fd));
  drain_unless_it_blocks();  // of nothing
  CHECK(Interrupts::signal() == 0);
}

TEST_CASE("the first signal is kept, every one is counted, and each wakes") {
  Interrupts interrupts;
  Interrupts::set_supervising(true);
  errno = 77;
  raise(SIGTERM);
  CHECK(errno == 77);
  CHECK(readable(Interrupts::wake_fd()));
  raise(SIGINT);
  CHECK(Interrupts::signal() == SIGTERM);
  CHECK(Interrupts::count() == 2);
  raise(SIGCHLD);
  CHECK(Interrupts::count() == 2);
  drain_unless_it_blocks();
  Interrupts::set_supervising(false);
}

TEST_CASE("a signal of a time that is over ends nobody") {
  {
    Interrupts interrupts;
    raise(SIGTERM);
    CHECK(Interrupts::signal() == SIGTERM);
  }
  Interrupts::obey();
  CHECK(Interrupts::signal() == 0);
}

TEST_CASE("the next one starts without the signals of the last, and the outermost alone ends it") {
  Interrupts outer;
  CHECK(Interrupts::signal() == 0);
  CHECK(Interrupts::count() == 0);
  {
    Interrupts inner;
    Interrupts::set_supervising(true);
    raise(SIGINT);
    Interrupts::set_supervising(false);
  }
  CHECK(Interrupts::signal() == SIGINT);
  CHECK(readable(Interrupts::wake_fd()));
  drain_unless_it_blocks();
}

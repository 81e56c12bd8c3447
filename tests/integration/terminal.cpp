#include "tests/integration/terminal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tests/catch.h"

namespace nl::test {

Terminal::Terminal(int columns) : master_(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
  REQUIRE(master_ >= 0);
  REQUIRE(grantpt(master_) == 0);
  REQUIRE(unlockpt(master_) == 0);
  device_ = ptsname(master_);
  slave_ = open(device_.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC);  // held open: the reader sees no end before text() asks
  REQUIRE(slave_ >= 0);
  const winsize size{50, static_cast<unsigned short>(columns), 0, 0};
  ioctl(slave_, TIOCSWINSZ, &size);
  reader_ = std::thread([this] { read_on(); });
}

Terminal::~Terminal() {
  text();
  close(master_);
}

void Terminal::read_on() {
  char buffer[4096];
  for (ssize_t got; (got = read(master_, buffer, sizeof buffer)) > 0;) text_.append(buffer, static_cast<std::size_t>(got));
}

std::string Terminal::text() {
  if (slave_ >= 0) close(slave_);
  slave_ = -1;
  if (reader_.joinable()) reader_.join();
  std::string plain = text_;
  for (std::size_t at; (at = plain.find("\r\n")) != std::string::npos;) plain.erase(at, 1);
  return plain;
}

}  // namespace nl::test

#include "cli/exit_status.h"

#include <csignal>
#include <map>
#include <string>

#include "tests/catch.h"

using nl::ErrorKind;
using nl::cli::exit_status_of;

TEST_CASE("exit status: every kind of error has the status of docs/exit-status.md") {
  const std::map<ErrorKind, int> documented = {{ErrorKind::kInternal, 1},     {ErrorKind::kUsage, 2},   {ErrorKind::kConfig, 2},
                                               {ErrorKind::kInput, 3},        {ErrorKind::kTool, 4},    {ErrorKind::kWorkload, 5},
                                               {ErrorKind::kCapture, 6},      {ErrorKind::kTimeout, 7}, {ErrorKind::kOutput, 8},
                                               {ErrorKind::kInterrupted, 130}};
  for (const auto& [kind, status] : documented) CHECK(exit_status_of(kind) == status);
}

TEST_CASE("exit status: a signal wins over every error, and nothing wrong is 0") {
  CHECK(exit_status_of(std::nullopt, 0) == 0);
  CHECK(exit_status_of(ErrorKind::kOutput, 0) == 8);
  CHECK(exit_status_of(ErrorKind::kWorkload, SIGINT) == 130);
  CHECK(exit_status_of(ErrorKind::kInternal, SIGTERM) == 143);
  CHECK(exit_status_of(std::nullopt, SIGHUP) == 129);
}

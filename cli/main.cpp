#include "cli/command_line.h"

#include <CLI/CLI.hpp>

#include <exception>
#include <functional>

#include "cli/exit_status.h"
#include "cli/output.h"
#include "cli/print_result.h"
#include "model/error.h"

namespace nl::cli {

int main(int argc, char** argv) {
  CLI::App app;
  std::function<int()> action;
  set_up(app, action);
  const bool json = asks_for_json(app, argc, argv);
  try {
    parse(app, argc, argv, action);
    const int status = action();
    if (status < kInterruptedStatus) finish_output();
    return status;
  } catch (const Error& error) {
    return print_failure(error, json);
  } catch (const std::exception& broken) {
    return print_failure({ErrorKind::kInternal, broken.what(), "nl-stage", "this is a bug in nl-stage; please report it"}, json);
  }
}

}  // namespace nl::cli

#include <CLI/CLI.hpp>

#include <exception>
#include <functional>

#include "cli/command_line.h"
#include "cli/exit_status.h"
#include "cli/output.h"
#include "cli/print_result.h"
#include "model/error.h"

int main(int argc, char** argv) {
  CLI::App app;
  std::function<int()> action;
  nl::cli::set_up(app, action);
  const bool json = nl::cli::asks_for_json(app, argc, argv);
  try {
    nl::cli::parse(app, argc, argv, action);
    const int status = action();
    if (status < nl::cli::kInterruptedStatus) nl::cli::finish_output();
    return status;
  } catch (const nl::Error& error) {
    return nl::cli::print_failure(error, json);
  } catch (const std::exception& broken) {
    return nl::cli::print_failure({nl::ErrorKind::kInternal, broken.what(), "nl-stage", "this is a bug in nl-stage; please report it"},
                                  json);
  }
}

#include <CLI/CLI.hpp>

#include <exception>
#include <functional>

#include "cli/command_line.h"
#include "cli/exit_status.h"
#include "cli/print_result.h"
#include "model/error.h"

int main(int argc, char** argv) {
  CLI::App app;
  std::function<int()> action;
  nl::cli::set_up(app, action);
  try {
    return nl::cli::parse(app, argc, argv, action) ? action() : 0;
  } catch (const nl::Error& error) {
    nl::cli::print_error(error);
    return nl::cli::exit_status_of(error.kind);
  } catch (const std::exception& broken) {
    nl::cli::print_error(
        {nl::ErrorKind::kInternal, broken.what(), "nl-stage", "this is a bug in nl-stage; please report it"});
    return nl::cli::exit_status_of(nl::ErrorKind::kInternal);
  }
}

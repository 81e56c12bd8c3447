#include "cli/command_line.h"

#include <CLI/CLI.hpp>

#include <exception>
#include <functional>
#include <new>

#include "cli/exit_status.h"
#include "cli/output.h"
#include "cli/print_result.h"
#include "model/error_code.h"
#include "orchestrator/process/progress_pipe.h"

namespace nl::cli {

int main(int argc, char** argv) {
  orchestrator::take_progress_pipe();
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
  } catch (const std::bad_alloc&) {
    return print_failure(CodedError(ErrorCode::kOutOfMemory, "the memory is not enough for this input", "nl-stage",
                                    "give a smaller capture or smaller sizes, or allow nl-stage more memory (ulimit -v, the job's limit)"),
                         json);
  } catch (const std::exception& broken) {
    return print_failure({ErrorKind::kInternal, broken.what(), "nl-stage", "this is a bug in nl-stage; please report it"}, json);
  }
}

}  // namespace nl::cli

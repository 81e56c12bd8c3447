#pragma once

#include <exception>
#include <string>
#include <utility>

namespace nl {

// Each kind has one documented exit status (docs/exit-status.md, cli/exit_status.cpp).
enum class ErrorKind {
  kInternal,     // a broken invariant of ours
  kUsage,        // a wrong flag or argument
  kConfig,       // a wrong configuration file or value
  kInput,        // a capture or export that is missing, damaged or not what it should be
  kTool,         // nsys, ncu or another tool is missing, broken or not permitted
  kWorkload,     // the profiled program failed
  kCapture,      // the tools ran, but not everything that was asked for was captured
  kTimeout,      // a pass outlived its timeout
  kOutput,       // something could not be written
  kInterrupted,  // Ctrl-C or SIGTERM
};

// The one error type. Thrown where the trouble is found, caught once in cli/main.cpp, printed as three
// lines: what went wrong, where (file, line, column, row), and what to do next.
class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string what, std::string where = {}, std::string fix = {})
      : kind(kind), message(std::move(what)), where(std::move(where)), fix(std::move(fix)) {}

  const char* what() const noexcept override { return message.c_str(); }

  ErrorKind kind;
  std::string message;
  std::string where;
  std::string fix;
};

}  // namespace nl

#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "model/codes.h"

// Why a workload did not end well, as far as its standard error tells.
namespace nl::orchestrator {

struct WorkloadFailure {
  Code code = Code::kWorkloadException;
  std::string what;   // "ValueError: shapes differ", the first line of the message; of memory, ": 2.00 TiB asked for, 139.80 GiB on GPU 0"
  std::string place;  // the innermost line of the program's own code: "serve.py:12 in step"; empty: not known
};

// The failure that a text ends with: the last exception of Python (also of several chained ones, of a group, of a rank, or behind the
// prefix of a logger), an exception or a failed assertion of C and C++, a panic of Rust. Nothing where there is none.
std::optional<WorkloadFailure> failure_in(std::string_view stderr_text);

// True for a line that says nothing by itself: "    ~~~~~^^^^^", "--------", "Traceback (most recent call last):".
bool is_decoration(std::string_view line);

// A message without secrets: values of environment variables, passwords in addresses, tokens of well-known services.
std::string without_secrets(std::string text, const std::map<std::string, std::string>& environment);

}  // namespace nl::orchestrator

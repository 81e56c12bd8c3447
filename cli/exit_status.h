#pragma once

#include <optional>
#include <span>

#include "model/error.h"
#include "model/words.h"

namespace nl {

template <>
inline constexpr auto kKeys<ErrorKind> = std::to_array<std::string_view>(
    {"internal", "usage", "config", "input", "tool", "workload", "capture", "timeout", "output", "interrupted"});

}  // namespace nl

namespace nl::cli {

// docs/exit-status.md has the list.
inline constexpr int kNotMetStatus = 9;         // everything ran, and the verdict is not the wanted one
inline constexpr int kInterruptedStatus = 128;  // and the number of the signal: comes before every other

struct ExitStatus {
  const char* status;  // "2"; several signals: "129, 130, 143"
  const char* meaning;
};
std::span<const ExitStatus> exit_statuses();  // all that there are, for man pages

int exit_status_of(ErrorKind kind);
int exit_status_of(std::optional<ErrorKind> failure, int interrupt_signal);

}  // namespace nl::cli

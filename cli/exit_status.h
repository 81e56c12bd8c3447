#pragma once

#include <optional>

#include "model/error.h"

namespace nl::cli {

// docs/exit-status.md has the list.
int exit_status_of(ErrorKind kind);
int exit_status_of(std::optional<ErrorKind> failure, int interrupt_signal);

}  // namespace nl::cli

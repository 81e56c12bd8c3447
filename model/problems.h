#pragma once

#include <optional>
#include <vector>

#include "model/codes.h"
#include "model/error.h"

// What the problems of a run make of it. Problems that are only worth knowing change nothing.
namespace nl {

std::optional<ErrorKind> gravest(const std::vector<Problem>& problems);
bool ended_early(const std::optional<ErrorKind>& failure);  // interrupted, or by a timeout
RunStatus status_of(const std::vector<Problem>& problems, bool captured_something);

}  // namespace nl

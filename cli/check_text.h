#pragma once

#include <vector>

#include "orchestrator/doctor/doctor.h"

namespace nl::cli {

// One line a check, with its level in colour, and below it the fix; on a terminal broken into lines that fit.
void print_checks(const std::vector<orchestrator::Check>& checks);

}  // namespace nl::cli

#pragma once

#include <string_view>

namespace nl::orchestrator {

inline constexpr const char* kProgressVariable = "NL_STAGE_PROGRESS_FD";

// A program that started us may want to know what we do now: it names a pipe in NL_STAGE_PROGRESS_FD, and reads a line for each step. Nothing that
// we start inherits the pipe or the variable. Called once, before there are threads.
void take_progress_pipe();

void tell_progress(std::string_view what);  // "[2/5] nsys trace"; nothing where no program asked

}  // namespace nl::orchestrator

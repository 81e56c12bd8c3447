#pragma once

// Tracing one step in so many. In the others CUPTI records nothing, and a launch costs next to nothing.
namespace nl::collector {

// As NL_STAGE_DUTY ("1/10"), NL_STAGE_DUTY_STEPS (a list as of watch_stages(), a kind a line), NL_STAGE_DUTY_ROW ("16,1": of each line, the last
// also of those after it) and NL_STAGE_DUTY_SEED say. Called once tracing has started. False: all is traced, because nothing else is asked for.
bool trace_chosen_steps();

// At the program's end: says that tracing ends here. No step is chosen any more.
void finish_duty();

}  // namespace nl::collector

#pragma once

// The program that the collector is loaded into: what its environment tells us, its standard error, its threads, its end.
namespace nl::collector {

// `otherwise` where the variable is not set, not a number, or out of bounds.
long number_from(const char* variable, long otherwise, long least, long most);

// nullptr where it is not set or empty. The text is the environment's: it is used at once, because a program may change
// its environment.
const char* text_from(const char* variable);

// The same, kept for as long as the process lives; nullptr also where there is no room for it.
const char* kept_text_from(const char* variable);

void remember_stderr();  // while the collector starts

// Writes to standard error if that is still the same file: a program may have closed it and reused its number for
// something else.
void tell_user(const char* line);

// Starts a detached thread of the collector in the user's program. The thread takes none of its signals. False: it could not start.
bool run_in_background(void* (*work)(void*));

// Lets the GPU half finish once when the program ends: it takes what is left and stops using CUPTI. Registered again whenever
// CUPTI has loaded libraries of its own: they are torn down before handlers that were registered earlier.
void finish_at_exit();

}  // namespace nl::collector

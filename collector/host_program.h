#pragma once

// The program that the collector is loaded into: what its environment tells us, its standard error, its threads, its end.
namespace nl::collector {

// `otherwise` where the variable is not set, no number, or out of bounds.
long number_from(const char* variable, long otherwise, long least, long most);

// nullptr where it is not set or empty. The text is the environment's: it is used at once, because a program may change
// its environment.
const char* text_from(const char* variable);

// The same, kept for as long as the process lives; nullptr also where there is no room for it.
const char* kept_text_from(const char* variable);

void remember_stderr();  // while the collector starts

// To standard error, as far as that is still what it was: a program may have closed it and got its number for
// something else.
void tell_user(const char* line);

// A detached thread of ours in somebody else's program: it takes none of its signals. False: there is none.
bool run_in_background(void* (*work)(void*));

// What the GPU half does when the program ends, once: takes what is left and leaves CUPTI. Registered again whenever
// CUPTI has loaded libraries of its own: they are torn down before handlers that were registered earlier.
void finish_at_exit();

}  // namespace nl::collector

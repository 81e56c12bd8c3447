#pragma once

// What the collector is told, by the environment of the program that it is loaded into.
namespace nl::collector {

// `otherwise` where the variable is not set, no number, or out of bounds.
long number_from(const char* variable, long otherwise, long least, long most);

// nullptr where it is not set or empty. The text is the environment's: it is used at once, because a program may change
// its environment.
const char* text_from(const char* variable);

// The same, kept for as long as the process lives; nullptr also where there is no room for it.
const char* kept_text_from(const char* variable);

}  // namespace nl::collector

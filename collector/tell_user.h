#pragma once

namespace nl::collector {

void remember_stderr();  // while the collector starts

// To standard error, as far as that is still what it was: a program may have closed it and got its number for
// something else.
void tell_user(const char* line);

}  // namespace nl::collector

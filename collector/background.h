#pragma once

namespace nl::collector {

// A detached thread of ours in somebody else's program: it takes none of its signals. False: there is none.
bool run_in_background(void* (*work)(void*));

}  // namespace nl::collector

#pragma once

namespace nl::collector {

// What the GPU half does when the program ends, once: takes what is left and leaves CUPTI. Registered again whenever
// CUPTI has loaded libraries of its own: they are torn down before handlers that were registered earlier.
void finish_at_exit();

}  // namespace nl::collector

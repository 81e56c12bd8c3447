#pragma once

#include <cstdio>
#include <cstdlib>

namespace nl::fake {

// A function of TensorRT that the stand-in does not have was called.
[[noreturn]] inline void not_played(const char* function) {
  std::fprintf(stderr, "the stand-in for TensorRT has no %s\n", function);
  std::abort();
}

}  // namespace nl::fake

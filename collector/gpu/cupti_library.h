#pragma once

#include <cstddef>

#include <dlfcn.h>

#include "collector/gpu/cupti_api.h"
#include "collector/gpu/cupti_profiler_api.h"

namespace nl::collector {

template <typename Function>
bool find_symbol(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

struct CuptiLibrary {
  cupti::Api api{};
  cupti::ProfilerApi profiler{};  // some of it may be missing
  char path[1024] = {};
  bool loaded = false;
};

// Looks for libcupti where the user says (NL_STAGE_CUPTI: a file or a folder), in the process (PyTorch brings its
// own; a second one beside it would record nothing), in CUDA's folders, in Python's, then wherever the loader
// looks. `trouble`: why none can be used.
bool load_cupti(CuptiLibrary& library, char* trouble, std::size_t trouble_bytes);

// Libraries in this process that are known to use CUPTI or to be loaded by a tool that does: "libkineto…". Empty
// where there is none.
void name_cupti_clients(char* names, std::size_t bytes);

}  // namespace nl::collector

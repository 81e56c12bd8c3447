#pragma once

#include <cstring>

namespace nl::collector {

// Functions that give a process memory of another GPU on which it has no context of its own. Until one is called, or a second
// GPU has a context, no copy can be between GPUs.
inline bool brings_peer_memory(const char* driver_function) {
  constexpr const char* kNames[] = {"cuIpcOpenMemHandle", "cuMemImportFromShareableHandle", "cuMemPoolImportFromShareableHandle",
                                    "cuCtxEnablePeerAccess"};
  for (const char* name : kNames)
    if (std::strncmp(driver_function, name, std::strlen(name)) == 0) return true;
  return false;
}

}  // namespace nl::collector

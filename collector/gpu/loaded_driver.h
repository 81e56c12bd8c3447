#pragma once

#include <dlfcn.h>

#include "collector/gpu/cupti_library.h"

namespace nl::collector {

// The CUDA driver, where the program has loaded it: never by us.
class LoadedDriver {
 public:
  LoadedDriver() : library_(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD)) {}
  ~LoadedDriver() {
    if (library_ != nullptr) dlclose(library_);
  }
  LoadedDriver(const LoadedDriver&) = delete;
  LoadedDriver& operator=(const LoadedDriver&) = delete;

  template <typename Function>
  bool find(const char* name, Function& function) const {
    return library_ != nullptr && find_symbol(library_, name, function);
  }

 private:
  void* library_;
};

}  // namespace nl::collector

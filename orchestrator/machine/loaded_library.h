#pragma once

#include <string>

// A vendor's library that is loaded at run time, and never unloaded.
namespace nl::orchestrator {

class LoadedLibrary {
 public:
  // `title` as in "the CUDA driver was not found". Throws Error(kTool) with this fix.
  LoadedLibrary(const std::string& file, std::string title, std::string fix);
  LoadedLibrary(const LoadedLibrary&) = delete;
  LoadedLibrary& operator=(const LoadedLibrary&) = delete;

  template <class Function>
  void find(Function& function, const char* name) const {
    function = reinterpret_cast<Function>(symbol(name));
  }

 private:
  void* symbol(const char* name) const;  // throws Error(kTool) where the library lacks it
  void* handle_;
  std::string file_, title_, fix_;
};

}  // namespace nl::orchestrator

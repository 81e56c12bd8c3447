#pragma once

#include <filesystem>
#include <string>

#include "adapters/libtorch/plugin.h"

// nl-stage's half of the LibTorch backend: finds the module and asks whether it fits.
namespace nl::adapters {

struct LibtorchModule {
  std::filesystem::path file;
  const LibtorchPlugin* plugin = nullptr;
  std::string reason;  // why it cannot be used; empty: it can
};

// Searched from the program's folder upwards, as it lies in a build folder and where it is installed. chosen: the file itself; may be null.
LibtorchModule find_libtorch_module(const std::filesystem::path& program, const char* chosen);

// Of this process, loaded when it is first asked for. NL_STAGE_LIBTORCH names another file.
const LibtorchModule& libtorch_module();

// Why nl-stage cannot work with this module; empty: it can.
std::string reason_against(const LibtorchPlugin& plugin);

}  // namespace nl::adapters

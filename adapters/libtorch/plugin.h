#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "adapters/adapter.h"

// LibTorch has a C++ interface, which dlsym cannot bind: what includes its headers is a module of its own, libnl_libtorch.so, that nl-stage loads
// when it is asked for LibTorch. Sessions cross the border as C++ objects: both sides are built together, by one compiler, and the fields that
// are read first say whether they were. So nl-stage itself needs no LibTorch, and a new LibTorch wants a new module only.
namespace nl::adapters {

struct LibtorchPlugin {
  std::uint32_t layout;              // kLibtorchLayout; the first field for good
  const char* nl_stage;              // version of nl-stage that it was built with
  const char* built_with;            // TORCH_VERSION of the headers
  std::string (*library_version)();  // of the libraries that were loaded; empty: they do not say
  bool (*has_cuda)();                // a GPU is there, and these libraries can use it
  // Throws nothing but Error.
  std::unique_ptr<Session> (*open)(const SessionOptions& options);
};

// Two layouts have different numbers. Raise it by hand when this struct or Session changes; it changes by itself when what they pass grows.
inline constexpr std::uint32_t kLibtorchLayout =
    0x10000 + sizeof(SessionOptions) + sizeof(TensorSpec) + sizeof(SessionNode) + sizeof(NodeRun);

using LibtorchEntry = const LibtorchPlugin* (*)();
inline constexpr const char* kLibtorchEntry = "nl_libtorch_plugin";
inline constexpr const char* kLibtorchFile = "libnl_libtorch.so";

// nl-stage's half of the LibTorch backend: finds the module and asks whether it fits.
struct LibtorchModule {
  std::filesystem::path file;
  const LibtorchPlugin* plugin = nullptr;
  std::string reason;  // why it cannot be used; empty: it can
};

// Searches from the program's folder upwards, in the layout of a build folder and of an installation. chosen: the file itself; may be null.
LibtorchModule find_libtorch_module(const std::filesystem::path& program, const char* chosen);

// The module of this process, loaded when it is first asked for. NL_STAGE_LIBTORCH names another file.
const LibtorchModule& libtorch_module();

// Why nl-stage cannot work with this module; empty: it can.
std::string reason_against(const LibtorchPlugin& plugin);

}  // namespace nl::adapters

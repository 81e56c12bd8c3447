#include "adapters/onnxruntime/library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <onnxruntime_cxx_api.h>

#include <cstdint>
#include <cstdlib>
#include <optional>

#include "model/error.h"

namespace nl::adapters {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLibraryVariable = "NL_STAGE_ONNXRUNTIME";
// Release 1.17 and newer: nothing that came later is called, whatever the headers have.
constexpr std::uint32_t kOldestApi = 17;
constexpr const char* kLibraryFix =
    "name the library with NL_STAGE_ONNXRUNTIME=/path/libonnxruntime.so; docs/adapters.md has the places where one is found";

void add_matching(const fs::path& folder, std::string_view begin, std::vector<fs::path>& out) {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none))
    if (entry.path().filename().string().starts_with(begin)) out.push_back(entry.path());
}

// <prefix>/lib/python3.12/site-packages/onnxruntime/capi/libonnxruntime.so.1.21.0, as wheels have it.
std::vector<fs::path> libraries_of_python() {
  std::vector<fs::path> pythons, found;
  const char* environment = std::getenv("VIRTUAL_ENV");
  const char* home = std::getenv("HOME");
  if (environment) add_matching(fs::path(environment) / "lib", "python3", pythons);
  if (home) add_matching(fs::path(home) / ".local/lib", "python3", pythons);
  add_matching("/usr/local/lib", "python3", pythons);
  for (const fs::path& python : pythons)
    for (const char* packages : {"site-packages", "dist-packages"})
      add_matching(python / packages / "onnxruntime/capi", "libonnxruntime.so", found);
  return found;
}

std::vector<fs::path> library_candidates() {
  if (const char* named = std::getenv(kLibraryVariable); named && *named) return {named};
  std::vector<fs::path> files;
  if (fs::exists(NL_ONNXRUNTIME_LIBRARY)) files.emplace_back(NL_ONNXRUNTIME_LIBRARY);
  // Debian's has the release in its name, that of other distributions the first number or none.
  files.insert(files.end(), {"libonnxruntime.so.1", fmt::format("libonnxruntime.so.1.{}", ORT_API_VERSION), "libonnxruntime.so"});
  for (const fs::path& file : libraries_of_python()) files.push_back(file);
  return files;
}

std::string place_of(const void* function, const fs::path& file) {
  Dl_info place{};
  return ::dladdr(function, &place) != 0 && place.dli_fname ? place.dli_fname : file.string();
}

// What is most worth telling: a library that is there and unfit, rather than the last of many that are not there.
OnnxRuntimeLibrary first_that_loads() {
  const std::vector<fs::path> files = library_candidates();
  std::optional<Error> unfit;
  for (const fs::path& file : files) {
    try {
      return load_onnxruntime(file);
    } catch (const Error& error) {
      if (!unfit && (files.size() == 1 || fs::exists(error.where))) unfit = error;
    }
  }
  throw unfit.value_or(Error(ErrorKind::kTool, "the library of ONNX Runtime, libonnxruntime.so, was not found", {}, kLibraryFix));
}

}  // namespace

OnnxRuntimeLibrary load_onnxruntime(const fs::path& file) {
  void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    throw Error(ErrorKind::kTool, fmt::format("the library of ONNX Runtime does not load: {}", ::dlerror()), file.string(), kLibraryFix);
  using GetBase = const OrtApiBase* (*)();
  const auto get_base = reinterpret_cast<GetBase>(::dlsym(library, "OrtGetApiBase"));
  if (!get_base) throw Error(ErrorKind::kTool, "this is no library of ONNX Runtime: it has no OrtGetApiBase", file.string(), kLibraryFix);
  const OrtApiBase* base = get_base();
  OnnxRuntimeLibrary loaded{base->GetApi(kOldestApi), base->GetVersionString(), place_of(reinterpret_cast<const void*>(get_base), file)};
  if (!loaded.api)
    throw Error(ErrorKind::kTool, fmt::format("this is ONNX Runtime {}; nl-stage needs 1.{} or newer", loaded.version, kOldestApi),
                loaded.path, kLibraryFix);
  return loaded;
}

const OnnxRuntimeLibrary& onnxruntime_library() {
  static const OnnxRuntimeLibrary library = [] {
    OnnxRuntimeLibrary loaded = first_that_loads();
    Ort::InitApi(loaded.api);
    return loaded;
  }();
  return library;
}

}  // namespace nl::adapters

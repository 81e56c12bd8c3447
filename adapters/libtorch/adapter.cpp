#include "adapters/libtorch/plugin.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <vector>

#include "adapters/adapter.h"
#include "model/error.h"

namespace nl::adapters {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBuildFix = "install libtorch-dev or give Meson -Dlibtorch=DIR, and build again";

// "2.11" of "2.11.0+cu130": what the two halves must agree on.
std::string major_and_minor(const std::string& version) {
  const auto first = version.find('.');
  return first == std::string::npos ? version : version.substr(0, version.find_first_not_of("0123456789", first + 1));
}

std::optional<fs::path> first_that_exists(const std::vector<fs::path>& places) {
  std::error_code failed;
  for (const fs::path& place : places)
    if (fs::exists(place, failed)) return place;
  return std::nullopt;
}

// Never unloaded: LibTorch's threads and its static objects outlive any session.
LibtorchModule loaded(const fs::path& file) {
  LibtorchModule module;
  module.file = file;
  void* library = dlopen(file.c_str(), RTLD_LOCAL | RTLD_NOW);
  const char* trouble = library == nullptr ? dlerror() : nullptr;
  if (trouble != nullptr) return module.reason = trouble, module;
  const auto entry = reinterpret_cast<LibtorchEntry>(dlsym(library, kLibtorchEntry));
  if (entry == nullptr) return module.reason = fmt::format("{} is no module of nl-stage", file.string()), module;
  module.plugin = entry();
  module.reason = reason_against(*module.plugin);
  return module;
}

class Libtorch : public Adapter {
 public:
  std::string name() const override { return "libtorch"; }
  std::string title() const override { return "LibTorch"; }

  Availability availability() const override {
    const LibtorchModule& module = libtorch_module();
    Availability out{true, module.reason.empty(), {}, module.file.string(), module.reason, {}};
    if (!out.loads) return out;
    const std::string version = module.plugin->library_version();
    out.version = version.empty() ? module.plugin->built_with : version;
    out.providers = {"cpu"};
    if (module.plugin->has_cuda()) out.providers.push_back("cuda");
    return out;
  }

  std::unique_ptr<Session> open(const SessionOptions& options) const override {
    const LibtorchModule& module = libtorch_module();
    if (!module.reason.empty()) throw Error(ErrorKind::kTool, "LibTorch cannot be used: " + module.reason, "--backend libtorch", kBuildFix);
    return module.plugin->open(options);
  }
};

}  // namespace

std::string reason_against(const LibtorchPlugin& plugin) {
  if (plugin.layout != kLibtorchLayout || std::string_view(plugin.nl_stage) != NL_VERSION)
    return fmt::format("{} is of another nl-stage ({})", kLibtorchFile,
                       plugin.layout == kLibtorchLayout ? plugin.nl_stage : "another layout");
  const std::string version = plugin.library_version();
  if (!version.empty() && major_and_minor(version) != major_and_minor(plugin.built_with))
    return fmt::format("{} was built with LibTorch {}, and the libraries here are {}", kLibtorchFile, plugin.built_with, version);
  return {};
}

LibtorchModule find_libtorch_module(const fs::path& program, const char* chosen) {
  if (chosen != nullptr && *chosen != '\0') return loaded(chosen);
  // Built: cli/ and adapters/ of the build folder, tests deeper in it. Installed: <prefix>/bin and <prefix>/lib…/nl-stage.
  std::vector<fs::path> places;
  for (fs::path above = program.parent_path(); above.has_relative_path(); above = above.parent_path())
    for (const char* folder : {"adapters/libtorch", "lib/nl-stage", NL_LIBDIR "/nl-stage", "lib64/nl-stage"})
      places.push_back(above / folder / kLibtorchFile);
  if (const auto file = first_that_exists(places)) return loaded(*file);
  LibtorchModule none;
  none.reason = fmt::format("{} is not beside nl-stage; {}", kLibtorchFile, kBuildFix);
  return none;
}

const LibtorchModule& libtorch_module() {
  static const LibtorchModule module = [] {
    std::error_code failed;
    return find_libtorch_module(fs::read_symlink("/proc/self/exe", failed), std::getenv("NL_STAGE_LIBTORCH"));
  }();
  return module;
}

std::unique_ptr<Adapter> libtorch_adapter() { return std::make_unique<Libtorch>(); }

}  // namespace nl::adapters

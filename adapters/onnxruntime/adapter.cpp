#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "adapters/backends.h"
#include "adapters/onnxruntime/api.h"
#include "adapters/onnxruntime/library.h"
#include "adapters/onnxruntime/session.h"
#include "model/error.h"

namespace nl::adapters {
namespace {

// By ONNX Runtime's name and ours, those that a session here can use.
constexpr std::pair<std::string_view, const char*> kProviders[] = {{"CPUExecutionProvider", "cpu"}, {"CUDAExecutionProvider", "cuda"}};

std::vector<std::string> providers_there() {
  std::vector<std::string> providers;
  const std::vector<std::string> available = Ort::GetAvailableProviders();
  for (const auto& [theirs, ours] : kProviders)
    if (std::find(available.begin(), available.end(), theirs) != available.end()) providers.emplace_back(ours);
  return providers;
}

class OnnxRuntime : public Adapter {
 public:
  std::string name() const override { return "onnxruntime"; }
  std::string title() const override { return "ONNX Runtime"; }

  Availability availability() const override {
    Availability found;
    found.built_in = true;
    try {
      const OnnxRuntimeLibrary& library = onnxruntime_library();
      found.version = library.version;
      found.library = library.path;
      found.providers = providers_there();
      found.loads = true;
    } catch (const Error& error) {
      found.reason = error.where.empty() ? error.message : fmt::format("{} ({})", error.message, error.where);
    }
    return found;
  }

  std::unique_ptr<Session> open(const SessionOptions& options) const override {
    const OnnxRuntimeLibrary& library = onnxruntime_library();
    const std::vector<std::string> providers = providers_there();
    if (std::find(providers.begin(), providers.end(), options.provider) == providers.end())
      throw Error(ErrorKind::kUsage, fmt::format("{} has no provider \"{}\"", library.path, options.provider),
                  "--provider " + options.provider, fmt::format("give one of: {}", fmt::join(providers, ", ")));
    return open_onnxruntime_session(options);
  }
};

}  // namespace

std::unique_ptr<Adapter> onnxruntime_adapter() { return std::make_unique<OnnxRuntime>(); }

}  // namespace nl::adapters

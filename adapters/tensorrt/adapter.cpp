#include "adapters/backends.h"
#include "adapters/tensorrt/cuda_runtime.h"
#include "adapters/tensorrt/libraries.h"
#include "adapters/tensorrt/session.h"
#include "model/error.h"

namespace nl::adapters {
namespace {

class TensorRt : public Adapter {
 public:
  std::string name() const override { return "tensorrt"; }
  std::string title() const override { return "TensorRT"; }

  Availability availability() const override {
    Availability here;
    here.built_in = true;
    try {
      const tensorrt::InferLibrary library;
      here.version = library.version;
      here.library = library.path;
      const tensorrt::CudaRuntime cuda;  // throws where there is no GPU
      here.loads = true;
      here.providers = {"cuda"};
    } catch (const Error& missing) {
      here.reason = missing.message + (missing.where.empty() ? "" : ": " + missing.where);
    }
    return here;
  }

  std::unique_ptr<Session> open(const SessionOptions& options) const override {
    if (!options.provider.empty() && options.provider != "cuda")
      throw Error(ErrorKind::kUsage, "TensorRT runs on a GPU only", "--provider " + options.provider, "give --provider cuda");
    return tensorrt::open_session(options);
  }
};

}  // namespace

std::unique_ptr<Adapter> tensorrt_adapter() { return std::make_unique<TensorRt>(); }

}  // namespace nl::adapters

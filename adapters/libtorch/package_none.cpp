#include <fmt/format.h>
#include <torch/version.h>

#include "adapters/libtorch/iteration.h"
#include "model/error.h"

namespace nl::adapters {

std::unique_ptr<Session> open_package(const SessionOptions& options) {
  throw Error(ErrorKind::kTool, fmt::format("LibTorch {} does not load packages of AOTInductor: it takes 2.6", TORCH_VERSION),
              options.model.string(), "build nl-stage with -Dlibtorch=DIR of a newer one, or save the model as TorchScript");
}

}  // namespace nl::adapters

#include "adapters/adapter.h"

namespace nl::adapters {

std::unique_ptr<Adapter> libtorch_adapter() {
  return not_built("libtorch", "LibTorch", "install libtorch-dev or give -Dlibtorch=DIR, and build again");
}

}  // namespace nl::adapters

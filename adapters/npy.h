#pragma once

#include <filesystem>
#include <vector>

#include "adapters/adapter.h"

namespace nl::adapters {

// Arrays of NumPy: one without a name from a .npy, several from a .npz (a zip archive, stored or deflated). Throws Error(kInput) with the place.
std::vector<Tensor> read_numpy(const std::filesystem::path& file);

}  // namespace nl::adapters

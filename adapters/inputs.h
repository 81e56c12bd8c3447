#pragma once

#include <map>
#include <string>
#include <vector>

#include "adapters/adapter.h"

namespace nl::adapters {

// Arrays of NumPy: one without a name from a .npy, several from a .npz (a zip archive, stored or deflated). Throws Error(kInput) with the place.
std::vector<Tensor> read_numpy(const std::filesystem::path& file);

// --shape x=2x16:int64
struct GivenShape {
  std::vector<std::int64_t> sizes;
  std::string dtype;  // empty: as the model declares it, else float32
};
using GivenShapes = std::map<std::string, GivenShape>;  // by the input's name

// "2x16:int64", "2x16", ":bool" (a number without dimensions). Throws Error(kUsage).
GivenShape parse_shape(const std::string& text);

// Tensors for a model's inputs: of a file, zeros, or random ones. The same seed gives the same values everywhere: floats between -1 and 1,
// whole numbers from 0 to 7 (they are mostly indices or masks), booleans all true.
// Throws Error(kUsage) that lists the open dimensions which `dims` does not have, and names an input that is missing or has another shape or type.
std::vector<Tensor> make_inputs(const std::vector<TensorSpec>& specs, const std::string& from, std::uint64_t seed,
                                const std::map<std::string, std::int64_t>& dims, const GivenShapes& shapes = {});

// The same Error before anything is made: for inputs that are made up, not of those in a file.
void check_sizes(const std::vector<TensorSpec>& specs, const std::string& from, const std::map<std::string, std::int64_t>& dims,
                 const GivenShapes& shapes);

}  // namespace nl::adapters

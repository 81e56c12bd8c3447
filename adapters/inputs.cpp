#include "adapters/inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <set>
#include <sstream>

#include "adapters/tensor_types.h"
#include "model/error.h"
#include "model/visible_text.h"

namespace nl::adapters {
namespace {

// xorshift64*: the same everywhere, unlike the distributions of the standard library.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u | 1u) {}

  std::uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545F4914F6CDD1Du;
  }
  double between_minus_one_and_one() { return static_cast<double>(next() >> 11) * 0x1p-52 - 1; }

 private:
  std::uint64_t state_;
};

// A finite value of at most 1: no subnormals, so nothing to round but the mantissa, which is cut.
std::uint16_t half_of(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const auto exponent = static_cast<int>((bits >> 23) & 0xff) - 127 + 15;
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  return static_cast<std::uint16_t>(exponent <= 0 ? sign : sign | static_cast<std::uint32_t>(exponent) << 10 | ((bits >> 13) & 0x3ffu));
}

std::uint16_t bfloat_of(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<std::uint16_t>(bits >> 16);
}

template <class Value>
void put(std::vector<std::byte>& data, Value value) {
  const auto at = data.size();
  data.resize(at + sizeof value);
  std::memcpy(data.data() + at, &value, sizeof value);
}

void put_random(std::vector<std::byte>& data, const std::string& dtype, std::size_t bytes, Dice& dice) {
  if (dtype == "float64") return put(data, dice.between_minus_one_and_one());
  if (dtype == "float32") return put(data, static_cast<float>(dice.between_minus_one_and_one()));
  if (dtype == "float16") return put(data, half_of(static_cast<float>(dice.between_minus_one_and_one())));
  if (dtype == "bfloat16") return put(data, bfloat_of(static_cast<float>(dice.between_minus_one_and_one())));
  const std::uint64_t whole = dtype == "bool" ? 1 : dice.next() >> 61;
  const auto at = data.size();
  data.resize(at + bytes);
  std::memcpy(data.data() + at, &whole, bytes);
}

[[noreturn]] void refuse(const std::string& what, const std::string& input, const std::string& fix) {
  throw Error(ErrorKind::kUsage, what, "input " + input, fix);
}

// The name that a flag can give a dimension: its symbol, or input and position.
std::string key_of(const TensorSpec& spec, std::size_t axis) {
  const std::string& symbol = spec.shape[axis].symbol;
  return symbol.empty() ? fmt::format("{}.{}", spec.name, axis) : symbol;
}

bool fits(const TensorSpec& spec, const std::vector<std::int64_t>& shape) {
  if (!spec.shape_known) return true;
  const auto same = [](const Dimension& declared, std::int64_t size) { return declared.size < 0 || declared.size == size; };
  return std::equal(spec.shape.begin(), spec.shape.end(), shape.begin(), shape.end(), same);
}

TensorSpec with_shape(const TensorSpec& spec, const GivenShape& given) {
  const std::string fix = fmt::format("the model wants {} {}", spec.dtype, declared_text(spec));
  if (!fits(spec, given.sizes)) refuse(fmt::format("--shape gives it {}", shape_text(given.sizes)), spec.name, fix);
  if (!spec.dtype.empty() && !given.dtype.empty() && given.dtype != spec.dtype)
    refuse(fmt::format("--shape gives it {}", given.dtype), spec.name, fix);
  TensorSpec out{spec.name, spec.dtype.empty() ? given.dtype : spec.dtype, {}, true};
  for (const std::int64_t size : given.sizes) out.shape.push_back({size, {}});
  return out;
}

std::vector<TensorSpec> with_shapes(std::vector<TensorSpec> specs, const GivenShapes& shapes) {
  for (const auto& [name, given] : shapes) {
    const auto found = std::find_if(specs.begin(), specs.end(), [&](const TensorSpec& spec) { return spec.name == name; });
    std::string names;
    for (const TensorSpec& spec : specs) names += (names.empty() ? "" : ", ") + spec.name;
    if (found == specs.end()) refuse("the model has no such input", name, "--shape knows these: " + names);
    *found = with_shape(*found, given);
  }
  return specs;
}

void list_open_dimensions(const std::vector<TensorSpec>& specs, const std::map<std::string, std::int64_t>& dims) {
  std::set<std::string> missing;  // flags
  std::string where;
  for (const TensorSpec& spec : specs) {
    bool open = !spec.shape_known;
    if (open) missing.insert(fmt::format("--shape {}=2x16:float32", spec.name));
    for (std::size_t axis = 0; axis < spec.shape.size(); ++axis)
      if (spec.shape[axis].size < 0 && !dims.contains(key_of(spec, axis))) {
        missing.insert(fmt::format("--dim {}=N", key_of(spec, axis)));
        open = true;
      }
    if (open) where += fmt::format("{}{} {}", where.empty() ? "" : ", ", spec.name, declared_text(spec));
  }
  if (missing.empty()) return;
  throw Error(ErrorKind::kUsage, "the model leaves sizes of its inputs open", where,
              fmt::format("give {}, or a file with --inputs", fmt::join(missing, " ")));
}

bool is_made_up(const std::string& from) { return from == "random" || from == "zeros"; }

// Before the bytes are asked for: a slip in --batch must not fill the memory.
void check_size(const Tensor& tensor, std::size_t bytes) {
  const double wanted = std::accumulate(tensor.shape.begin(), tensor.shape.end(), static_cast<double>(bytes),
                                        [](double product, std::int64_t size) { return product * static_cast<double>(size); });
  const double here = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (wanted > here)
    refuse(fmt::format("its shape {} takes {}, more than the {} of memory that this machine has", shape_text(tensor.shape),
                       with_prefix(wanted, "B"), with_prefix(here, "B")),
           tensor.name, "give smaller sizes with --batch, --dim or --shape");
}

Tensor made(const TensorSpec& spec, bool zeros, const std::map<std::string, std::int64_t>& dims, Dice& dice) {
  const std::string dtype = spec.dtype.empty() ? "float32" : spec.dtype;
  const auto bytes = bytes_of(dtype);
  if (!bytes) refuse(fmt::format("its type, {}, cannot be made up", dtype), spec.name, "give its values with --inputs FILE.npz");
  Tensor tensor{spec.name, dtype, {}, {}};
  for (std::size_t axis = 0; axis < spec.shape.size(); ++axis)
    tensor.shape.push_back(spec.shape[axis].size >= 0 ? spec.shape[axis].size : dims.at(key_of(spec, axis)));
  const std::size_t values = values_in(tensor.shape);
  check_size(tensor, *bytes);
  if (zeros) tensor.data.resize(values * *bytes);
  else
    for (std::size_t n = 0; n < values; ++n) put_random(tensor.data, dtype, *bytes, dice);
  return tensor;
}

void check_fit(const TensorSpec& spec, const Tensor& given, const std::string& file) {
  const std::string fix = fmt::format("the model wants {} {}", spec.dtype, declared_text(spec));
  if (!spec.dtype.empty() && given.dtype != spec.dtype) refuse(fmt::format("{} has {} for it", file, given.dtype), spec.name, fix);
  if (!fits(spec, given.shape)) refuse(fmt::format("{} has the shape {} for it", file, shape_text(given.shape)), spec.name, fix);
}

std::vector<Tensor> inputs_of_file(const std::vector<TensorSpec>& specs, const std::filesystem::path& file) {
  std::vector<Tensor> given = read_numpy(file), inputs;
  if (given.size() == 1 && given[0].name.empty() && specs.size() == 1) given[0].name = specs[0].name;
  for (const TensorSpec& spec : specs) {
    const auto found = std::find_if(given.begin(), given.end(), [&](const Tensor& tensor) { return tensor.name == spec.name; });
    if (found == given.end())
      refuse(fmt::format("{} has no array of this name", file.filename().string()), spec.name,
             "np.savez(file, name=array …) with one array for each input");
    check_fit(spec, *found, file.filename().string());
    inputs.push_back(std::move(*found));
  }
  return inputs;
}

}  // namespace

GivenShape parse_shape(const std::string& text) {
  const auto colon = text.find(':');
  GivenShape shape{{}, colon == std::string::npos ? "" : text.substr(colon + 1)};
  const auto bad = [&] {
    throw Error(ErrorKind::kUsage, fmt::format("\"{}\" is no shape", text), "--shape", "give NAME=2x16 or NAME=2x16:int64");
  };
  if (!shape.dtype.empty() && !bytes_of(shape.dtype)) bad();
  const std::string sizes_text = text.substr(0, colon);
  if (text.empty() || sizes_text.ends_with('x')) bad();
  std::istringstream sizes(sizes_text);
  for (std::string size; std::getline(sizes, size, 'x');) {
    if (size.empty() || size.size() > 15 || size.find_first_not_of("0123456789") != std::string::npos) bad();
    shape.sizes.push_back(std::stoll(size));
  }
  return shape;
}

void check_sizes(const std::vector<TensorSpec>& declared, const std::string& from, const std::map<std::string, std::int64_t>& dims,
                 const GivenShapes& shapes) {
  const std::vector<TensorSpec> specs = with_shapes(declared, shapes);
  if (is_made_up(from)) list_open_dimensions(specs, dims);
}

std::vector<Tensor> make_inputs(const std::vector<TensorSpec>& declared, const std::string& from, std::uint64_t seed,
                                const std::map<std::string, std::int64_t>& dims, const GivenShapes& shapes) {
  const std::vector<TensorSpec> specs = with_shapes(declared, shapes);
  if (!is_made_up(from)) return inputs_of_file(specs, from);
  list_open_dimensions(specs, dims);
  Dice dice(seed);
  std::vector<Tensor> inputs;
  for (const TensorSpec& spec : specs) inputs.push_back(made(spec, from == "zeros", dims, dice));
  return inputs;
}

}  // namespace nl::adapters

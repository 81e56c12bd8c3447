#include <fmt/format.h>
#include <zlib.h>

#include <cstring>
#include <fstream>
#include <map>
#include <span>

#include "adapters/inputs.h"
#include "adapters/tensor_types.h"
#include "model/error.h"
#include "model/input_bounds.h"

namespace nl::adapters {
namespace {

using Bytes = std::span<const std::byte>;

[[noreturn]] void damaged(const std::string& what) { throw Error(ErrorKind::kInput, what); }

template <class Value>
Value number_at(Bytes bytes, std::size_t at) {
  if (at + sizeof(Value) > bytes.size()) damaged("the file ends too early");
  Value value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

Bytes part(Bytes bytes, std::size_t at, std::size_t size) {
  if (at > bytes.size() || size > bytes.size() - at) damaged("the file ends too early");
  return bytes.subspan(at, size);
}

std::string text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

// '<f4' and so on; the sign says which end comes first.
std::string dtype_of(const std::string& descr) {
  static const std::map<std::string, std::string> kTypes = {
      {"<f4", "float32"}, {"<f8", "float64"}, {"<f2", "float16"}, {"<i8", "int64"},  {"<i4", "int32"}, {"<i2", "int16"},   {"|i1", "int8"},
      {"|u1", "uint8"},   {"<u2", "uint16"},  {"<u4", "uint32"},  {"<u8", "uint64"}, {"|b1", "bool"},  {"<V2", "bfloat16"}};
  const auto found = kTypes.find(descr);
  if (found == kTypes.end()) damaged(fmt::format("arrays of the type {} are not read", descr));
  return found->second;
}

std::string between(const std::string& header, const std::string& before, char after) {
  const auto begin = header.find(before);
  const auto end = begin == std::string::npos ? begin : header.find(after, begin + before.size());
  if (end == std::string::npos) damaged("the header of an array is not NumPy's");
  return header.substr(begin + before.size(), end - begin - before.size());
}

std::vector<std::int64_t> sizes_of(const std::string& text) {
  if (text.find_first_not_of("0123456789L, ") != std::string::npos) damaged("the shape of an array holds something else than sizes");
  std::vector<std::int64_t> sizes;
  for (std::size_t at = 0; (at = text.find_first_of("0123456789", at)) != std::string::npos;) {
    std::size_t end = text.find_first_not_of("0123456789", at);
    end = end == std::string::npos ? text.size() : end;
    if (end - at > 15) damaged("an array is too large");
    sizes.push_back(std::stoll(text.substr(at, end - at)));
    at = end;
  }
  return sizes;
}

// "\x93NUMPY", two bytes of version, the header's length, then
//   {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
Tensor array_of(Bytes bytes, std::string name) {
  if (bytes.size() < 10 || text_of(bytes.first(6)) != "\x93NUMPY") damaged("this is no array of NumPy");
  const bool first_version = bytes[6] == std::byte{1};
  const std::size_t length = first_version ? number_at<std::uint16_t>(bytes, 8) : number_at<std::uint32_t>(bytes, 8);
  const std::size_t start = first_version ? 10 : 12;
  const std::string header = text_of(part(bytes, start, length));
  if (header.find("'fortran_order': False") == std::string::npos) damaged("the array is stored column by column; use np.ascontiguousarray");
  Tensor tensor{std::move(name), dtype_of(between(header, "'descr': '", '\'')), sizes_of(between(header, "'shape': (", ')')), {}};
  std::size_t size = *bytes_of(tensor.dtype);
  for (const std::int64_t dimension : tensor.shape) {
    if (dimension != 0 && size > bytes.size() / static_cast<std::size_t>(dimension)) damaged("the array ends too early");
    size *= static_cast<std::size_t>(dimension);
  }
  const Bytes data = part(bytes, start + length, size);
  tensor.data.assign(data.begin(), data.end());
  return tensor;
}

// Raw deflate, as zip archives have it. Throws Error(kInput) for damaged data.
std::vector<std::byte> inflated(Bytes packed, std::size_t size) {
  std::vector<std::byte> plain(size);
  z_stream stream{};
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(plain.data());
  stream.avail_out = static_cast<uInt>(size);
  const bool whole = inflateInit2(&stream, -MAX_WBITS) == Z_OK && inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.avail_out == 0;
  inflateEnd(&stream);
  if (!whole) damaged("a packed array is damaged");
  return plain;
}

constexpr std::uint32_t kEntry = 0x02014b50, kEnd = 0x06054b50;

// The directory at the end of a zip archive, found from behind: a comment may follow it.
std::size_t end_of_directory(Bytes bytes) {
  for (std::size_t back = 22; back <= bytes.size() && back <= 22 + 65535; ++back)
    if (number_at<std::uint32_t>(bytes, bytes.size() - back) == kEnd) return bytes.size() - back;
  damaged("this is no zip archive: its directory is missing");
}

// `left`: the bytes of the file that no entry before has used. Entries that share their bytes could unpack a file any number of times.
Tensor entry_at(Bytes bytes, std::size_t at, const std::string& name, std::size_t& left) {
  const auto method = number_at<std::uint16_t>(bytes, at + 10);
  const std::size_t packed_size = number_at<std::uint32_t>(bytes, at + 20), size = number_at<std::uint32_t>(bytes, at + 24);
  const std::size_t local = number_at<std::uint32_t>(bytes, at + 42);
  if (packed_size == 0xffffffffu || local == 0xffffffffu) damaged("archives of more than 4 GB are not read");
  if (size / kMostInflation > packed_size) damaged("an array would take a thousand times its packed size");  // deflate cannot
  const std::size_t data = local + 30 + number_at<std::uint16_t>(bytes, local + 26) + number_at<std::uint16_t>(bytes, local + 28);
  const Bytes packed = part(bytes, data, packed_size);
  if (packed_size > left) damaged("arrays of the archive share their bytes");
  left -= packed_size;
  if (method != 0 && method != 8) damaged("an array is packed in a way that NumPy does not use");
  return method == 0 ? array_of(packed, name) : array_of(inflated(packed, size), name);
}

std::vector<Tensor> archive_of(Bytes bytes) {
  const std::size_t end = end_of_directory(bytes);
  const auto entries = number_at<std::uint16_t>(bytes, end + 10);
  std::size_t at = number_at<std::uint32_t>(bytes, end + 16);
  std::vector<Tensor> tensors;
  std::size_t left = bytes.size();
  for (std::uint16_t n = 0; n < entries; ++n) {
    if (number_at<std::uint32_t>(bytes, at) != kEntry) damaged("the directory of the archive is damaged");
    const std::size_t name_size = number_at<std::uint16_t>(bytes, at + 28);
    std::string name = text_of(part(bytes, at + 46, name_size));
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    tensors.push_back(entry_at(bytes, at, name, left));
    at += 46 + name_size + number_at<std::uint16_t>(bytes, at + 30) + number_at<std::uint16_t>(bytes, at + 32);
  }
  return tensors;
}

std::vector<std::byte> bytes_of_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  if (!in) throw Error(ErrorKind::kInput, "the inputs cannot be read", file.string(), "give random, zeros, or a .npz or .npy file");
  std::vector<std::byte> bytes(static_cast<std::size_t>(in.tellg()));
  in.seekg(0).read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

}  // namespace

std::vector<Tensor> read_numpy(const std::filesystem::path& file) {
  const std::vector<std::byte> bytes = bytes_of_file(file);
  try {
    if (file.extension() == ".npy") return {array_of(bytes, "")};
    return archive_of(bytes);
  } catch (Error& error) {
    error.where = file.string();
    throw;
  }
}

}  // namespace nl::adapters

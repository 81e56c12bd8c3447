#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "adapters/adapter.h"

// Arrays of NumPy, byte by byte as np.save and np.savez write them.
namespace nl::test {

template <class Value>
std::string raw(Value value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

template <class Value>
std::string raw_values(const std::vector<Value>& values) {
  std::string bytes;
  for (const Value value : values) bytes += raw(value);
  return bytes;
}

inline std::string npy_with_header(const std::string& header, const std::string& data) {
  return "\x93NUMPY" + std::string("\x01\x00", 2) + raw(static_cast<std::uint16_t>(header.size())) + header + data;
}

// descr "<f4", shape "(2, 3)"
inline std::string npy(const std::string& descr, const std::string& shape, const std::string& data) {
  return npy_with_header("{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }\n", data);
}

struct Entry {
  std::string name, data;
  std::uint16_t method = 0;      // 8: deflated
  std::uint32_t plain_size = 0;  // of a deflated one
};

// np.savez gives each local header twenty bytes of its own, which the directory has not.
// `shared`: every entry of the directory leads to the bytes of the first.
inline std::string npz(const std::vector<Entry>& entries, bool shared = false) {
  const auto u16 = [](std::size_t value) { return raw(static_cast<std::uint16_t>(value)); };
  const auto u32 = [](std::size_t value) { return raw(static_cast<std::uint32_t>(value)); };
  std::string files, directory;
  for (const Entry& entry : entries) {
    const std::size_t at = shared ? 0 : files.size(), plain = entry.method == 0 ? entry.data.size() : entry.plain_size;
    const std::string sizes = u32(0) + u32(entry.data.size()) + u32(plain), name = entry.name + ".npy";
    if (!shared || files.empty())
      files += "PK\x03\x04" + u16(45) + u16(0) + u16(entry.method) + u32(0) + sizes + u16(name.size()) + u16(20) + name +
               std::string(20, 'z') + entry.data;
    directory += "PK\x01\x02" + u16(45) + u16(45) + u16(0) + u16(entry.method) + u32(0) + sizes + u16(name.size()) + u16(0) + u16(0) +
                 u16(0) + u16(0) + u32(0) + u32(at) + name;
  }
  return files + directory + "PK\x05\x06" + u32(0) + u16(entries.size()) + u16(entries.size()) + u32(directory.size()) + u32(files.size()) +
         u16(0);
}

template <class Value>
std::vector<Value> values_of(const adapters::Tensor& tensor) {
  std::vector<Value> values(tensor.data.size() / sizeof(Value));
  std::memcpy(values.data(), tensor.data.data(), values.size() * sizeof(Value));
  return values;
}

}  // namespace nl::test

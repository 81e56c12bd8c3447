#pragma once

#include <cstddef>
#include <string>

// OpenSSL's SHA-256. Two sources, of which Meson takes one: libcrypto_linked.cpp where its headers are installed,
// libcrypto_loaded.cpp where they are not: that one opens libcrypto.so.3 when it is needed first.
namespace nl::orchestrator {

inline constexpr std::size_t kSha256Bytes = 32;

struct Libcrypto {
  std::string version;  // "OpenSSL 3.0.17 1 Jul 2025"
  void* (*begin)();     // nullptr: out of memory, or not allowed
  bool (*update)(void* context, const void* data, std::size_t size);
  bool (*finish)(void* context, unsigned char* digest);  // kSha256Bytes
  void (*release)(void* context);
};

// nullptr where this machine has none: then nothing has a digest.
const Libcrypto* libcrypto();

}  // namespace nl::orchestrator

#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "orchestrator/sampling/address_space.h"

namespace nl::orchestrator::sampling {

inline constexpr std::size_t kMaxFrames = 128;

// The innermost part of a thread's stack, as the kernel copied it.
struct StackBytes {
  std::uint64_t start = 0;
  std::span<const unsigned char> bytes;
  bool read(std::uint64_t address, std::uint64_t& value) const;
};

// A function: where it begins in its image. Of code that no table knows it is the address itself.
struct CodePlace {
  std::uint32_t image = 0;
  std::uint64_t address = 0;
  friend auto operator<=>(const CodePlace&, const CodePlace&) = default;
};

// The functions of a stack, the innermost first. It ends where the outermost is reached, where the copied part ends, or where nothing says
// how to go on.
std::vector<CodePlace> unwind(const Machine& machine, const AddressSpace& space, Images& images, Registers registers,
                              const StackBytes& stack);

}  // namespace nl::orchestrator::sampling

#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace nl::orchestrator::sampling {

inline constexpr std::size_t kMaxRegisters = 33;  // of DWARF, with room for a column of the return address

// What the unwinder needs to know of a processor. Registers are numbered as DWARF does.
struct Machine {
  std::uint16_t elf_machine;              // e_machine
  std::uint64_t perf_registers;           // the mask that perf_event_open gets
  std::span<const std::uint8_t> numbers;  // of the registers in that mask, from its lowest bit on; kPcNumber: the program counter
  std::uint8_t stack_pointer, frame_pointer;
  std::uint8_t link_register;  // holds the return address until it is saved; kNoRegister: it is always on the stack
  std::uint64_t address_bits;  // of a code address: the others may hold a signature
};
inline constexpr std::uint8_t kPcNumber = 0xFE, kNoRegister = 0xFF;

extern const Machine kX86_64, kAarch64;

// The one this program is built for; null: stacks cannot be unwound there.
const Machine* own_machine();

// The registers of a moment, as far as they are known.
struct Registers {
  std::array<std::uint64_t, kMaxRegisters> value = {};
  std::uint64_t known = 0;  // one bit each
  std::uint64_t pc = 0;

  bool has(std::size_t number) const { return number < kMaxRegisters && (known >> number & 1) != 0; }
  void set(std::size_t number, std::uint64_t to) {
    value[number] = to;
    known |= std::uint64_t{1} << number;
  }
};

// `values` follow the mask of the machine. An empty result has pc 0.
Registers registers_of(const Machine& machine, std::span<const std::uint64_t> values);

}  // namespace nl::orchestrator::sampling

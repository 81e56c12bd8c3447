#include "orchestrator/sampling/machine.h"

#include <elf.h>

namespace nl::orchestrator::sampling {
namespace {

// perf: AX BX CX DX SI DI BP SP IP, then FLAGS and segments, which are left out, then R8 to R15.
constexpr std::uint8_t kX86Numbers[] = {0, 3, 2, 1, 4, 5, 6, 7, kPcNumber, 8, 9, 10, 11, 12, 13, 14, 15};
constexpr std::uint64_t kX86Mask = 0x1FF | std::uint64_t{0xFF} << 16;

// perf: X0 to X30, SP, PC.
constexpr std::uint8_t kArmNumbers[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,       16,
                                        17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, kPcNumber};
constexpr std::uint64_t kArmMask = (std::uint64_t{1} << 33) - 1;

}  // namespace

extern const Machine kX86_64 = {EM_X86_64, kX86Mask, kX86Numbers, 7, 6, kNoRegister, ~std::uint64_t{0}};
extern const Machine kAarch64 = {EM_AARCH64, kArmMask, kArmNumbers, 31, 29, 30, (std::uint64_t{1} << 48) - 1};

const Machine* own_machine() {
#if defined(__x86_64__)
  return &kX86_64;
#elif defined(__aarch64__)
  return &kAarch64;
#else
  return nullptr;
#endif
}

Registers registers_of(const Machine& machine, std::span<const std::uint64_t> values) {
  Registers out;
  if (values.size() < machine.numbers.size()) return out;
  for (std::size_t i = 0; i < machine.numbers.size(); ++i) {
    if (machine.numbers[i] == kPcNumber) out.pc = values[i] & machine.address_bits;
    else out.set(machine.numbers[i], values[i]);
  }
  return out;
}

}  // namespace nl::orchestrator::sampling

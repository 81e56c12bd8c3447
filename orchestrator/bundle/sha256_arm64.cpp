#include <arm_neon.h>
#include <sys/auxv.h>

#include "orchestrator/bundle/sha256.h"
#include "orchestrator/bundle/sha256_constants.h"

#ifndef HWCAP_SHA2
#define HWCAP_SHA2 (1 << 6)
#endif

namespace nl::orchestrator {
namespace {

#if defined(__clang__)
#define NL_SHA2 __attribute__((target("sha2")))
#else
#define NL_SHA2 __attribute__((target("+crypto")))
#endif

NL_SHA2 void compress_sha2(std::uint32_t* state, const std::uint8_t* blocks, std::size_t count) {
  uint32x4_t abcd = vld1q_u32(state), efgh = vld1q_u32(state + 4);
  for (; count > 0; --count, blocks += 64) {
    const uint32x4_t abcd_before = abcd, efgh_before = efgh;
    uint32x4_t w[4];
    for (int i = 0; i < 4; ++i) w[i] = vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(blocks + 16 * i)));
#pragma GCC unroll 16
    for (int round = 0; round < 16; ++round) {
      const uint32x4_t input = vaddq_u32(w[round % 4], vld1q_u32(kSha256Rounds + 4 * round));
      if (round < 12) {
        const uint32x4_t part = vsha256su0q_u32(w[round % 4], w[(round + 1) % 4]);
        w[round % 4] = vsha256su1q_u32(part, w[(round + 2) % 4], w[(round + 3) % 4]);
      }
      const uint32x4_t abcd_now = abcd;
      abcd = vsha256hq_u32(abcd, efgh, input);
      efgh = vsha256h2q_u32(efgh, abcd_now, input);
    }
    abcd = vaddq_u32(abcd, abcd_before);
    efgh = vaddq_u32(efgh, efgh_before);
  }
  vst1q_u32(state, abcd);
  vst1q_u32(state + 4, efgh);
}

}  // namespace

Sha256::Compress Sha256::compress_native() {
  return (getauxval(AT_HWCAP) & HWCAP_SHA2) != 0 ? &compress_sha2 : nullptr;
}

}  // namespace nl::orchestrator

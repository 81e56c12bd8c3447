#include <cpuid.h>
#include <immintrin.h>

#include "orchestrator/bundle/sha256.h"
#include "orchestrator/bundle/sha256_constants.h"

namespace nl::orchestrator {
namespace {

// The instructions want the state as (a, b, e, f) and (c, d, g, h), high word first.
__attribute__((target("sha,sse4.1,ssse3"))) void compress_sha_ni(std::uint32_t* state, const std::uint8_t* blocks,
                                                                 std::size_t count) {
  const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
  __m128i abef = _mm_set_epi32(static_cast<int>(state[0]), static_cast<int>(state[1]), static_cast<int>(state[4]),
                               static_cast<int>(state[5]));
  __m128i cdgh = _mm_set_epi32(static_cast<int>(state[2]), static_cast<int>(state[3]), static_cast<int>(state[6]),
                               static_cast<int>(state[7]));
  for (; count > 0; --count, blocks += 64) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i w[4];
    for (int i = 0; i < 4; ++i)
      w[i] = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(blocks + 16 * i)), swap);
#pragma GCC unroll 16
    for (int round = 0; round < 16; ++round) {
      const __m128i words = w[round % 4];
      const __m128i input =
          _mm_add_epi32(words, _mm_load_si128(reinterpret_cast<const __m128i*>(kSha256Rounds + 4 * round)));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, input);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(input, 0x0e));
      if (round < 12) {
        const __m128i last = w[(round + 3) % 4];
        __m128i next = _mm_sha256msg1_epu32(words, w[(round + 1) % 4]);
        next = _mm_add_epi32(next, _mm_alignr_epi8(last, w[(round + 2) % 4], 4));
        w[round % 4] = _mm_sha256msg2_epu32(next, last);
      }
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  alignas(16) std::uint32_t out[8];
  _mm_store_si128(reinterpret_cast<__m128i*>(out), abef);
  _mm_store_si128(reinterpret_cast<__m128i*>(out + 4), cdgh);
  const std::uint32_t ordered[8] = {out[3], out[2], out[7], out[6], out[1], out[0], out[5], out[4]};
  for (int i = 0; i < 8; ++i) state[i] = ordered[i];
}

bool has_sha_ni() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_SSE4_1) == 0 || (c & bit_SSSE3) == 0) return false;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & (1U << 29)) != 0;
}

}  // namespace

Sha256::Compress Sha256::compress_native() { return has_sha_ni() ? &compress_sha_ni : nullptr; }

}  // namespace nl::orchestrator

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>

#include "exporters/perfetto/perfetto.h"
#include "tests/catch.h"
#include "tests/unit/exporters/perfetto/small_trace.h"

using nl::test::call_at, nl::test::kernel_at, nl::test::small_trace;
using nlohmann::json;

namespace {

template <class Work>
double processor_seconds(const Work& work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

// The least that a Chrome trace, the other format Perfetto opens, says of the first slices of a trace. It is built with
// the same options and run a moment later, so a sanitizer or a busy machine slows it as well.
std::size_t chrome_trace_bytes(const nl::Trace& trace, std::size_t kernels) {
  std::size_t bytes = 0;
  const auto slice = [&](const char* name, nl::Ns start_ns, std::uint64_t duration_ns) {
    bytes +=
        json{{"ph", "X"}, {"pid", 100}, {"tid", 7}, {"name", name}, {"ts", start_ns / 1000}, {"dur", duration_ns / 1000}}.dump().size();
  };
  for (std::size_t i = 0; i < kernels; ++i) {
    slice("cudaLaunchKernel", trace.api_calls[i].start_ns, trace.api_calls[i].duration_ns);
    slice("gemm", trace.kernels[i].start_ns, trace.kernels[i].duration_ns);
  }
  return bytes;
}

}  // namespace

// Seen: 0.06 of the peer's time without optimisation, 0.04 under the sanitizers, 0.01 with the writer optimised.
TEST_CASE("a long trace is written quickly and in pieces", "[perfetto][speed]") {
  nl::Trace trace = small_trace();
  constexpr std::uint32_t kKernels = 200'000, kPeerKernels = kKernels / 20;  // the peer is slow
  trace.duration_ns = nl::Ns{kKernels} * 1000;
  for (std::uint32_t i = 0; i < kKernels; ++i) {
    trace.api_calls.push_back(call_at(trace, nl::Ns{i} * 1000, 100, i));
    trace.kernels.push_back(kernel_at(nl::Ns{i} * 1000 + 200, 300, i));
  }
  std::size_t bytes = 0, longest = 0, peer_bytes = 0;
  const double ours_s = processor_seconds([&] {
    nl::exporters::write_perfetto(trace, [&](std::string_view piece) {
      bytes += piece.size();
      longest = std::max(longest, piece.size());
    });
  });
  const double peer_s = processor_seconds([&] { peer_bytes = chrome_trace_bytes(trace, kPeerKernels); });
  INFO(bytes << " bytes in " << ours_s << " s; a twentieth as a Chrome trace: " << peer_bytes << " in " << peer_s << " s, ratio "
             << ours_s / peer_s / 20);
  CHECK(longest <= 256 * 1024);
  CHECK(bytes < 20 * peer_bytes);
  CHECK(ours_s < 0.15 * 20 * peer_s);
}

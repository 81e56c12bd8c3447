#pragma once

#include <algorithm>

#include "model/draw.h"
#include "model/load.h"

namespace nl::test {

inline constexpr Ns kMs = 1'000'000;

// Requests of all kinds: chunks with and without content, several tokens a chunk, single tokens, failures, warm-ups.
inline LoadRequest random_request(Draw& draw, Ns due_ns) {
  LoadRequest request;
  request.id = "r" + std::to_string(draw.below(1'000'000));
  request.warmup = draw.below(12) == 0;
  request.scheduled_ns = due_ns;
  request.sent_ns = due_ns + static_cast<Ns>(draw.below(300'000));
  request.connected_ns = *request.sent_ns + 40'000;
  request.asked_output_tokens = 64;
  Ns at_ns = *request.sent_ns + 1'000'000 + static_cast<Ns>(draw.below(90'000'000));
  request.first_byte_ns = at_ns;
  if (draw.below(9) == 0) {
    request.outcome = draw.below(2) == 0 ? RequestOutcome::kCutOff : RequestOutcome::kTimedOut;
    request.error = "the connection was closed";
  }
  const std::size_t count = draw.below(5) == 0 ? 1 : 1 + draw.below(40);
  for (std::size_t i = 0; i < count; ++i) {
    const bool ends = i == 0 || i + 1 == count;
    const auto kind =
        ends && draw.below(3) == 0 ? ChunkKind::kEmpty : static_cast<ChunkKind>(1 + std::min<std::size_t>(2, draw.below(12) / 5));
    request.chunks.push_back({at_ns, kind});
    request.chunk_count += kind != ChunkKind::kEmpty ? 1 : 0;
    at_ns += 100'000 + static_cast<Ns>(draw.below(20'000'000));
  }
  if (request.chunk_count == 0) request.chunks.back().kind = ChunkKind::kText, request.chunk_count = 1;
  request.end_ns = request.chunks.back().at_ns + static_cast<Ns>(draw.below(3'000'000));
  if (draw.below(6) != 0) request.output_tokens = request.chunk_count + draw.below(request.chunk_count + 1);
  request.prompt_tokens = draw.below(500);
  return request;
}

inline LoadRun random_load(std::uint64_t seed, std::size_t count) {
  Draw draw(seed);
  LoadRun run;
  run.name = run.target = "http://127.0.0.1:8000";
  run.model = "tiny";
  run.arrivals.kind = ArrivalKind::kPoisson;
  run.arrivals.rate_per_s = 20;
  run.arrivals.seed = seed;
  Ns due_ns = 5'000'000'000'000;
  for (std::size_t i = 0; i < count; ++i) run.requests.push_back(random_request(draw, due_ns += static_cast<Ns>(draw.below(100'000'000))));
  Ns ended_ns = 0;
  for (const LoadRequest& request : run.requests) ended_ns = std::max(ended_ns, *request.end_ns);
  run.duration_ns = ended_ns - 5'000'000'000'000;
  return run;
}

}  // namespace nl::test

#pragma once

#include <vector>

#include "analysis/figures/serving/lives.h"

// What a window of serving looks like: latencies with their intervals, the load over time, requests below each other.
namespace nl::analysis::serving {

std::vector<ServingLatency> latencies_of(const std::vector<ServingRequest>& requests);

using SpansByRequest = std::vector<std::vector<ServingSpan>>;  // by request

ServingSeries series_of(const Events& events, const Window& window, const SpansByRequest& spans);

// The slowest request and those that were there with it, up to 40.
std::vector<ServingTrack> tracks_of(const Events& events, const std::vector<Life>& lives, const SpansByRequest& spans,
                                    const ServingTail& tail);

std::vector<ServingSteps> step_kinds(const Events& events);
std::vector<ServingStep> longest_steps(const Events& events);

}  // namespace nl::analysis::serving

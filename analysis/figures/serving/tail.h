#pragma once

#include <vector>

#include "analysis/figures/serving/lives.h"

namespace nl::analysis::serving {

// Two numbers of tokens that make requests alike: a fifth apart, or by no more than eight.
bool like_sizes(const ServingRequest& a, const ServingRequest& b);

// The slowest percent of the requests that began and ended in the window, at least one: those that took the longest in relation to requests of
// like sizes; where no request has five of them, those that took the longest.
ServingTail tail_of(const std::vector<ServingRequest>& requests);

// Whose prompts shared the steps in which the request wrote its tokens: those that took the most of its interference first.
std::vector<std::uint64_t> prompts_beside(const Events& events, const Life& life);

}  // namespace nl::analysis::serving

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/figures/serving/lives.h"

// Who pays for what the steps use up.
namespace nl::analysis::serving {

// A whole in parts by weights, which add up to it exactly: each is rounded down, and what is left goes to those that lost the most by that.
// By equal parts where all weights are zero. The weights must not be empty.
std::vector<std::int64_t> divided(std::int64_t whole, std::span<const std::uint64_t> weights);

// The GPU's work of each step, by the call that launched it, in Step::gpu_ns; returns that of no step. Nothing where none was captured.
std::optional<Ns> find_gpu_work(const Trace& trace, const Window& window, Events& events);

// Of steps with a single token: the median of what `of` says of them. Nothing of fewer than five.
std::optional<Ns> floor_of(const std::vector<Worker>& workers, std::optional<Ns> (*of)(const Step&));

std::optional<Ns> wall_of(const Step& step);
std::optional<Ns> gpu_of(const Step& step);

// By request. A step costs its floor whatever is in it, and the rest by its tokens; both are divided by tokens.
std::vector<ServingCost> costs_of(const Events& events, const Window& window, std::optional<Ns> floor,
                                  std::optional<Ns> (*of)(const Step&));

// The part of a step's wall time that lies in the window.
Ns time_in(const Step& step, const Window& window);

}  // namespace nl::analysis::serving

#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "model/load_report.h"

// TTFT, TPOT, ITL and end-to-end time of requests, by the definition of each tool; exporters/load/definition_words has them as sentences. Pure:
// the same records always give the same figures.
namespace nl::analysis {

using Answered = std::vector<const LoadRequest*>;  // requests that were answered, without warm-ups

// A value and its weight: GuideLLM counts a request by its tokens; for all others each value counts once.
using WeightedValue = std::pair<double, double>;

// Nothing of requests for which a tool does not define the figure: a single token has no time per further token.
std::vector<WeightedValue> values_of(LoadTool tool, LoadFigure figure, const Answered& requests);

// The mean and the percentiles of them, as the tool computes them. Nothing where there are none.
std::optional<ToolSpread> spread_by(LoadTool tool, std::vector<WeightedValue> values);

std::uint64_t tokens_of(const LoadRequest& request);  // as the server counts them; else the chunks with content
std::uint64_t content_chunks_of(const LoadRequest& request);

// Whether a request keeps the limits, as the tool decides it. Nothing where the tool has no goodput, or none of these figures.
std::optional<bool> is_good(LoadTool tool, const LoadRequest& request, const LoadLimits& limits);

// Requests, tokens and good requests a second, by the time that each tool divides by, and the goodput of nl-stage.
void add_rates(const LoadRun& run, const Answered& requests, LoadReport& report);

}  // namespace nl::analysis

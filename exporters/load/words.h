#pragma once

#include <string>
#include <string_view>

#include "model/load_report.h"

// Loads in words: every figure with its definition.
namespace nl::exporters {

std::string_view title_of(LoadFigure figure);  // "TTFT"
std::string_view title_of(LoadTool tool);      // "vLLM"

// How a tool defines a figure; empty: it has none of this name.
std::string_view definition_of(LoadFigure figure, LoadTool tool);

std::string_view percentiles_of(LoadTool tool);  // how it takes a median and a p99
std::string_view window_of(LoadTool tool);       // what it divides by for figures a second
std::string_view goodput_of(LoadTool tool);      // which requests it counts as good

std::string arrivals_text(const LoadArrivals& arrivals);  // "Poisson arrivals at 4.00/s"
std::string limits_text(const LoadLimits& limits);        // "TTFT up to 200 ms and ITL up to 30.0 ms"
std::string note_text(const LoadNote& note);
std::string failures_text(const LoadReport& report);  // "2 timed out, 1 answered by another status than 200"

}  // namespace nl::exporters

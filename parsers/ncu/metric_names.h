#pragma once

#include <string>
#include <string_view>

namespace nl::parsers {

// The details page names metrics for people ("Duration" in "GPU Speed Of Light Throughput"). This is the
// raw page's name for those that nl-stage reads, and "Section/Metric" for the others. `rate` tells the
// two "Memory Throughput" apart: one is a percentage, the other bytes per second.
std::string raw_metric_name(std::string_view section, std::string_view metric, bool rate);

}  // namespace nl::parsers

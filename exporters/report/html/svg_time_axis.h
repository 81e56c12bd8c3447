#pragma once

#include <string>

namespace nl::exporters::html {

inline constexpr int kTimeAxisPx = 20;  // its labels stand in so much at the top

// The next of 1, 2, 5, 10 … that holds it.
double round_up(double value);

// Lines and labels of a picture whose width is a span of time, from 0; places are percentages.
std::string time_axis(double span_ns, int height);

}  // namespace nl::exporters::html

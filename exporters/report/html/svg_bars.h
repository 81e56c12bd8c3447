#pragma once

#include <string>
#include <vector>

#include "model/stage.h"

// Bars whose places and widths are percentages: they fit a phone and a poster alike, and their text is never stretched.
namespace nl::exporters::html {

struct Segment {
  double value = 0;
  std::string colour;  // class: "b-starved", "s-2"
  std::string tip;     // plain text
  std::string label;   // inside, where it is wide enough; plain text
};

// One bar, `segments` side by side, `whole` wide.
std::string stacked_bar(const std::string& label, const std::vector<Segment>& segments, double whole);

// A bar from zero with a tick (the median) and a line to the far end (p99) on it.
std::string whisker_bar(const std::string& label, double value, double tick, double far, double whole,
                        const std::string& colour, const std::string& tip);

// A label, a bar and a figure in one row of a chart. Label and figure are markup.
std::string bar_row(const std::string& label, const std::string& bar, const std::string& figure);

std::string budget_bar(const std::string& name, const Budget& budget);
std::string budget_legend();

}  // namespace nl::exporters::html

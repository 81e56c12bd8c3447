#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace nl::servers::http {

// The figures that a list may show of a run, the most telling first: a run shows the first that it has.
const std::vector<std::string>& headline_keys();

struct ShownFigure {
  std::string value, title;  // "4.20 ms", "Time per output token"; empty: the run has none of them
};
ShownFigure headline_of(const std::map<std::string, double>& metrics);

std::string figure_value_text(const std::string& key, double value);  // "4.20 ms", "91.2 %"

std::string minute_text(const std::string& time);  // "2026-11-16T17:37:57Z" → "2026-11-16 17:37"

}  // namespace nl::servers::http

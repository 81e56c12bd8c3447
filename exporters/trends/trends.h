#pragma once

#include <string>

#include "model/trend.h"

namespace nl::exporters {

// For a terminal of this many columns: each series as a picture of characters, then its changes and anomalies in words.
inline constexpr std::size_t kPictureColumns = 100;
std::string trend_text(const Trend& trend, std::size_t columns = kPictureColumns);

std::string trend_json(const Trend& trend);  // {metric, unit, better, by, series: [{hardware, model, points, levels, changes, anomalies}]}
std::string trend_svg(const Trend& trend);   // a picture that stands alone
std::string trend_html(const Trend& trend);  // the picture, and tables of changes and anomalies; nothing is loaded from elsewhere

}  // namespace nl::exporters

#pragma once

#include <string>

#include "model/node_map.h"

// Two runs of one model side by side, node by node.
namespace nl::exporters {

std::string nodes_markdown(const NodeComparison& comparison);
std::string nodes_text(const NodeComparison& comparison, std::size_t width);  // for a terminal so wide
std::string nodes_json(const NodeComparison& comparison);

}  // namespace nl::exporters

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "model/operator.h"

namespace nl::parsers {

// A layer as trtexec --exportLayerInfo describes it: its type, shapes, data types, tactic and the ONNX nodes that it holds.
void describe_layer(const nlohmann::json& description, OperatorCall& layer);
// "conv1 + relu1": the names of the layers that the builder fused; none where the name is that of one.
std::vector<std::string> fused_names(std::string_view name);
// What of it is in a table: the first description of a name holds.
void describe_entry(const nlohmann::json& description, OperatorEntry& entry);

}  // namespace nl::parsers

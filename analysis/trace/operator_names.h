#pragma once

#include <string_view>

namespace nl::analysis {

// What a range says of the operator it stands for.
struct OperatorName {
  std::string_view name;   // "aten::mm"
  std::string_view shape;  // "[[1, 1024], [1024, 1024]]"; empty: not recorded
  bool numbered = false;   // it carried a running number or shapes: a framework made it
};

// PyTorch numbers its ranges, so that every call has a name of its own:
//   aten::mm, op_id = 276, sizes = [[1, 1024], [1024, 1024]], input_op_ids = [(1095,0), (0,-1)]
//   aten::detach, seq = 3, op_id = 12        mul, stashed seq=7 (before 1.6)        aten::add, sizes=[[2]]
OperatorName split_operator_name(std::string_view range_name);

// "model.layers.0.mlp|LlamaMLP": the module and, where the workload says so, its class.
struct LayerName {
  std::string_view name, type;
};
LayerName split_layer_name(std::string_view range_name);

}  // namespace nl::analysis

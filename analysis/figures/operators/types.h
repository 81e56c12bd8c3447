#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "model/codes.h"
#include "model/operator.h"

namespace nl::analysis {

// What an operator does, by its name in PyTorch ("aten::mm", "vllm::unified_attention"), ONNX ("Gemm"), TensorRT
// ("MatrixMultiply") or Triton ("triton_poi_fused_add_0"). Choosing a token (argmax, topk, multinomial) is sampling; making or filling
// a tensor is elementwise, for it is a kernel; what only looks at one in another way is shape; what runs a part of the model
// once, often or never is control flow.
OperatorType operator_type(std::string_view name);

// The same of a record: where the name of its operator says little (TensorRT's "kgen", a layer of which only the name is known),
// its kernels and then its node's name say more.
OperatorType type_of_call(const OperatorCall& call);

// The data types of an operator's arguments: by its name and shapes, else by its name and how many arguments it has, where all
// that were recorded agree.
class DtypeTable {
 public:
  explicit DtypeTable(std::span<const OperatorDtypes> recorded);
  std::string of(const std::string& name, const std::string& shapes) const;  // "": not known

 private:
  using Key = std::pair<std::string, std::string>;
  std::map<Key, std::string> by_shapes_;                                 // "": they disagree
  std::map<std::pair<std::string, std::size_t>, std::string> by_count_;  // by name and number of inputs; "": they disagree
};

// "[[1, 2], [], [3]]" has three.
std::size_t count_arguments(std::string_view shapes);

}  // namespace nl::analysis

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/operator.h"

// The data types of the operators' arguments, which PyTorch's ranges do not carry; nvtx/python/auto writes dtypes-<pid>.json:
//
//   {"operators": [{"name": "aten::mm", "shapes": "[[1, 2048], [2048, 2048]]", "dtypes": "[bfloat16, bfloat16]"}]}
namespace nl::parsers {

struct RecordedDtypes {
  std::vector<OperatorDtypes> operators;  // each combination once, by name, shapes and types
  std::vector<std::string> notes;         // what could not be read
};

// Of all processes of the run.
RecordedDtypes read_dtypes(const std::filesystem::path& folder);

}  // namespace nl::parsers

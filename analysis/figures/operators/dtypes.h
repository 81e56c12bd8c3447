#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "model/operator.h"

namespace nl::analysis {

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

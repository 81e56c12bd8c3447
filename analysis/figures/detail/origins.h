#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/figures/detail/innermost.h"
#include "analysis/figures/operators/catalogue.h"
#include "analysis/figures/operators/layers.h"
#include "model/trace.h"

namespace nl::analysis {

// Names by number, as far as somebody asked for them: a capture may have a hundred thousand names of ranges.
class UsedNames {
 public:
  std::uint32_t number(std::uint32_t item, const std::string& name) {
    const auto [found, added] = numbers_.try_emplace(item, static_cast<std::uint32_t>(names_.size()));
    if (added) names_.push_back(name);
    return found->second;
  }
  std::vector<std::string> take() { return std::move(names_); }

 private:
  std::unordered_map<std::uint32_t, std::uint32_t> numbers_;
  std::vector<std::string> names_;
};

// The innermost operator and the innermost layer that launched work, or in which the node of its CUDA graph was made: of the
// first source of operators, as its table counts GPU time of their own.
class Origins {
 public:
  Origins(const Trace& trace, const std::vector<std::uint32_t>& ranges_by_start);

  // `from`: of the work itself; `launch`: where that says nothing.
  std::uint32_t operator_of(const WorkOrigin& from, const WorkOrigin& launch);
  std::uint32_t layer_of(const WorkOrigin& from, const WorkOrigin& launch);
  std::vector<std::string> take_operators() { return used_operators_.take(); }
  std::vector<std::string> take_layers() { return used_layers_.take(); }

 private:
  Catalogue catalogue_;
  std::vector<std::uint32_t> operator_of_range_;
  LayerRanges layers_;
  InnermostItem operators_, innermost_layers_;
  UsedNames used_operators_, used_layers_;
};

}  // namespace nl::analysis

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/figures/detail/innermost.h"
#include "analysis/figures/host/host_work.h"
#include "analysis/figures/operators/catalogue.h"
#include "analysis/figures/operators/layers.h"
#include "analysis/trace/api_kind.h"
#include "model/codes.h"
#include "model/detail.h"
#include "model/strings.h"
#include "model/trace.h"

// What slices refer to by number: names, kernels, operators, layers and lines of the program.
namespace nl::analysis {

// Numbers only the names that were asked for: a capture may have a hundred thousand names of ranges.
template <class Key>
class UsedNames {
 public:
  std::uint32_t number(const Key& key, const std::string& name) {
    const auto [found, added] = numbers_.try_emplace(key, static_cast<std::uint32_t>(names_.size()));
    if (added) names_.push_back(name);
    return found->second;
  }
  std::vector<std::string> take() { return std::move(names_); }

 private:
  std::unordered_map<Key, std::uint32_t> numbers_;
  std::vector<std::string> names_;
};

// The names of slices as they are shown, each once. A trace's strings are looked at once, however many slices have them.
class NameTable {
 public:
  explicit NameTable(const Trace& trace) : trace_(trace) {}

  std::uint32_t of(LaneKind kind, StringId name);
  std::uint32_t of(const std::string& shown) { return names_.number(shown, shown); }
  std::vector<std::string> take() { return names_.take(); }

 private:
  const Trace& trace_;
  UsedNames<std::string> names_;
  std::unordered_map<std::uint64_t, std::uint32_t> known_;  // by kind and string
};

// The kernels that were asked for, by name and launch configuration.
class KernelTable {
 public:
  KernelTable(const Trace& trace, NameTable& names) : trace_(trace), names_(names), of_shape_(trace.shapes.size(), kNone) {}
  std::uint32_t of(std::uint32_t shape);
  // The first of its name.
  std::uint32_t named(std::uint32_t shape);
  std::uint32_t name_of(std::uint32_t kernel) const { return kernels_[kernel].name; }
  KernelClass kind_of(std::uint32_t kernel) const { return kernels_[kernel].kind; }
  std::vector<DetailKernel> take() { return std::move(kernels_); }

 private:
  const Trace& trace_;
  NameTable& names_;
  std::vector<std::uint32_t> of_shape_;
  std::unordered_map<std::uint32_t, std::uint32_t> of_name_;
  std::vector<DetailKernel> kernels_;
};

// The innermost operator and the innermost layer that launched work, or in which the node of its CUDA graph was made: of the
// first source of operators, as its table counts GPU time of their own.
class Origins {
 public:
  Origins(const Trace& trace, const std::vector<std::uint32_t>& ranges_by_start);

  // `from`: the origin of the work itself; `launch`: used where `from` lies in no operator.
  std::uint32_t operator_of(const WorkOrigin& from, const WorkOrigin& launch);
  std::uint32_t layer_of(const WorkOrigin& from, const WorkOrigin& launch);
  std::vector<std::string> take_operators() { return used_operators_.take(); }
  std::vector<std::string> take_layers() { return used_layers_.take(); }

 private:
  Catalogue catalogue_;
  std::vector<std::uint32_t> operator_of_range_;
  LayerRanges layers_;
  InnermostItem operators_, innermost_layers_;
  UsedNames<std::uint32_t> used_operators_, used_layers_;
};

// Lines of the program: where the workload marks them (the domain LLM.lines) that line, else that of the sample of the thread
// nearest to the moment, at most one period away. It is the line of the call where no other call of the thread lies between;
// samples are rare, so mostly it is only nearby.
class Sites {
 public:
  Sites(const Trace& trace, const CallsByThread& launches, const CallsByThread& other_calls,
        const std::vector<std::uint32_t>& ranges_by_start);

  std::uint32_t of(const WorkOrigin& origin);  // index into the list, or kNone
  std::vector<DetailSite> take() { return std::move(sites_); }

 private:
  std::uint32_t number(const DetailSite& site);
  std::uint32_t sampled(const WorkOrigin& origin);
  bool leads_to(const WorkOrigin& call, Ns sample_ns) const;

  const Trace& trace_;
  std::vector<std::uint32_t> line_of_range_;  // the range's name where it is a line
  InnermostItem lines_;
  HostWorks works_;
  std::vector<std::vector<std::uint32_t>> samples_;  // by thread
  const CallsByThread &launches_, &others_;
  std::vector<DetailSite> sites_;
  std::map<std::pair<std::string, bool>, std::uint32_t> numbers_;
};

}  // namespace nl::analysis

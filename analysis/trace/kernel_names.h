#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

// One kernel, three spellings:
//   nsys   void at::native::reduce_kernel<(int)512, (int)1, at::native::memory::Load<(bool)1>>(T3)
//   ncu    void at::reduce_kernel<512, 1, memory::Load<1>>(T3)              (its rename rules shorten)
//   CUPTI  void at::native::reduce_kernel<512, 1, at::native::memory::Load<true> >(T3)
#include "model/codes.h"

namespace nl::analysis {

// The name without casts before literals, without namespaces, with one way to write blanks, anonymous
// namespaces, booleans, integer suffixes and lambdas. Two spellings of one kernel have the same key; two
// kernels may have it too, which is why same_kernel() has the last word.
std::string kernel_name_key(std::string_view name);

// Whether the two may be spellings of one kernel: the same key, and wherever they qualify a name, the
// qualifiers of one are among those of the other, in the same order.
bool same_kernel(std::string_view a, std::string_view b);

// The same without parameter lists, in which demanglers differ: nsys and ncu write "T1 *" where CUPTI's library writes "float*".
bool same_kernel_but_parameters(std::string_view a, std::string_view b);

// Looks one tool's names up among another's.
class KernelNames {
 public:
  // `names`: all distinct names of the capture, full and mangled and short; indices into them come back.
  struct Entry {
    std::string_view name, mangled_name, short_name;
  };
  explicit KernelNames(std::vector<Entry> entries);

  struct Found {
    KernelMatch how = KernelMatch::kNone;
    std::vector<std::size_t> entries;  // several: the name alone does not tell them apart
  };
  Found find(std::string_view name) const;

 private:
  std::vector<Entry> entries_;
  std::unordered_multimap<std::string_view, std::size_t> by_mangled_, by_name_, by_short_;
  std::unordered_multimap<std::string, std::size_t> by_key_, by_loose_key_;
};

}  // namespace nl::analysis

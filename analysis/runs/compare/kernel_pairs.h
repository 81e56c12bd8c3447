#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/trace/kernel_class.h"
#include "analysis/trace/kernel_direction.h"
#include "model/comparison.h"
#include "model/operator.h"

namespace nl::analysis {

using NameWords = std::set<std::string>;

// A kernel of one stage and what is known of it for pairing.
struct PairedKernel {
  ComparedKernel seen;
  std::string symbol;  // mangled; as the name where there is none
  KernelClass kind = KernelClass::kOther;
  Direction direction = Direction::kUnknown;  // by its name
  std::string key;                            // kernel_name_key()
  std::string root;                           // the function with its namespaces, without template arguments and parameters
  NameWords words;                            // of its name in lower case, split at signs, at underscores and before capitals
  NameWords fused;                            // the operators that a compiler says it fused into the kernel; empty: it says nothing
  std::set<std::string> sites;                // operator, layer and position of its launches
  std::set<std::string> layers;               // of these
  std::set<std::string> shapes;               // type and shapes of the operators that launch it
  std::set<OperatorType> operators;           // those that launch it, as far as their type is known
  std::optional<Direction> launched_in;       // of all of these; kUnknown where they differ; empty: not known

  void add_operator(const OperatorCall& call);
};

PairedKernel describe_kernel(ComparedKernel seen, std::string symbol);

// Which kernels of both sides do the same: indices into these.
struct KernelMatchUp {
  std::vector<std::size_t> a, b;
  KernelPairing paired_by = KernelPairing::kNone;
  KernelRelation relation = KernelRelation::kSame;
  bool fit_for_tuning = true;
};

// Every kernel once. The surest way first, as KernelPairing lists them; what was fused or split is found before ranks are compared.
// Swapping the sides swaps the result and changes nothing else.
std::vector<KernelMatchUp> match_kernels(const std::vector<PairedKernel>& a, const std::vector<PairedKernel>& b);

}  // namespace nl::analysis

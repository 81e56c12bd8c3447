#include "analysis/verdicts/rules/least_traffic.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "analysis/figures/efficiency/llm_shape.h"

namespace nl::analysis::rules {
namespace {

constexpr double kWidestElement = 4;  // bytes

using Sizes = std::vector<double>;

// "[[256, 1024], [1024, 512]]": the sizes of each tensor; scalars have none.
std::vector<Sizes> read_sizes(const std::string& text) {
  std::vector<Sizes> tensors;
  int depth = 0;
  bool in_number = false;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (c == '[' && ++depth == 2) tensors.emplace_back();
    if (c == ']') --depth;
    if (digit && depth >= 2) {
      if (!in_number) tensors.back().push_back(0);
      tensors.back().back() = tensors.back().back() * 10 + (c - '0');
    }
    in_number = digit;
  }
  return tensors;
}

// How many sizes its operands have: batch, rows and columns, or rows and columns; 0: no matrix product.
std::size_t operand_sizes(const std::string& op) {
  if (op == "aten::mm" || op == "aten::addmm") return 2;
  return op == "aten::bmm" || op == "aten::baddbmm" ? 3 : 0;
}

// The operands come last; before them may stand what is added.
std::optional<double> least_elements(const std::string& shape, std::size_t sizes) {
  std::vector<Sizes> tensors = read_sizes(shape);
  std::erase_if(tensors, [&](const Sizes& tensor) { return tensor.size() != sizes; });
  if (tensors.size() < 2) return std::nullopt;
  const Sizes &left = tensors[tensors.size() - 2], &right = tensors.back();
  const double batch = sizes == 3 ? left[0] : 1;
  const double rows = left[sizes - 2], inner = left[sizes - 1], columns = right[sizes - 1];
  if (right[sizes - 2] != inner) return std::nullopt;
  return batch * (rows * inner + inner * columns + rows * columns);
}

bool launches(const OperatorEntry& op, const std::string& kernel) {
  return std::any_of(op.kernels.begin(), op.kernels.end(), [&](const OperatorKernel& each) { return each.name == kernel; });
}

double element_bytes(const Run& run) {
  const auto dtype = run.model.attributes.find("dtype");
  return dtype == run.model.attributes.end() ? kWidestElement : dtype_bytes(dtype->second).value_or(kWidestElement);
}

}  // namespace

Value least_traffic(const Run& run, const KernelEntry& kernel) {
  std::optional<double> most;
  for (const OperatorTable& table : run.operators)
    for (const OperatorEntry& op : table.entries) {
      const std::size_t sizes = operand_sizes(op.name);
      if (sizes == 0 || !launches(op, kernel.name)) continue;
      for (const OperatorShape& shape : op.shapes) {
        const auto elements = least_elements(shape.text, sizes);
        if (!elements) return Value::none();
        most = std::max(most.value_or(0), *elements);
      }
    }
  return most ? Value::of(*most * element_bytes(run)) : Value::not_captured();
}

}  // namespace nl::analysis::rules

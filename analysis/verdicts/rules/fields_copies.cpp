#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "analysis/trace/kernel_class.h"
#include "analysis/verdicts/rules/fields.h"

// What copies are: advice about a conversion does not help against a transfer.
namespace nl::analysis::rules {
namespace {

enum class CopyKind : std::uint8_t { kToGpu, kToHost, kReorder, kConvert, kJoin, kLayout, kNone };
constexpr std::array<std::string_view, 6> kCopyWords = {"to_gpu", "to_host", "reorder", "convert", "join", "layout"};
constexpr std::array<std::string_view, 6> kCopySentences = {"copies from the host to the GPU",
                                                            "copies from the GPU to the host",
                                                            "rows picked by an index, as a beam search reorders its cache",
                                                            "conversions to another number format",
                                                            "pieces joined to one tensor",
                                                            "copies on the GPU into another memory layout"};
using CopyTimes = std::array<double, 6>;

bool names(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

// By what nsys, CUPTI and PyTorch call a copy; kernels that copy and compute count as neither.
CopyKind copy_kind(std::string_view name) {
  if (names(name, {"Host-to-Device", "HtoD"})) return CopyKind::kToGpu;
  if (names(name, {"Device-to-Host", "DtoH"})) return CopyKind::kToHost;
  if (names(name, {"Device-to-Device", "DtoD"})) return CopyKind::kLayout;
  const bool writes = names(name, {"index_put", "index_copy"});  // new rows of a cache
  if (!writes && names(name, {"indexSelect", "index_select", "vectorized_gather", "_gather_kernel", "index_elementwise_kernel"}))
    return CopyKind::kReorder;
  if (names(name, {"CatArrayBatchedCopy"})) return CopyKind::kJoin;
  if (names(name, {"bfloat16_copy_kernel", "float16_copy_kernel", "float8_copy_kernel", "float4_copy_kernel"})) return CopyKind::kConvert;
  if (names(name, {"direct_copy_kernel", "copy_kernel", "transpose"})) return CopyKind::kLayout;
  return CopyKind::kNone;
}

// "[bfloat16, float32]": what it writes and what it reads differ.
bool converts(std::string_view dtypes) {
  const std::size_t comma = dtypes.find(", ");
  if (!dtypes.starts_with('[') || comma == std::string_view::npos) return false;
  const std::string_view first = dtypes.substr(1, comma - 1), rest = dtypes.substr(comma + 2);
  const std::string_view second = rest.substr(0, rest.find_first_of(",]"));
  return names(first, {"float", "int"}) && names(second, {"float", "int"}) && first != second;
}

// The larger part of the calls whose types were recorded.
bool mostly_converts(const OperatorEntry& op) {
  double converting = 0, known = 0;
  for (const OperatorShape& shape : op.shapes) {
    if (shape.dtypes.empty()) continue;
    known += static_cast<double>(shape.calls);
    converting += converts(shape.dtypes) ? static_cast<double>(shape.calls) : 0;
  }
  return converting > known / 2;
}

CopyKind copies_of(const OperatorEntry& op) {
  if (op.name == "aten::cat") return CopyKind::kJoin;
  CopyTimes times{};
  double all = 0;
  for (const OperatorKernel& kernel : op.kernels) {
    CopyKind kind = copy_kind(kernel.name);
    if (kind == CopyKind::kLayout && mostly_converts(op)) kind = CopyKind::kConvert;
    all += static_cast<double>(kernel.total_ns);
    if (kind != CopyKind::kNone) times[static_cast<std::size_t>(kind)] += static_cast<double>(kernel.total_ns);
  }
  const auto most = std::max_element(times.begin(), times.end());
  return all > 0 && *most > all / 2 ? static_cast<CopyKind>(most - times.begin()) : CopyKind::kNone;
}

// Time of kernels that copy in such a way, in the measured windows of the stage, of the time of all its kernels.
template <CopyKind Kind>
Value kernels_of_kind(const Subject& s) {
  const StageActivity* activity = s.activity();
  if (activity == nullptr || !s.run->kernels) return Value::not_captured();
  double time_ns = 0, all_ns = 0;
  for (const StageTotals::Launches& launches : s.totals->stages[s.index].launches) {
    all_ns += static_cast<double>(launches.total_ns);
    if (copy_kind((*s.run->kernels)[launches.kernel].name) == Kind) time_ns += static_cast<double>(launches.total_ns);
  }
  return all_ns > 0 ? Value::of(time_ns / all_ns) : Value::of(0);
}

}  // namespace

void add_operator_copy_fields(std::vector<Field>& fields) {
  FieldGroup(fields, Capture::kCuda, Place::kSelf)
      .text(
          "copies",
          "what more than half of its copies are, by their names and types: to_gpu, to_host, reorder, convert, join or layout; no value "
          "where that is not known",
          [](const Subject& s) {
            const CopyKind kind = copies_of(s.op());
            return kind == CopyKind::kNone ? Value::none() : Value::of_text(kCopyWords[static_cast<std::size_t>(kind)]);
          },
          [](const Subject& s) {
            const CopyKind kind = copies_of(s.op());
            return std::string(kind == CopyKind::kNone ? "" : kCopySentences[static_cast<std::size_t>(kind)]);
          });
}

void add_stage_copy_fields(std::vector<Field>& fields) {
  const FieldGroup add(fields, Capture::kCuda, Place::kKernels);
  add("reorder_kernel_share", Unit::kShare, "of its kernels' time: rows picked by an index (index_select, gather)",
      kernels_of_kind<CopyKind::kReorder>);
  add("convert_kernel_share", Unit::kShare, "of its kernels' time: conversions to another number format",
      kernels_of_kind<CopyKind::kConvert>);
}

}  // namespace nl::analysis::rules

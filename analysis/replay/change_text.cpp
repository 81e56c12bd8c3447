#include "analysis/replay/change_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <utility>

#include "model/error.h"
#include "model/words.h"

namespace nl::analysis {
namespace {

constexpr std::string_view kAtCeiling = "=ceiling";

[[noreturn]] void refuse(const std::string& value, const char* what, const std::string& flag, const char* example) {
  throw Error(ErrorKind::kUsage, fmt::format("'{}' is not {}", value, what), flag, fmt::format("write {} {}", flag, example));
}

// The whole text.
std::optional<double> number_of(std::string_view text) {
  double number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// "audit_tokens=0": what stands before the last sign, and a factor that is not negative.
std::pair<std::string, double> named_factor(const std::string& flag, const std::string& value) {
  const auto equals = value.rfind('=');
  const auto factor = equals != std::string::npos && equals > 0 ? number_of(std::string_view(value).substr(equals + 1)) : std::nullopt;
  if (!factor || !(*factor >= 0 && *factor <= 1000)) refuse(value, "a name and a factor", flag, "NAME=0.5");
  return {value.substr(0, equals), *factor};
}

double times_of(const std::string& flag, const std::string& value) {
  const auto times = number_of(value);
  if (!times || !(*times >= 0.01 && *times <= 1000)) refuse(value, "a number from 0.01 to 1000", flag, "2");
  return *times;
}

Change kernels_of(const std::string& flag, const std::string& value, FasterKernels::By by) {
  if (by == FasterKernels::By::kName && value.ends_with(kAtCeiling)) return KernelsAtCeiling{value.substr(0, value.rfind('=')), {}};
  auto [name, factor] = named_factor(flag, value);
  if (by == FasterKernels::By::kKind && !from_key<KernelClass>(name)) refuse(name, "a kind of kernel", flag, "gemm=0.5");
  return FasterKernels{std::move(name), factor, by};
}

Change fused(const std::string& flag, const std::string& value) {
  const auto kind = from_key<KernelClass>(value);
  if (kind == KernelClass::kAttention) return FusedAttention{};
  if (kind != KernelClass::kElementwise) refuse(value, "a kind of kernel that can be fused", flag, "elementwise, or attention");
  return FusedElementwise{};
}

Change weights_of(const std::string& flag, const std::string& value) {
  const DataType to = data_type_of(value);
  if (to == DataType::kNone || to == DataType::kOther) refuse(value, "a type of weights", flag, "fp8");
  return SmallerWeights{to};
}

struct ChangeKind {
  std::string_view flag;
  std::function<Change(const std::string& flag, const std::string& value)> make;
};

const std::vector<ChangeKind>& change_kinds() {
  using Text = const std::string&;
  using By = FasterKernels::By;
  static const std::vector<ChangeKind> kKinds = {
      {"--device", [](Text, Text value) { return OtherCard{value}; }},
      {"--batch", [](Text flag, Text value) { return LargerBatch{times_of(flag, value)}; }},
      {"--weights", weights_of},
      {"--without-wait", [](Text, Text value) { return WithoutWait{value}; }},
      {"--host",
       [](Text flag, Text value) {
         auto [name, factor] = named_factor(flag, value);
         return FasterFunction{std::move(name), factor};
       }},
      {"--async", [](Text, Text value) { return AsyncFunction{value}; }},
      {"--kernel", [](Text flag, Text value) { return kernels_of(flag, value, By::kName); }},
      {"--kind", [](Text flag, Text value) { return kernels_of(flag, value, By::kKind); }},
      {"--operator", [](Text flag, Text value) { return kernels_of(flag, value, By::kOperator); }},
      {"--fuse", fused},
      {"--pinned", [](Text, Text) { return PinnedCopies{}; }},
      {"--overlap-copies", [](Text, Text) { return OverlappedCopies{}; }},
      {"--host-speed", [](Text flag, Text value) { return FasterHost{times_of(flag, value)}; }},
      {"--graph", [](Text, Text value) { return StageAsGraph{value}; }},
  };
  return kKinds;
}

}  // namespace

const std::vector<std::string_view>& change_flags() {
  static const std::vector<std::string_view> kFlags = [] {
    std::vector<std::string_view> flags;
    for (const ChangeKind& kind : change_kinds()) flags.push_back(kind.flag);
    return flags;
  }();
  return kFlags;
}

NamedChange change_of(const std::string& flag, const std::string& value) {
  const auto kind = std::find_if(change_kinds().begin(), change_kinds().end(), [&](const ChangeKind& each) { return each.flag == flag; });
  if (kind == change_kinds().end())
    throw Error(ErrorKind::kUsage, fmt::format("'{}' is no change", flag), flag,
                fmt::format("one of: {}", fmt::join(change_flags(), ", ")));
  return {value.empty() ? flag : flag + " " + value, kind->make(flag, value)};
}

NamedChange change_of(const std::string& text) {
  const auto space = text.find(' ');
  return change_of(text.substr(0, space), space == std::string::npos ? "" : text.substr(space + 1));
}

}  // namespace nl::analysis

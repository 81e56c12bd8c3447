#include "analysis/figures/operators/catalogue.h"

#include <array>

#include "nvtx/names.h"

namespace nl::analysis {

static_assert(kStageDomain == nvtx::kFoundStageDomain);

const char* source_name(RangeSource source, const Trace& trace) {
  switch (source) {
    case kTorchRanges: return "pytorch ranges";
    case kKinetoRanges: return "kineto";
    case kOnnxRuntimeRanges: return "onnxruntime";
    default: return trace.stats.source_format == SourceFormat::kKineto ? "user annotations" : "NVTX ranges";
  }
}

std::optional<std::string_view> literal_name(std::string_view name, std::string_view domain) {
  const bool literal = name.size() > domain.size() && name.starts_with(domain) && name[domain.size()] == '@';
  return literal ? std::optional(name.substr(domain.size() + 1)) : std::nullopt;
}

ClassifiedRange classify_range(const Trace& trace, const Range& range) {
  const std::string& domain = trace.strings[range.domain];
  const std::string& name = trace.strings[range.name];
  if (domain == kTorchDomain) return {kKinetoRanges, {}, split_operator_name(name)};
  if (domain == kOnnxRuntimeDomain) return {kOnnxRuntimeRanges, {}, split_operator_name(name)};
  if (domain == kOnnxRuntimeSessionDomain || domain == nvtx::kCudaLibraryDomain || nvtx::says_place(domain, name)) return {};
  if (domain == nvtx::kOperatorDomain) return {kMarkedRanges, {}, split_operator_name(name)};
  if (domain.empty()) {
    if (const auto own = literal_name(name, nvtx::kOperatorDomain)) return {kMarkedRanges, {}, split_operator_name(*own)};
  }
  const OperatorName split = split_operator_name(name);
  if (split.numbered && domain.empty()) return {kTorchRanges, {}, split};
  return {kOtherRanges, domain, split};
}

std::vector<RangeSource> range_sources(const Trace& trace) {
  std::array<bool, kRangeSources + 1> found{};
  for (const Range& range : trace.ranges) found[classify_range(trace, range).source] = true;
  if (found[kMarkedRanges]) found[kOtherRanges] = false;
  std::vector<RangeSource> sources;
  for (int source = 0; source < kRangeSources; ++source)
    if (found[static_cast<std::size_t>(source)]) sources.push_back(static_cast<RangeSource>(source));
  return sources;
}

std::uint32_t Catalogue::group(std::string_view domain, std::string_view name) {
  key_.assign(domain);
  if (!domain.empty()) key_ += ':';
  key_ += name;
  const auto [found, added] = group_ids_.try_emplace(key_, items.groups);
  if (added) {
    names.push_back(key_);
    ++items.groups;
  }
  return found->second;
}

std::uint32_t Catalogue::item(const ClassifiedRange& range) {
  const std::uint32_t group_id = group(range.domain, range.name.name);
  key_ = std::to_string(group_id);
  key_ += ' ';
  key_ += range.name.shape;
  const auto [found, added] = item_ids_.try_emplace(key_, static_cast<std::uint32_t>(shapes.size()));
  if (added) {
    shapes.emplace_back(range.name.shape);
    items.group_of_item.push_back(group_id);
  }
  return found->second;
}

Catalogue catalogue_of(const Trace& trace, RangeSource source) {
  Catalogue out;
  out.items.item_of_range.assign(trace.ranges.size(), kNone);
  for (std::size_t i = 0; i < trace.ranges.size(); ++i) {
    const Range& range = trace.ranges[i];
    const ClassifiedRange classified = classify_range(trace, range);
    if (classified.source != source) continue;
    if (is_countable(trace, range)) out.items.item_of_range[i] = out.item(classified);
    else ++out.items.left_out;
  }
  return out;
}

}  // namespace nl::analysis

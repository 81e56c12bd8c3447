#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "exporters/report/text/document.h"
#include "model/comparison.h"

namespace nl {
struct NodeComparison;
}

// The pages of a comparison, each the whole text of its file.
namespace nl::exporters {

// What would make more runs: `nl-stage try`, or what was compared was made by it, and has to have more rounds, and more time for them.
enum class MoreRuns : std::uint8_t { kTry, kRounds, kRoundsAndBudget };

struct ComparisonNotes {
  std::vector<std::string> remarks = {};  // sentences below the summary
  MoreRuns more_runs = MoreRuns::kTry;
};

std::string comparison_markdown(const Comparison& comparison, const ComparisonNotes& notes = {});
std::string comparison_text(const Comparison& comparison, std::size_t width);  // for a terminal so wide, without the verdict
std::string comparison_html(const Comparison& comparison, const std::string& nl_stage_version, const ComparisonNotes& notes = {});

// Three sentences: what changed, where, and what that rests on. "A and B cannot be compared: …" where they were refused.
std::vector<std::string> comparison_sentences(const Comparison& comparison, MoreRuns more_runs = MoreRuns::kTry);

// Two runs of one model side by side, node by node.
std::string nodes_markdown(const NodeComparison& comparison);
std::string nodes_text(const NodeComparison& comparison, std::size_t width);  // for a terminal so wide
std::string nodes_json(const NodeComparison& comparison);

namespace report {

std::string verdict_reason(LineReason reason);             // "too noisy: the interval would hide a large change"
std::string change_text(const CompareChange& change);      // "+3.2 %", "−3.1 %"
std::string confidence_text(const CompareChange& change);  // "95 %", of its interval
std::string subject_text(const CompareLine& line);         // "GPU work", "time per output token"
std::string estimate_text(const CompareLine& line, double value);
std::string function_name(std::string_view kernel);         // "gemm" of void ns::gemm<float>(int): in a sentence the rest is noise
std::string bin_label(const std::string& key);              // "launch-starved" of launch_starved_ns
std::string difference_text(const Difference& difference);  // "driver: 580.1 and 575.2"

Section comparability_section(const Comparison& comparison);
std::vector<Section> line_sections(const Comparison& comparison);

}  // namespace report
}  // namespace nl::exporters

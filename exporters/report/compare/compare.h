#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "exporters/report/text/document.h"
#include "model/comparison.h"

namespace nl {
struct NodeComparison;
}

// The pages of a comparison, each the whole text of its file. `remarks`: sentences below the summary.
namespace nl::exporters {

std::string comparison_markdown(const Comparison& comparison, const std::vector<std::string>& remarks = {});
std::string comparison_text(const Comparison& comparison, std::size_t width);  // for a terminal so wide, without the verdict
std::string comparison_html(const Comparison& comparison, const std::string& nl_stage_version,
                            const std::vector<std::string>& remarks = {});

// Three sentences: what changed, where, and what that rests on. "A and B cannot be compared: …" where they were refused.
std::vector<std::string> comparison_sentences(const Comparison& comparison);

// Two runs of one model side by side, node by node.
std::string nodes_markdown(const NodeComparison& comparison);
std::string nodes_text(const NodeComparison& comparison, std::size_t width);  // for a terminal so wide
std::string nodes_json(const NodeComparison& comparison);

namespace report {

std::string verdict_reason(LineReason reason);             // "too noisy: the interval would hide a large change"
std::string change_text(const CompareChange& change);      // "+3.2 %"
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

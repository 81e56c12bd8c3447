#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "exporters/report/kernel_text.h"
#include "model/run.h"

// How figures are worded in every report. What is not there is said: a dash in tables, never a zero.
namespace nl::exporters {

inline constexpr const char* kNotCaptured = "not captured";

std::string share_text(const std::optional<double>& share);        // "61.5 %", or a dash
std::string utilisation_text(const std::optional<double>& share);  // MFU, MBU: "61.5 %", "0.0046 %": small is not none
std::string ms_text(double ns);                                    // "4.119", milliseconds
std::string count_text(std::uint64_t count);                       // "12,345"
std::string flops_text(const std::optional<double>& flops);        // "48.3 GFLOP", or a dash
std::string flops_rate_text(const std::optional<double>& rate);    // "9.82 TFLOP/s"
std::string bytes_text(const std::optional<double>& bytes);        // "240 MB", powers of ten
std::string bytes_rate_text(const std::optional<double>& rate);    // "4.80 TB/s"
std::string hertz_text(const std::optional<double>& rate);         // "1.98 GHz"
std::string figure_text(const std::optional<double>& value,
                        const char* unit = "");                // three significant digits: "1.23", "456"
std::string tokens_text(const std::optional<double>& tokens);  // "8", "12.5", or a dash
std::string optional_time_text(const std::optional<Ns>& ns);   // or a dash

// "4.119 ms ± 0.030": without the spread where there is one value only.
std::string mean_text(const TimeSummary& time);
std::string stddev_text(const TimeSummary& time);  // or a dash where one value has none

const char* severity_word(Severity severity);
std::string status_sentence(RunStatus status);
std::string join(const std::vector<std::string>& words, const char* between = ", ");

// The arguments as a shell would take them: python3 run.py '--prompt=it'\''s'
std::string shell_text(const std::vector<std::string>& words);

// The pieces of a finding's subject that a report shows: "stage decode", "the run".
std::string scope_text(const std::string& scope, const std::string& subject);

// What stands before a piece of evidence: nothing where it holds, "against it: ", "not captured: ".
const char* evidence_prefix(const Evidence& evidence);

// "saves at most 83.1 ms, 70.0 % of the measured time"; empty where it could not be computed.
std::string gain_text(const Finding& finding);

// What a reader of the stage's figures should know besides, in sentences: work of other windows, several GPUs.
std::vector<std::string> stage_remarks(const StageEntry& stage);

const StageEntry* stage_named(const Run& run, const std::string& name);
const StageEfficiency* efficiency_of(const Run& run, const std::string& stage);

// The table that stands for the operators in a summary: the one that covers most of the GPU's time; nullptr without any.
const OperatorTable* main_operators(const Run& run);

}  // namespace nl::exporters

#pragma once

#include <string>
#include <vector>

#include "exporters/report/text/document.h"
#include "model/prediction.h"

// Predictions in words, once: for `nl-stage whatif`, the section of a report, and the gain of a finding.
namespace nl::exporters::report {

inline constexpr const char* kNoChangeSaves = "No change that nl-stage knows would save more than half a percent.";

const char* binding_text(Binding binding);  // "the host's code"
std::string refusal_text(NoPrediction why);
std::string changes_text(const Prediction& prediction);  // "--graph decode_step --pinned"

// "decode_step takes 2.30 ms as captured, and 2.10 ms without the tracer's part; what binds is launching." Empty: nothing was measured.
std::string what_if_lead(const WhatIf& result, const std::string& stage);
std::string replay_text(const WhatIf& result);  // "The replay of the capture is off by 1.2 %."
Table prediction_table(const std::vector<Prediction>& predictions);
// "First --graph decode_step: −61 %. Then --host audit=0: −9 % more. Together 2.30 ms becomes 0.71 ms (0.60 to 0.84 ms)."
std::string sequence_text(const std::vector<Prediction>& sequence);
std::string predicted_interval(const Prediction& prediction);           // "0.60 ms to 0.84 ms"; a bound has none: "at best"
List assumption_list(const std::vector<Prediction>& predictions);       // each once
std::string refusals_text(const std::vector<Prediction>& predictions);  // in one line; empty: all are predicted

// What one saves of each window. A range that begins below zero is "up to", a bound "at best".
std::string saving_text(const Prediction& prediction);        // "predicted to save 39 % of each decode_step (31 to 45 %)"
std::string saving_times_text(const Prediction& prediction);  // "1.40 ms instead of 2.30 ms"
std::string plain_saving_text(const Prediction& prediction,
                              const std::string& unit);    // "saves about 39 % of each unit, between 31 and 45 %"
std::string whatif_command(const Prediction& prediction);  // "nl-stage whatif RUN --graph decode_step"

}  // namespace nl::exporters::report

#pragma once

#include <string>
#include <vector>

#include "analysis/verdicts/rules/compile.h"
#include "analysis/verdicts/rules/subject.h"
#include "model/rule.h"

// How much of the end-to-end time a finding could save, and the severity and order that follow.
namespace nl::analysis::rules {

using MissingSet = std::vector<Expression::Missing>;
std::string missing_names(const MissingSet& missing);

// Sets the gain: never more than the subject's time, what a kernel's roofline leaves, or the measured span. A kernel's or operator's time
// counts as far as it lies in the measured iterations and the GPU sets the pace there: a faster kernel does not help
// where the GPU waits for the host.
void expect_gain(const CompiledRule& rule, const Subject& subject, Finding& finding);

// The stage whose time a change is predicted for: the subject, or the unit of the program.
std::string predicted_stage(const Subject& subject);

// The gain is what the prediction says then, of a stage's window without the tracer's part, and no longer a bound.
void use_prediction(const Prediction& prediction, const Subject& subject, Finding& finding);

// A finding is high only if it saves at least 5 % of the time, with a confidence above 80 % and two pieces of evidence. One that is known
// to save less than 1 % is low at most, and one whose change is predicted to save less than 2 % of its stage asks for no change.
Severity fitting_severity(Severity asked, const Finding& finding);

// Findings that save the most come first, each followed by those with the same cause; then findings that ask for no change, then those
// about the measurement.
void sort_by_worth(std::vector<Finding>& findings);

}  // namespace nl::analysis::rules

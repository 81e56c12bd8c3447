#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/runs/compare/decide.h"

// The lines of a comparison that are about whole runs and stages. They are tested first, and together; only a stage that changed is
// looked into.
namespace nl::analysis {

struct RunLines {
  std::vector<LineTest> headline, stages, efficiency, energy;
  std::vector<std::string> kernels_changed;  // stages of which a kernel changed, however little of the stage it is
  std::optional<LineTest> main_wall;         // of the main stage; the unprofiled one where both sides have it
};

// Decided, with what the sections of a comparison show. `kernel_p`: of each stage, how likely chance gives the differences of its kernels
// (Simes); tested with the stages, so that a stage in which one kernel changed is found where its sum hides it.
RunLines run_lines(const Sides& sides, const Judge& judge, const std::string& main_stage, const std::map<std::string, double>& kernel_p);

// The stage that a comparison is about: one step of decoding, else decoding, else what takes the most time on both sides together;
// the stage of the whole process only where it is alone.
std::string main_stage_of(const Sides& sides, const std::string& whole_stage);

// Why the inside of a stage is not looked into; nothing where one of its own lines shows a change, however small. What belongs to no stage is
// looked at where any stage changed.
std::optional<LineReason> why_not_entered(const RunLines& lines, const std::string& stage = {});

CompareLine line_of(std::string key, std::string stage, CompareFigure figure, MetricUnit unit = MetricUnit::kNanoseconds,
                    Better better = Better::kLower);
CompareSection section_of(std::vector<LineTest> tests);

}  // namespace nl::analysis

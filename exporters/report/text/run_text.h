#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exporters/report/text/document.h"
#include "exporters/report/text/figure_text.h"
#include "model/codes.h"
#include "model/headline.h"
#include "model/metrics.h"
#include "model/run.h"
#include "model/words.h"

// Texts and questions about a run that several sections share.
namespace nl::exporters::report {

std::string status_sentence(RunStatus status);

// The pieces of a finding's subject that a report shows: "stage decode", "the run".
std::string scope_text(const Run& run, const Finding& finding);
// Of the change that it asks for; nullptr: none was made.
const Prediction* prediction_of(const Finding& finding);
// "saves at most 83.1 ms, 70.0 % of the measured time", or what is predicted: "predicted to save 39 % of each decode_step (31 to 45 %):
// 1.40 ms instead of 2.30 ms". Empty where it could not be computed.
std::string gain_text(const Finding& finding);
std::string title_of(const Finding& finding);
// The finding of the same cause that is worth the most, of which this one is a part; nullptr: it is none.
const Finding* whole_of(const Run& run, const Finding& finding);

// " (inferred)" or " (engine)" where the run's stages are not marked; stands behind every figure of theirs.
std::string source_label(const Run& run);
// The name of a stage or phase as people read it: "decode", "decode (inferred)".
std::string stage_title(const Run& run, const std::string& name);
// True for decode where its steps are shown, and for a request where its stages are: it would repeat what they say.
bool told_by_its_parts(const Run& run, const StageEntry& stage);
// Whether a page has more of the stage: the host's code in its waits, its recurring gaps, counters; and a chart of the iterations.
bool shows_host_code(const Run& run, const StageEntry& stage);
bool shows_gaps(const Run& run, const StageEntry& stage);
bool shows_counters(const StageEntry& stage);
bool shows_iterations(const Run& run);
// A rank that is behind in this share of the cases is the late one; as the rule straggler_rank has it.
inline constexpr double kOftenLate = 0.7;
// The stage whose windows are steps: decode_step, else decode, else the one with the most windows; nullptr without any.
const StageEntry* step_stage(const Run& run);
// The unit of what the program does: its stage, nullptr where nothing repeats; a word for one, "training step"; and for what it does with
// them, "takes".
const StageEntry* unit_stage(const Run& run);
std::string unit_noun(const Run& run);
std::string units_noun(const Run& run);  // "training steps"
std::string unit_verb(const Run& run);
// The launches of a kernel in the measured windows of a stage; nullptr: there are none.
const StageLaunches* launches_in(const KernelEntry& kernel, const std::string& stage);
const StageEfficiency* efficiency_of(const Run& run, const std::string& stage);
// Notes on the stages' efficiency, or only why there is none; stages with the same note share a line.
std::vector<std::string> efficiency_notes(const Run& run, bool without_mfu);
// Which of the stage colours a stage has: "s-0" …
std::string stage_colour(const Run& run, const std::string& stage);

// The table that stands for the operators in a summary: the one that covers most of the GPU's time; nullptr without any.
const OperatorTable* main_operators(const Run& run);
// The sample that stands for the kernel: the one whose shape took the most time; nullptr where there is none.
const NcuSample* main_sample(const KernelEntry& kernel);

// The counters of a launch or of a stage that have a column, in the table's order.
std::vector<const MetricInfo*> columns_of(MetricPlace place);
// Which of a launch's columns report.md has room for; kernels.md has all.
Room room_of(const MetricInfo& metric);
Cell metric_cell(MetricUnit unit, const std::optional<double>& value);

bool by_cupti(const NcuSample& sample);
// "ncu", "CUPTI" or "ncu and CUPTI": what measured launches of these; empty: none was measured.
std::string measured_by(const std::vector<KernelEntry>& kernels);
Text kernel_name(const std::string& name);           // in full, or "(no name)"
std::string stalls_text(const KernelEntry& kernel);  // "long_scoreboard 41 %, wait 20 %, barrier 9 %", or a dash
bool any_stalls(const std::vector<KernelEntry>& kernels);

// What the times and shares of kernel tables are of, where that is not plain: warm-up, graphs without their kernels. Empty
// where there is nothing to say.
std::string kernel_times_note(const Run& run);
// Of a table of the kernels that work: what is left out of it, and what its shares are of. Empty: nothing to say.
std::string working_kernels_note(const Run& run, const WorkingKernels& working);

// How much of CUDA graphs' time is joined to the operators and layers in which they were captured; empty where there are none.
std::string graph_capture_text(const std::optional<double>& unjoined_share);

// "decode 92 %, none 8 %", or a dash.
std::string split_text(const std::vector<std::pair<std::string, Ns>>& parts, Ns whole);
std::string split_text(const KernelEntry& kernel);

// The host's code in words.
bool enough_samples(const StageEntry& stage);

std::string function_text(const HostFrame& frame);  // cut where it is very long
// "Qwen3Attention.forward (modeling_qwen3.py:245)".
std::string frame_text(const HostFrame& frame);

// "about half of the wait is Python code of the model's modules, mostly Qwen3Attention.forward (modeling_qwen3.py:245)": what the
// host does most, for people who never saw a profiler. Empty where the samples are too few.
std::string host_clause(const StageEntry& stage);

std::string work_colour(HostWork kind);  // "w-model"

// Cells: a dash where there is nothing, what they are sorted by, and a tip with the nanoseconds of a time.
Cell text_cell(const std::string& plain);
Cell word_cell(const std::optional<std::string>& word);
template <class Enum>
Cell key_cell(Enum value) {
  if constexpr (requires { Enum::kNone; })
    if (value == Enum::kNone) return kNoValue;
  return std::string(key_of(value));
}
template <class Enum>
Cell key_cell(const std::optional<Enum>& value) {
  return value ? key_cell(*value) : Cell(kNoValue);
}
// "memory (L1)": what binds a kernel, and where that is memory, which.
Cell bound_cell(const std::optional<Bound>& bound, const std::optional<MemoryLevel>& memory);
Cell code_cell(const std::string& plain);
Cell time_cell(double ns);
Cell time_cell(const std::optional<Ns>& ns);
Cell time_cell_if(bool known, double ns);
Cell count_cell(std::uint64_t count);
Cell share_cell(const std::optional<double>& share);
Cell utilisation_cell(const std::optional<double>& share);
Cell percent_cell(const std::optional<double>& percent);
Cell figure_cell(const std::optional<double>& value, const char* unit = "");

// Blocks.
Paragraph missing(Text text);  // why something is not there
Paragraph not_captured(const std::optional<Remark>& why, const char* otherwise, const char* what = "Not captured");
Paragraph not_captured(const std::string& why, const char* otherwise, const char* what = "Not captured");
Paragraph caption(std::string text);       // below a figure
std::string runs_on_text(const Run& run);  // why stages have more GPU work than wall time; empty: none has
List notes(const std::vector<std::string>& plain);
List notes(const std::vector<Remark>& remarks);
void drop_columns(Table& table, std::initializer_list<std::string_view> titles);
void add(Blocks& blocks, Paragraph paragraph);  // unless it is empty
void add(Blocks& blocks, List list);
void add(Blocks& blocks, Table table);

}  // namespace nl::exporters::report

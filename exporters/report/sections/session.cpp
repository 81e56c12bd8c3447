#include <fmt/format.h>

#include "exporters/report/sections/sections.h"
#include "exporters/report/text/run_text.h"

namespace nl::exporters::report {
namespace {

Table iterations_table(const SessionEntry& session) {
  Table table{"Iterations",
              {{"Iterations"}, {"Count", kRight}, {"Median", kRight}, {"Mean", kRight}, {"Shortest", kRight}, {"Longest", kRight}}};
  const auto row = [&](const char* name, const TimeSummary& time) {
    if (time.count == 0) return;
    table.rows.push_back({std::string(name), count_cell(time.count), time_cell(time.median_ns), time_cell(time.mean_ns),
                          time_cell(static_cast<double>(time.min_ns)), time_cell(static_cast<double>(time.max_ns))});
  };
  row("unprofiled", session.unprofiled);
  row("profiled", session.profiled);
  return table;
}

Table tensors_table(const SessionEntry& session) {
  Table table{"Inputs and outputs", {{""}, {"Name"}, {"Type"}, {"In the model"}, {"As run"}}};
  const auto rows = [&](const char* side, const std::vector<TensorInfo>& tensors) {
    for (const TensorInfo& tensor : tensors)
      table.rows.push_back({std::string(side), text_cell(tensor.name), text_cell(tensor.dtype), text_cell(tensor.declared),
                            text_cell(fmt::format("[{}]", fmt::join(tensor.shape, ", ")))});
  };
  rows("in", session.inputs);
  rows("out", session.outputs);
  return table;
}

// Where the operators do not explain the iteration, the reader has to know it.
std::string sum_text(const SessionEntry& session) {
  if (!session.operators_ns) return "No operator was recorded.";
  std::string text = fmt::format("The operators of an iteration take {} together", time_text(*session.operators_ns));
  if (!session.operators_share) return text + ".";
  text += fmt::format(", {:.0f} % of an unprofiled iteration.", *session.operators_share * 100);
  if (*session.operators_share < 0.95)
    text += " The rest is the backend's own: it prepares the run, chooses what comes next and frees memory.";
  if (*session.operators_share > 1.05) text += " They overlap, or recording them makes them longer.";
  return text;
}

}  // namespace

Section session(const Run& run) {
  Section out{"session", "Model file", "The model file and its iterations"};
  if (!run.session) return out;
  const SessionEntry& session = *run.session;
  std::string how = fmt::format("{} by {} {} on {}", session.model, session.backend, session.version, session.provider);
  if (!session.precision.empty()) how += " in " + session.precision;
  how += fmt::format("; inputs: {}; {} iterations of warm-up; loaded in {}.", session.inputs_from, session.warmup,
                     time_text(static_cast<double>(session.load_ns)));
  if (session.slowdown) how += fmt::format(" Recording operators makes an iteration {:.1f} % longer.", *session.slowdown * 100);
  out.blocks = {Paragraph{how}, iterations_table(session), Paragraph{sum_text(session)}, tensors_table(session)};
  add(out.blocks, notes(session.notes));
  return out;
}

}  // namespace nl::exporters::report

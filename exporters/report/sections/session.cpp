#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "exporters/report/sections/executive_summary.h"
#include "exporters/report/sections/sections.h"
#include "exporters/report/text/figure_text.h"
#include "exporters/report/text/operator_text.h"
#include "exporters/report/text/run_text.h"
#include "model/words.h"

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

std::string slower(const SessionEntry& session) {
  if (!session.slowdown || session.profiled.count == 0) return {};
  return fmt::format("profiled {}, {} {}", time_text(session.profiled.median_ns), share_text(std::abs(*session.slowdown)),
                     *session.slowdown < 0 ? "less" : "more");
}

std::string file_name(const Run& run) { return std::filesystem::path(run.session->model).filename().string(); }

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

std::string iteration_speed(const Run& run, const std::string& where) {
  const SessionEntry& session = *run.session;
  const double median_ns = session.unprofiled.median_ns;
  // The name of a file stays as it is written, also where it begins the sentence.
  return fmt::format("{}{} takes {} an iteration, {} per second ({} on {}; unprofiled, median of {}).", where, phrase(file_name(run)),
                     rough_time(median_ns), rough_count(1e9 / median_ns), session.backend, session.provider, session.unprofiled.count);
}

std::string operator_shares(const Run& run) {
  const OperatorStep* step = model_step(run);
  if (step == nullptr) return {};
  const std::vector<TypeTime> types = times_by_type(*step);
  if (types.empty() || types[0].own_ns <= 0) return {};
  std::string text = fmt::format("Of the operators' time, {} takes {}", key_of(types[0].type), rough_share(types[0].share));
  if (types.size() > 1 && types[1].own_ns > 0) text += fmt::format(" and {} {}", key_of(types[1].type), rough_share(types[1].share));
  return text + ".";
}

std::string providers_sentence(const Run& run) {
  const OperatorStep* step = model_step(run);
  if (step == nullptr) return {};
  std::map<std::string, std::uint64_t> nodes;
  for (const OperatorCall& call : step->calls) ++nodes[call.provider];
  const auto most = std::max_element(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == nodes.end() || most->first.empty()) return {};
  if (nodes.size() == 1 && step->calls_left_out > 0)
    return fmt::format("All nodes that are listed ({} of {}) run in {}.", count_text(most->second),
                       count_text(most->second + step->calls_left_out), phrase(most->first));
  if (nodes.size() == 1) return fmt::format("All {} run in {}.", plural(most->second, "node"), phrase(most->first));
  return fmt::format("{} of {} run in {}.", count_text(most->second), plural(step->calls.size(), "node"), phrase(most->first));
}

std::string recording_cost(const Run& run) {
  const SessionEntry& session = *run.session;
  if (!session.slowdown) return {};
  if (*session.slowdown < 0.005) return "Recording the operators does not make an iteration longer.";
  return fmt::format("Recording the operators makes an iteration {} longer: {}.", rough_share(*session.slowdown),
                     rough_time(session.profiled.median_ns));
}

std::vector<Tile> session_tiles(const Run& run) {
  const SessionEntry& session = *run.session;
  const double median_ns = session.unprofiled.median_ns;
  std::vector<Tile> tiles = {{"Iteration", time_text(median_ns), "unprofiled" + (slower(session).empty() ? "" : "; " + slower(session))},
                             {"Iterations", figure_text(1e9 / median_ns, "per second"), "unprofiled, one after the other"},
                             {"Longest iteration", time_text(static_cast<double>(session.unprofiled.max_ns)),
                              fmt::format("of {}, unprofiled", session.unprofiled.count)}};
  if (session.operators_share) tiles.push_back({"Operators", share_text(session.operators_share), "of an unprofiled iteration, host time"});
  if (const OperatorStep* step = model_step(run); step != nullptr && !times_by_type(*step).empty()) {
    const TypeTime first = times_by_type(*step)[0];
    tiles.push_back({std::string(key_of(first.type)), share_text(first.share), "of the operators' time"});
  }
  return tiles;
}

}  // namespace nl::exporters::report

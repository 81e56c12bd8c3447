#include <fmt/format.h>

#include <cmath>

#include "exporters/report/sections/sections.h"
#include "exporters/report/text/run_text.h"

namespace nl::exporters::report {
namespace {

std::string sampling_error_text(const std::optional<double>& error) { return error ? "±" + share_text(error) : kNoValue; }

// "120 of 1,204 windows of decode_step were traced, 10.0 %, in 8 rows."
std::string traced_sentence(const Run& run, const SampledStage& stage) {
  const std::string name = stage_title(run, stage.stage);
  if (stage.traced == 0) return fmt::format("No window of {} lies within what was traced: {} in all.", name, count_text(stage.windows));
  if (stage.traced == stage.windows) return fmt::format("{} of {}: traced, all of them.", plural(stage.windows, "window"), name);
  return fmt::format("{} of {} of {} were traced, in {}, and figures of {} are those of these windows.", count_text(stage.traced),
                     plural(stage.windows, "window"), name, plural(stage.rows, "row"), name);
}

// "Sampling makes their mean time uncertain by ±2.1 % (95 %), the overhead of tracing apart."
std::string error_sentence(const SampledStage& stage) {
  if (stage.traced == 0 || stage.traced == stage.windows) return {};
  if (!stage.wall_error) return " How far sampling puts their mean off is not known: too few rows were drawn.";
  std::string text = fmt::format(" Sampling makes their mean time uncertain by {} (95 %), the overhead of tracing apart",
                                 sampling_error_text(stage.wall_error));
  if (stage.gpu_total_ns && stage.gpu_error)
    text += fmt::format("; all windows together launch {} of GPU time, extrapolated, within {}", time_text(*stage.gpu_total_ns),
                        sampling_error_text(stage.gpu_error));
  return text + '.';
}

}  // namespace

Blocks sampled_steps(const Run& run) {
  Blocks blocks;
  if (run.sampled.empty()) return blocks;
  Table table{"Which windows were traced", texts({"Stage"}) + numbers({"Windows", "Traced", "Rows", "Traced, mean", "Untraced, mean",
                                                                       "Error by sampling (95 %)", "GPU time of all", "Its error"})};
  std::vector<std::string> sentences;
  for (const SampledStage& stage : run.sampled) {
    table.rows.push_back({text_cell(stage_title(run, stage.stage)), count_cell(stage.windows), count_cell(stage.traced),
                          count_cell(stage.rows), time_cell_if(stage.wall_ns.has_value(), stage.wall_ns.value_or(0)),
                          time_cell_if(stage.untraced_ns.has_value(), stage.untraced_ns.value_or(0)), sampling_error_text(stage.wall_error),
                          time_cell_if(stage.gpu_total_ns.has_value(), stage.gpu_total_ns.value_or(0)),
                          sampling_error_text(stage.gpu_error)});
    sentences.push_back(traced_sentence(run, stage) + error_sentence(stage));
  }
  blocks.emplace_back(Heading{"Traced steps", "sampled"});
  add(blocks,
      Paragraph{"Only some of the steps were traced (capture.duty). The others ran untraced; their times are known, and nothing of the "
                "GPU is."});
  add(blocks, notes(sentences));
  add(blocks, std::move(table));
  return blocks;
}

}  // namespace nl::exporters::report

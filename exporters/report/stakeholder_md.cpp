#include "exporters/report/stakeholder_md.h"

#include <fmt/core.h>

#include <algorithm>

#include "exporters/report/executive_summary.h"
#include "exporters/report/figure_text.h"
#include "exporters/report/markdown.h"
#include "exporters/report/recommendations.h"
#include "model/words.h"

namespace nl::exporters {
namespace {

constexpr std::size_t kTopRows = 5, kTopRecommendations = 5;

std::string section(const char* title, const std::string& body) { return fmt::format("\n## {}\n\n{}", title, body); }
std::string because(const std::string& note, const char* otherwise) {
  return note.empty() ? otherwise : markdown_text(note);
}

std::string environment(const Run& run) {
  MarkdownTable table({{"Item", false}, {"Value", false}});
  const auto row = [&](const std::string& what, const std::string& value) {
    if (!value.empty()) table.add({what, markdown_text(value)});
  };
  row("Model", run.model.name);
  for (const auto& [key, value] : run.model.attributes) row("Model " + markdown_text(key), value);
  std::vector<std::string> gpus;
  for (const auto& gpu : run.hardware.gpus) gpus.push_back(gpu.name.empty() ? "unknown" : gpu.name);
  row("GPU", gpus.empty() ? "not observed" : join(gpus));
  row("Driver", run.hardware.driver_version);
  row("CPU", run.hardware.cpu_model);
  row("System", run.software.os);
  row("Captured by", captured_by(run.provenance.tracer, run.provenance.meter));
  row("Captured at", run.created_at);
  return section("Environment", table.text());
}

// A figure of which only the mean is known has no Std.
std::string aggregates(const Run& run) {
  MarkdownTable table({{"Metric", false}, {"Mean", true}, {"Std", true}});
  const auto times = [&](const char* what, const std::optional<TimeSummary>& time) {
    if (time && time->count > 0)
      table.add({what, ms_text(time->mean_ns), time->count > 1 ? ms_text(time->stddev_ns) : kNoValue});
    else
      table.add({what, kNotCaptured, kNoValue});
  };
  const auto figure = [&](const char* what, const std::string& mean) {
    table.add({what, mean == kNoValue ? kNotCaptured : mean, kNoValue});
  };
  times("Time to first token (ms)", run.latency.ttft);
  times("Time per output token (ms)", run.latency.tpot);
  figure("Output tokens per second", figure_text(run.latency.output_tokens_per_s));
  std::optional<double> busy;
  if (const auto stage = main_stage(run); stage && stage->budget && stage->budget->wall_ns > 0)
    busy = static_cast<double>(stage->budget->gpu_compute_ns) / static_cast<double>(stage->budget->wall_ns);
  figure("GPU computing, longest stage", share_text(busy));
  for (const auto& stage : run.energy.stages)
    if (stage.joules_per_token)
      figure(("Energy per token, " + markdown_text(stage.stage) + " (J)").c_str(), figure_text(stage.joules_per_token));
  if (run.energy.stages.empty()) figure("Energy per token (J)", kNoValue);
  return section("Aggregates", table.text());
}

std::string timings(const Run& run) {
  MarkdownTable table({{"Stage", false}, {"Mean", true}, {"Std", true}});
  for (const auto& stage : run.stages)
    table.add({markdown_text(stage.name), stage.wall.count > 0 ? ms_text(stage.wall.mean_ns) : kNoValue,
               stage.wall.count > 1 ? ms_text(stage.wall.stddev_ns) : kNoValue});
  if (table.empty()) return section("Per-Stage Timings (ms)", "Not captured: no stages are marked in the workload.\n");
  std::string text = table.text();
  if (run.iterations.warmup > 0)
    text += fmt::format("\nWarm-up is left out: {}.\n", because(run.iterations.rule, "by rule"));
  return section("Per-Stage Timings (ms)", text);
}

std::string mfu(const Run& run) {
  MarkdownTable table({{"Scope", false}, {"MFU", true}});
  std::string notes;
  for (const auto& entry : run.efficiency) {
    table.add({markdown_text(entry.stage), entry.mfu ? utilisation_text(entry.mfu) : kNotCaptured});
    if (!entry.mfu && !entry.note.empty())
      notes += fmt::format("\n{}: {}\n", markdown_text(entry.stage), markdown_text(entry.note));
  }
  if (table.empty()) return section("MFU", "Not computed: the model's shape or the GPU's peak is not known.\n");
  std::string text = table.text() + notes +
                     "\nShare of the GPU's peak arithmetic rate that the model's own work reaches. Decoding is limited "
                     "by memory rather than by arithmetic, so a low figure there is usual.\n";
  if (run.peaks && run.peaks->derived)
    text += "\nThe peak was derived from the GPU's clock, not taken from a data sheet.\n";
  return section("MFU", text);
}

std::string takeaway(const Run& run, const StageEntry& stage) {
  std::string text =
      fmt::format("- **{}**: {}", markdown_text(stage.name),
                  stage.wall.count > 0 ? rough_time(stage.wall.mean_ns) + " on average" : "never measured to its end");
  if (stage.tokens_per_s) text += fmt::format(", {} tokens per second", rough_count(*stage.tokens_per_s));
  if (stage.budget && stage.budget->wall_ns > 0) {
    const auto share = [&](Ns ns) {
      return rough_share(static_cast<double>(ns) / static_cast<double>(stage.budget->wall_ns));
    };
    text += fmt::format("; the GPU computes for {} of it and waits to be given work for {}",
                        share(stage.budget->gpu_compute_ns), share(stage.budget->launch_starved_ns));
  } else {
    text += "; what the GPU did was not captured";
  }
  if (const StageEfficiency* entry = efficiency_of(run, stage.name);
      entry != nullptr && entry->ideal_ns && entry->limit)
    text += fmt::format("; at the hardware's limit ({}) it would take {}", markdown_text(*entry->limit),
                        rough_time(*entry->ideal_ns));
  return text + ".\n";
}

// How busy the longest stage keeps what the GPU is bought for; empty where nothing of it was measured.
std::string busy_units(const Run& run) {
  const auto main = main_stage(run);
  const StageEntry* stage = main ? stage_named(run, main->name) : nullptr;
  if (stage == nullptr) return {};
  const bool counted = stage->counters && stage->counters->windows > 0;
  const std::optional<double> none;
  const auto& memory = counted ? stage->counters->dram_pct : stage->sampling ? stage->sampling->dram_pct : none;
  const auto& matrix = counted ? stage->counters->tensor_pct : stage->sampling ? stage->sampling->tensor_pct : none;
  std::vector<std::string> parts;
  if (memory) parts.push_back(fmt::format("its memory at {} of its peak rate", rough_share(*memory / 100)));
  if (matrix)  // counted, it is a share of the SMs' active cycles
    parts.push_back(fmt::format("its matrix units {} of the time{}", rough_share(*matrix / 100), counted ? " in which it computes" : ""));
  if (parts.empty()) return {};
  return fmt::format("\nBy the GPU's own {}, {} uses {}.\n", counted ? "counters" : "samples",
                     markdown_text(plain_stage(stage->name)), join(parts, " and "));
}

std::string takeaways(const Run& run) {
  std::string text;
  for (const auto& stage : run.stages) text += takeaway(run, stage);
  if (!text.empty()) text += busy_units(run);
  return section("Stage Takeaways", text.empty() ? "None: no stages were captured.\n" : text);
}

std::string operators(const Run& run) {
  const OperatorTable* source = main_operators(run);
  if (source == nullptr)
    return section("Top Operators",
                   fmt::format("Not captured: {}.\n", because(run.operators_note, "the capture holds no operators")));
  MarkdownTable table({{"Operator", false}, {"GPU ms", true}, {"Host ms", true}, {"Calls", true}});
  for (std::size_t i = 0; i < std::min(kTopRows, source->entries.size()); ++i) {
    const OperatorEntry& op = source->entries[i];
    table.add({markdown_text(op.name), op.cuda_self_ns ? ms_text(static_cast<double>(*op.cuda_self_ns)) : kNotCaptured,
               ms_text(static_cast<double>(op.self_ns)), count_text(op.calls)});
  }
  return section("Top Operators", table.text());
}

std::string kernels(const Run& run) {
  if (!run.kernels || run.kernels->empty())
    return section("Top Kernels", fmt::format("{}: {}.\n", run.kernels ? "None" : "Not captured",
                                              because(run.kernels_note, "the capture holds no kernels")));
  MarkdownTable table({{"Kernel", false}, {"GPU ms", true}, {"Share", true}, {"Calls", true}});
  for (std::size_t i = 0; i < std::min(kTopRows, run.kernels->size()); ++i) {
    const KernelEntry& kernel = (*run.kernels)[i];
    table.add({markdown_text(short_kernel_name(kernel.name)), ms_text(static_cast<double>(kernel.time.total_ns)),
               share_text(kernel.gpu_share), count_text(kernel.time.count)});
  }
  return section("Top Kernels", table.text());
}

std::string about(const Finding& finding) {
  return markdown_text(
      scope_text(finding.scope, finding.scope == "kernel" ? short_kernel_name(finding.subject) : finding.subject));
}

std::string see_also(const Recommendation& recommendation) {
  std::vector<std::string> others;
  for (const Finding* other : recommendation.also) {
    std::string text = markdown_code(other->rule);
    if (other->subject != recommendation.finding->subject) text += " of " + about(*other);
    if (other->gain_share) text += " (" + share_text(other->gain_share) + ")";
    others.push_back(std::move(text));
  }
  return join(others);
}

std::string recommendation_text(std::size_t number, const Recommendation& recommendation) {
  const Finding& finding = *recommendation.finding;
  const std::string gain = gain_text(finding);
  std::string text = fmt::format("{}. {} ({}{}{}; severity {}, confidence {:.0f} %)\n", number,
                                 markdown_text(plain_text(finding)), about(finding), gain.empty() ? "" : "; ", gain,
                                 severity_word(finding.severity), finding.confidence * 100);
  if (!finding.suggestions.empty())
    text += fmt::format("   - For the engineer: {}\n", markdown_text(finding.suggestions.front()));
  text += fmt::format("   - Rule: {}", markdown_code(finding.rule));
  return text + (recommendation.also.empty() ? "\n" : fmt::format("; see also: {}\n", see_also(recommendation)));
}

std::string recommended(const Run& run) {
  std::string text;
  std::size_t number = 0;
  for (const auto& each : recommendations(run, kTopRecommendations)) text += recommendation_text(++number, each);
  text = text.empty() ? "None: no check asks for a change.\n"
                      : "What would save the most comes first. Several may have one cause: what they save overlaps and "
                        "is not to be added up.\n\n" +
                            text;
  if (!run.abstentions.empty())
    text += fmt::format("\n{} checks could not be made for lack of data; report.md names what would capture it.\n",
                        run.abstentions.size());
  return section("Recommendations", text);
}

}  // namespace

std::string stakeholder_markdown(const Run& run) {
  const std::string title = run.name.empty() ? run.run_id : run.name;
  std::string text = fmt::format("# {}: summary\n\n", title.empty() ? "Run" : markdown_text(title));
  for (const auto& sentence : executive_summary(run)) text += markdown_text(sentence) + "\n";
  return text + environment(run) + aggregates(run) + timings(run) + mfu(run) + takeaways(run) + operators(run) +
         kernels(run) + recommended(run);
}

}  // namespace nl::exporters

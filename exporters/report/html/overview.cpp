#include <fmt/core.h>

#include "exporters/report/executive_summary.h"
#include "exporters/report/figure_text.h"
#include "exporters/report/html/html_text.h"
#include "exporters/report/html/sections.h"
#include "model/run_status.h"
#include "model/words.h"

namespace nl::exporters::html {
namespace {

std::string tile(const char* title, const std::string& figure, const std::string& detail) {
  const bool known = figure != kNoValue && !figure.empty();
  return fmt::format("<div class=\"tile\"><dt>{}</dt><dd><b{}>{}</b><span>{}</span></dd></div>\n", text(title),
                     known ? "" : " class=\"none\"", known ? text(figure) : kNoValue,
                     known ? text(detail) : kNotCaptured);
}

std::string time_tile(const char* title, const std::optional<TimeSummary>& time) {
  if (!time || time->count == 0) return tile(title, kNoValue, "");
  return tile(title, time_text(time->mean_ns),
              time->count > 1 ? fmt::format("p99 {}, n = {}", time_text(static_cast<double>(time->p99_ns)), time->count)
                              : "one measurement");
}

std::string main_stage_tiles(const Run& run) {
  const auto stage = main_stage(run);
  if (!stage) return tile("GPU computing", kNoValue, "") + tile("MFU", kNoValue, "");
  const bool known = stage->budget && stage->budget->wall_ns > 0;
  std::string out = tile("GPU computing",
                         known ? share_text(static_cast<double>(stage->budget->gpu_compute_ns) /
                                            static_cast<double>(stage->budget->wall_ns))
                               : kNoValue,
                         fmt::format("of the wall time of {}", stage->name));
  const StageEfficiency* entry = efficiency_of(run, stage->name);
  const bool memory = entry != nullptr && entry->limit && *entry->limit == "memory";
  if (entry == nullptr) return out + tile("MFU", kNoValue, "");
  return out + tile(memory ? "MBU" : "MFU", utilisation_text(memory ? entry->mbu : entry->mfu),
                    fmt::format("of the peak, {}", stage->name));
}

std::string energy_tile(const Run& run) {
  for (const auto& stage : run.energy.stages)
    if (stage.stage.rfind("decode", 0) == 0 && stage.joules_per_token)
      return tile("Energy a token", figure_text(stage.joules_per_token, "J"), stage.stage);
  return tile("Energy a token", kNoValue, "");
}

std::string facts(const Run& run) {
  std::vector<std::string> parts;
  const auto add = [&](const std::string& plain) {
    if (!plain.empty()) parts.push_back("<span>" + text(plain) + "</span>");
  };
  add(run.model.name);
  if (!run.hardware.gpus.empty())
    add(run.hardware.gpus.size() > 1 ? fmt::format("{} × {}", run.hardware.gpus.size(), run.hardware.gpus[0].name)
                                     : run.hardware.gpus[0].name);
  else
    add(run.hardware.cpu_model);
  add(run.mode.empty() ? "" : run.mode + " mode");
  const std::string by = captured_by(run.provenance.tracer, run.provenance.meter);
  add(by.empty() ? "" : "captured by " + by);
  add(run.created_at);
  return join(parts, "");
}

// "81 %" stays on one line.
std::string unbroken(std::string markup) {
  for (std::size_t at = markup.find(" %"); at != std::string::npos; at = markup.find(" %", at))
    markup.replace(at, 1, "&nbsp;");
  return markup;
}

std::string problems(const Run& run) {
  if (run.problems.empty() && run.status == RunStatus::kComplete) return {};
  std::string out = fmt::format("<div class=\"problems {}\" role=\"note\"><p><b>{}.</b></p>",
                                run_status_word(run.status), text(status_sentence(run.status)));
  if (!run.problems.empty()) out += "<ul>";
  for (const auto& problem : run.problems) {
    out += fmt::format("<li>{}", text(problem.what));
    if (!problem.where.empty()) out += fmt::format(" <span class=\"muted\">({})</span>", text(problem.where));
    if (!problem.fix.empty()) out += fmt::format("<br><span class=\"muted\">{}</span>", text(problem.fix));
    out += "</li>";
  }
  return out + (run.problems.empty() ? "</div>\n" : "</ul></div>\n");
}

}  // namespace

std::string overview(const Run& run) {
  const std::string title = run.run_id.empty() ? run.name : run.run_id;
  std::string out = fmt::format(
      "<header><h1>{} <span class=\"pill {}\">{}</span></h1><p class=\"facts\">{}</p></header>\n",
      title.empty() ? "Run" : text(title), run_status_word(run.status), run_status_word(run.status), facts(run));
  out += problems(run);
  out += "<dl class=\"tiles\">\n" + time_tile("Time to first token", run.latency.ttft) +
         time_tile("Time per output token", run.latency.tpot) +
         tile("Output",
              run.latency.output_tokens_per_s ? figure_text(run.latency.output_tokens_per_s, "tokens/s") : kNoValue,
              "over whole iterations") +
         main_stage_tiles(run) + energy_tile(run) + "</dl>\n";
  std::string summary;
  for (const auto& sentence : executive_summary(run)) summary += unbroken(text(sentence)) + " ";
  return out + section("summary", "In short", "<p class=\"lead\">" + summary + "</p>\n");
}

}  // namespace nl::exporters::html

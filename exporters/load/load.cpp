#include "exporters/load/load.h"

#include <fmt/format.h>

#include <algorithm>

#include "exporters/load/words.h"
#include "exporters/report/text/document.h"
#include "exporters/report/text/figure_text.h"
#include "exporters/report/text/markdown.h"
#include "model/visible_text.h"

namespace nl::exporters {
namespace {

using namespace report;

constexpr LoadFigure kEveryFigure[kLoadFigures] = {LoadFigure::kTtft, LoadFigure::kTpot, LoadFigure::kItl, LoadFigure::kE2e,
                                                   LoadFigure::kNormalised};
constexpr double kSameRatio = 0.001;  // ratios below are the same figure

std::string ms_or_dash(const std::optional<double>& ns) { return ns ? ms_text(*ns) : std::string(kNoValue); }
std::string bounds_text(const std::optional<LoadBounds>& bounds) {
  return bounds ? fmt::format("{} to {}", ms_text(bounds->low), ms_text(bounds->high)) : std::string(kNoValue);
}

Table figure_table(const LoadReport& load) {
  Table table{"latencies", texts({"Figure"}) + numbers({"n", "Mean, ms", "Median, ms", "its 95 %, ms", "p90, ms", "p95, ms", "p99, ms",
                                                        "its 95 %, ms", "Max, ms"})};
  for (const auto& [figure, spread] : load.figures)
    table.rows.push_back({std::string(title_of(figure)), count_text(spread.count), ms_text(spread.mean_ns), ms_text(spread.median_ns),
                          bounds_text(spread.median_95), ms_or_dash(spread.p90_ns), ms_or_dash(spread.p95_ns), ms_or_dash(spread.p99_ns),
                          bounds_text(spread.p99_95), ms_text(spread.max_ns)});
  return table;
}

List own_definitions(const LoadReport& load) {
  List list;
  for (const auto& [figure, spread] : load.figures)
    list.items.push_back({strong(std::string(title_of(figure))) + Text(fmt::format(": {}.", definition_of(figure, LoadTool::kNlStage)))});
  list.items.push_back(
      {Text(fmt::format("Percentiles: {}; 95 % intervals by ranks, with requests that follow each other taken as dependent.",
                        percentiles_of(LoadTool::kNlStage)))});
  return list;
}

std::string rates_text(const LoadReport& load) {
  const LoadRates& rates = load.rates;
  std::vector<std::string> parts;
  const auto add = [&](const char* what, const std::optional<double>& rate, const char* unit) {
    if (rate) parts.push_back(fmt::format("{}{} {}/s", what, three_digits(*rate), unit));
  };
  add("requested ", rates.requested_per_s, "requests");
  add("drawn ", rates.scheduled_per_s, "requests");
  add("sent ", rates.sent_per_s, "requests");
  add("answered ", rates.answered_per_s, "requests");
  add("", rates.output_tokens_per_s, "output tokens");
  add("", rates.prompt_tokens_per_s, "prompt tokens");
  return parts.empty() ? "" : fmt::format("Rates: {}.", join(parts));
}

std::string goodput_text(const LoadReport& load) {
  const LoadGoodput& goodput = *load.goodput;
  const double share = goodput.sent > 0 ? static_cast<double>(goodput.good) / static_cast<double>(goodput.sent) : 0;
  return fmt::format("Goodput: {} of {} keep {}: {}{} (95 %: {} to {}).", count_text(goodput.good), plural(goodput.sent, "request"),
                     limits_text(load.limits), share_text(share),
                     goodput.per_s ? fmt::format(", {} a second", three_digits(*goodput.per_s)) : "", share_text(goodput.share_95.low),
                     share_text(goodput.share_95.high));
}

// "same", or by how much the largest exceeds the smallest.
std::string apart_text(const std::vector<double>& values) {
  if (values.size() < 2) return kNoValue;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  if (*least <= 0) return *most <= 0 ? "same" : kNoValue;
  const double apart = *most / *least - 1;
  return apart < kSameRatio ? "same"
         : apart < 10       ? fmt::format("+{} %", three_digits(100 * apart))
                            : fmt::format("× {}", three_digits(1 + apart));
}

using ToolNumbers = std::array<std::optional<double>, kDefiningTools>;

Row compared_row(const std::string& title, const ToolNumbers& numbers, std::string (*text)(double)) {
  Row row{title};
  std::vector<double> defined;
  for (const auto& number : numbers) {
    row.push_back(number ? text(*number) : std::string(kNoValue));
    if (number) defined.push_back(*number);
  }
  row.push_back(apart_text(defined));
  return row;
}

void add_compared_figure(const LoadReport& load, LoadFigure figure, Table& table) {
  const auto& spreads = load.by_tool.at(figure);
  if (std::none_of(spreads.begin(), spreads.end(), [](const auto& spread) { return spread.has_value(); })) return;
  for (const auto& [name, part] :
       {std::pair("mean", &ToolSpread::mean_ns), std::pair("median", &ToolSpread::median_ns), std::pair("p99", &ToolSpread::p99_ns)}) {
    ToolNumbers numbers;
    for (std::size_t i = 0; i < kDefiningTools; ++i)
      if (spreads[i]) numbers[i] = (*spreads[i]).*part;
    table.rows.push_back(compared_row(fmt::format("{} {}, ms", title_of(figure), name), numbers, ms_text));
  }
}

Table compared_table(const LoadReport& load) {
  Table table{"the same requests by the definitions of five tools", texts({"Figure"})};
  for (std::size_t i = 0; i < kDefiningTools; ++i) table.columns.push_back({std::string(title_of(static_cast<LoadTool>(i))), kRight});
  table.columns.push_back({"Apart", kRight});
  for (const LoadFigure figure : kEveryFigure) add_compared_figure(load, figure, table);
  for (const auto& [name, part] :
       {std::pair("requests/s", &ToolRates::requests_per_s), std::pair("output tokens/s", &ToolRates::output_tokens_per_s),
        std::pair("goodput, requests/s", &ToolRates::good_per_s)}) {
    ToolNumbers numbers;
    for (std::size_t i = 0; i < kDefiningTools; ++i) numbers[i] = load.tool_rates[i].*part;
    if (numbers.front()) table.rows.push_back(compared_row(name, numbers, three_digits));
  }
  return table;
}

// "E2E — nl-stage and GuideLLM: from sending …; vLLM: to the last chunk …": tools of one definition together.
template <class TextOf>
Item definition_item(std::string_view title, TextOf text_of) {
  std::vector<std::pair<std::string_view, std::vector<std::string>>> by_text;
  for (std::size_t i = 0; i < kDefiningTools; ++i) {
    const auto tool = static_cast<LoadTool>(i);
    const std::string_view text = text_of(tool);
    if (text.empty()) continue;
    auto same = std::find_if(by_text.begin(), by_text.end(), [&](const auto& each) { return each.first == text; });
    if (same == by_text.end()) same = by_text.insert(by_text.end(), {text, {}});
    same->second.emplace_back(title_of(tool));
  }
  std::vector<std::string> parts;
  for (const auto& [text, tools] : by_text) parts.push_back(fmt::format("{}: {}", join_and(tools), text));
  return {strong(std::string(title)) + Text(fmt::format(" — {}.", join(parts, "; ")))};
}

List definition_list(const LoadReport& load) {
  List list;
  for (const LoadFigure figure : kEveryFigure)
    list.items.push_back(definition_item(title_of(figure), [&](LoadTool tool) { return definition_of(figure, tool); }));
  list.items.push_back(definition_item("median and p99", percentiles_of));
  list.items.push_back(definition_item("a second", window_of));
  if (load.limits.any()) list.items.push_back(definition_item("goodput", goodput_of));
  return list;
}

std::string load_lead(const LoadReport& load) {
  const std::uint64_t failed = load.requests - load.answered;
  return fmt::format("{}{}, {}: {} answered, {} failed{}.", plural(load.requests, "request"),
                     load.run.model.empty() ? "" : " to " + load.run.model, arrivals_text(load.run.arrivals), count_text(load.answered),
                     count_text(failed), load.warmups > 0 ? fmt::format("; {} before, not counted", plural(load.warmups, "warm-up")) : "");
}

void add_load(const LoadReport& load, Blocks& blocks) {
  const auto say = [&](const std::string& text) {
    if (!text.empty()) blocks.push_back(Paragraph{text});
  };
  say(load_lead(load));
  if (!load.failed.empty())
    say(fmt::format("Failed: {}.{}", failures_text(load), load.first_error.empty() ? "" : " The first: " + sentence(load.first_error)));
  if (!load.figures.empty()) blocks.push_back(figure_table(load)), blocks.push_back(own_definitions(load));
  say(rates_text(load));
  if (load.schedule_delay)
    say(fmt::format("Schedule delay (sent − due): median {}, p99 {}, max {}.", short_time(load.schedule_delay->median_ns),
                    short_time(load.schedule_delay->p99_ns), short_time(load.schedule_delay->max_ns)));
  if (load.goodput) say(goodput_text(load));
  List notes;
  for (const LoadNote& note : load.notes) notes.items.push_back({Text(note_text(note))});
  if (!notes.items.empty()) blocks.push_back(notes);
  if (load.figures.empty()) return;
  blocks.push_back(Heading{"The same requests by the definitions of other tools"});
  blocks.push_back(compared_table(load));
  blocks.push_back(definition_list(load));
}

Document document_of(const LoadReport& load) {
  Document document{fmt::format("Load: {}", load.run.name), "", {}, {}, {}, false};
  add_load(load, document.lead);
  return document;
}

}  // namespace

std::string load_markdown(const std::vector<LoadReport>& reports) {
  std::string text;
  for (const LoadReport& load : reports) text += (text.empty() ? "" : "\n") + markdown(document_of(load));
  return text;
}

std::string load_text(const std::vector<LoadReport>& reports, std::size_t width) {
  std::string text;
  for (const LoadReport& load : reports)
    text +=
        fmt::format("{}{}\n\n", text.empty() ? "" : "\n", wrapped(load.run.name, width, 0, 0)) + terminal_text(document_of(load), width);
  return text;
}

}  // namespace nl::exporters

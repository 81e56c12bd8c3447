#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string_view>

#include "exporters/answer/answer.h"
#include "exporters/report/text/figure_text.h"
#include "model/visible_text.h"
#include "model/words.h"

namespace nl::exporters {
namespace {

constexpr std::size_t kLeadLines = 4, kBarPlaces = 60;
constexpr double kBinWorthNaming = 0.005;  // of the time: 0 % as it is written

// How a bin is drawn: told apart without colour, too.
struct BinMark {
  std::string_view bin, mark;
  Tone tone;
};
constexpr std::array<BinMark, 9> kBinMarks = {{{"gpu_compute", "█", Tone::kWorking},
                                               {"communication", "▓", Tone::kWorking},
                                               {"exposed_copy", "▒", Tone::kWaiting},
                                               {"queue_wait", "░", Tone::kWaiting},
                                               {"sync_blocked", "=", Tone::kWaiting},
                                               {"launch_starved", "·", Tone::kStarved},
                                               {"launch_latency", "-", Tone::kStarved},
                                               {"other_host", "~", Tone::kWaiting},
                                               {"residual", "?", Tone::kPlain}}};

const BinMark& mark_of(const AnswerBin& bin) {
  const auto found = std::find_if(kBinMarks.begin(), kBinMarks.end(), [&](const BinMark& each) { return each.bin == bin.bin; });
  return found != kBinMarks.end() ? *found : kBinMarks.back();
}

// Of the text, broken at the width, at most so many lines; what is cut off leaves an ellipsis.
std::vector<std::string> lines_within(const std::string& text, std::size_t width, std::size_t indent, std::size_t most) {
  if (width == 0) return {text};
  const std::string whole = wrapped(text, width, 0, indent);
  std::vector<std::string> lines;
  for (std::size_t at = 0; at <= whole.size();) {
    const std::size_t end = std::min(whole.find('\n', at), whole.size());
    lines.push_back(whole.substr(at, end - at));
    at = end + 1;
  }
  if (lines.size() <= most) return lines;
  lines.resize(most);
  lines.back() = cut_to(lines.back() + " …", width);
  return lines;
}

std::string ms_words(double ms) { return time_text(ms * 1e6); }

// "decode_step: 2.70 ms predicted without the profiler (2.00 ms to 3.70 ms), traced 4.01 ms; median of 16"
std::string unit_words(const AnswerUnit& unit) {
  std::vector<std::string> times;
  if (unit.unprofiled_ms) times.push_back(ms_words(*unit.unprofiled_ms) + " unprofiled");
  if (unit.predicted_ms)
    times.push_back(fmt::format("{} predicted without the profiler ({} to {})", ms_words(*unit.predicted_ms),
                                ms_words(unit.predicted_low_ms.value_or(*unit.predicted_ms)),
                                ms_words(unit.predicted_high_ms.value_or(*unit.predicted_ms))));
  if (unit.traced_median_ms) times.push_back(ms_words(*unit.traced_median_ms) + " traced");
  return fmt::format("{}: {}; median of {}", unit.stage.empty() ? unit.noun : unit.stage, join(times), count_text(unit.windows));
}

// Places of the bar for each bin: together all of them, none for what is too short.
std::vector<std::size_t> places_of(const AnswerBudget& budget, std::size_t whole) {
  double all = 0;  // 1 but for rounding
  for (const AnswerBin& bin : budget.bins) all += bin.share;
  const double scale = all > 0 ? static_cast<double>(whole) / all : 0;
  std::vector<std::size_t> places;
  for (const AnswerBin& bin : budget.bins) places.push_back(static_cast<std::size_t>(bin.share * scale));
  std::vector<std::size_t> order(places.size());
  std::iota(order.begin(), order.end(), 0);
  const auto rest = [&](std::size_t i) { return budget.bins[i].share * scale - static_cast<double>(places[i]); };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rest(a) > rest(b); });
  std::size_t used = std::accumulate(places.begin(), places.end(), std::size_t{0});
  for (std::size_t i = 0; i < order.size() && used < whole; ++i, ++used) ++places[order[i]];
  return places;
}

AnswerLine bar_of(const AnswerBudget& budget, std::size_t width) {
  const auto places = places_of(budget, width == 0 ? kBarPlaces : std::min(width, kBarPlaces));
  AnswerLine bar;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const BinMark& mark = mark_of(budget.bins[i]);
    std::string text;
    for (std::size_t place = 0; place < places[i]; ++place) text += mark.mark;
    if (!text.empty()) bar.push_back({std::move(text), mark.tone});
  }
  return bar;
}

// "· launch-starved 81 %  █ GPU compute 9 %": the largest first, as many as fit.
AnswerLine legend_of(const AnswerBudget& budget, std::size_t width) {
  std::vector<AnswerBin> bins = budget.bins;
  std::stable_sort(bins.begin(), bins.end(), [](const AnswerBin& a, const AnswerBin& b) { return a.share > b.share; });
  AnswerLine legend;
  std::size_t used = 0;
  for (const AnswerBin& bin : bins) {
    const BinMark& mark = mark_of(bin);
    const std::string text = fmt::format(" {} {}", bin.title, rough_share(bin.share));
    const std::size_t needs = nl::columns_of(text) + 1 + (used > 0 ? 2 : 0);
    if (bin.share < kBinWorthNaming || (width > 0 && used + needs > width)) break;
    if (used > 0) legend.push_back({"  "});
    legend.push_back({std::string(mark.mark), mark.tone});
    legend.push_back({text});
    used += needs;
  }
  return legend;
}

// "1. Saves about 84 % of each decode_step, between 75 and 90 %: use CUDA graphs for each step."
std::string action_words(const AnswerAction& action, std::size_t number) {
  const std::string what = action.worth.empty() ? action.action : action.worth + ": " + uncapitalised(action.action);
  return fmt::format("{}. {}", number, sentence(what));
}

// "tags: baseline, v1; note of 2026-11-18: clocks locked"
std::string record_words(const Answer& answer) {
  std::string text = answer.tags.empty() ? "" : "tags: " + join(answer.tags);
  if (!answer.notes.empty())
    text +=
        fmt::format("{}note of {}: {}", text.empty() ? "" : "; ", answer.notes.front().written_at.substr(0, 10), answer.notes.front().text);
  if (answer.notes.size() > 1) text += fmt::format(" (and {} more)", answer.notes.size() - 1);
  return text;
}

class AnswerWriter {
 public:
  explicit AnswerWriter(std::size_t width) : width_(width) {}

  void add(const std::string& text, std::size_t indent, std::size_t most) {
    for (std::string& line : lines_within(visible_line(text), width_, indent, most)) lines_.push_back({{std::move(line)}});
  }
  void add(AnswerLine line) {
    if (!line.empty()) lines_.push_back(std::move(line));
  }
  // Each has a line, and further ones where there are any left, the first first.
  void add_actions(const std::vector<AnswerAction>& actions, std::size_t lines_left) {
    std::size_t spare = lines_left - std::min(lines_left, actions.size());
    for (std::size_t i = 0; i < actions.size(); ++i) {
      const std::size_t before = lines_.size();
      add(action_words(actions[i], i + 1), 3, 1 + spare);
      spare -= lines_.size() - before - 1;
    }
  }
  std::size_t size() const { return lines_.size(); }
  std::vector<AnswerLine> take() && { return std::move(lines_); }

 private:
  std::size_t width_;
  std::vector<AnswerLine> lines_;
};

}  // namespace

std::vector<AnswerLine> answer_lines(const Answer& answer, std::size_t width) {
  const std::string record = record_words(answer);
  AnswerWriter out(width);
  out.add(fmt::format("{}: {}", answer.run_id.empty() ? answer.name : answer.run_id, key_of(answer.status)), 0, 1);
  if (!answer.summary.empty()) out.add(answer.summary[std::min(answer.lead, answer.summary.size() - 1)], 0, kLeadLines);
  if (answer.unit) out.add(unit_words(*answer.unit), 2, 2);
  if (answer.budget) {
    out.add(bar_of(*answer.budget, width));
    out.add(legend_of(*answer.budget, width));
  }
  const std::size_t used = out.size() + (record.empty() ? 0 : 1);
  out.add_actions(answer.actions, kAnswerLines - std::min(used, kAnswerLines));
  if (answer.actions.empty() && !answer.no_action.empty()) out.add(answer.no_action, 0, 2);
  if (!record.empty()) out.add(record, 0, 1);
  return std::move(out).take();
}

}  // namespace nl::exporters

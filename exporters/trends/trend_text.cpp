#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "exporters/trends/trends.h"

namespace nl::exporters {
namespace {

using namespace trends;

constexpr std::size_t kRows = 14, kLabelWidth = 12, kMostListed = 10;

// Characters in rows; each is one place wide.
class Canvas {
 public:
  Canvas(std::size_t columns, std::size_t rows) : rows_(rows, std::vector<std::string>(columns, " ")) {}
  void put(std::size_t column, std::size_t row, const char* character) { rows_[row][column] = character; }
  bool is_free(std::size_t column, std::size_t row) const { return rows_[row][column] == " "; }
  std::string line(std::size_t row) const {
    std::string text;
    for (const std::string& character : rows_[row]) text += character;
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

class Picture {
 public:
  Picture(const Trend& trend, const TrendSeries& series, std::size_t columns)
      : trend_(trend), series_(series), range_(value_range(series)),
        columns_(std::min(std::max<std::size_t>(columns, 40) - kLabelWidth - 2, std::max<std::size_t>(series.points.size(), 24))),
        canvas_(columns_, kRows) {}

  std::string text() {
    draw_levels();
    draw_points();
    std::string out;
    for (std::size_t row = 0; row < kRows; ++row) {
      const bool labelled = row == 0 || row == kRows / 2 || row == kRows - 1;
      const double value = range_.high - (range_.high - range_.low) * (static_cast<double>(row) + 0.5) / kRows;
      out += fmt::format("{:>{}} │{}\n", labelled ? value_text(trend_, value) : "", kLabelWidth, canvas_.line(row));
    }
    return out + axis();
  }

 private:
  std::size_t column_of(std::size_t point) const { return point * columns_ / series_.points.size(); }
  std::size_t row_of(double value) const {
    const double share = (range_.high - value) / (range_.high - range_.low);
    return std::min(kRows - 1, static_cast<std::size_t>(std::max(0.0, share * kRows)));
  }

  void draw_levels() {
    for (const TrendLevel& level : series_.levels)
      for (std::size_t column = column_of(level.first); column <= column_of(level.last - 1); ++column)
        canvas_.put(column, row_of(level.median), "─");
  }
  void draw_points() {
    for (std::size_t i = 0; i < series_.points.size(); ++i) canvas_.put(column_of(i), row_of(series_.points[i].value), "•");
    for (const std::size_t i : series_.anomalies) canvas_.put(column_of(i), row_of(series_.points[i].value), "!");
  }

  // Changes by their number; those of two digits and more as +.
  std::string axis() const {
    std::vector<std::string> line(columns_, "─");
    std::size_t number = 0;
    for (std::size_t i = 1; i < series_.levels.size(); ++i)
      line[column_of(series_.levels[i].first)] = ++number < 10 ? std::to_string(number) : "+";
    std::string text;
    for (const std::string& character : line) text += character;
    const std::string first = series_.points.front().created_at.substr(0, 10), last = series_.points.back().created_at.substr(0, 10);
    return fmt::format("{:>{}} └{}\n{:>{}}  {}{:>{}}\n", "", kLabelWidth, text, "", kLabelWidth, first, last,
                       columns_ - std::min(columns_, first.size()));
  }

  const Trend& trend_;
  const TrendSeries& series_;
  Range range_;
  std::size_t columns_;
  Canvas canvas_;
};

std::string listed_changes(const Trend& trend, const TrendSeries& series) {
  const auto changes = changes_of(trend, series);
  if (changes.empty()) return no_change_sentence(trend, series) + "\n";
  std::string out;
  for (std::size_t i = 0; i < changes.size(); ++i) out += fmt::format("change {}: {}\n", i + 1, change_sentence(trend, series, changes[i]));
  return out;
}

std::string listed_anomalies(const Trend& trend, const TrendSeries& series) {
  std::string out;  // the newest first
  const std::size_t count = series.anomalies.size();
  for (std::size_t i = 0; i < count && i < kMostListed; ++i)
    out += fmt::format("anomaly: {}\n", anomaly_sentence(trend, series, series.anomalies[count - 1 - i]));
  if (count > kMostListed) out += fmt::format("and {} more anomalies before these\n", count - kMostListed);
  return out;
}

}  // namespace

std::string trend_text(const Trend& trend, std::size_t columns) {
  std::string out;
  for (const TrendSeries& series : trend.series) {
    out += fmt::format("{}{} of {}, {}\n", out.empty() ? "" : "\n", trend.metric, series_title(series), points_text(trend, series));
    out += is_drawn(series) ? Picture(trend, series, columns).text() : point_sentence(trend, series.points[0]) + "\n";
    out += listed_changes(trend, series) + listed_anomalies(trend, series);
  }
  return out;
}

}  // namespace nl::exporters

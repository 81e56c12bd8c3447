// How figures are written, at both sides of every bound.
#include "exporters/report/text/figure_text.h"

#include <limits>

#include "tests/catch.h"

using namespace nl;
using namespace nl::exporters;

namespace {

constexpr double kFigureNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("figures: shares and percentages") {
  CHECK(share_text(std::nullopt) == kNoValue);
  CHECK(share_text(kFigureNaN) == kNoValue);
  CHECK(share_text(0.0) == "0.0 %");
  CHECK(share_text(0.0004) == "< 0.1 %");
  CHECK(share_text(0.0005) == "0.1 %");
  CHECK(share_text(-0.0004) == "-0.0 %");
  CHECK(signed_percent(0.0321) == "+3.2 %");
  CHECK(signed_percent(-0.0321) == "−3.2 %");
  CHECK(signed_percent(-0.0004) == "0.0 %");
  CHECK(share_text(0.5123) == "51.2 %");
  CHECK(utilisation_text(std::nullopt) == kNoValue);
  CHECK(utilisation_text(0.0) == "0.0 %");
  CHECK(utilisation_text(0.01) == "1.0 %");
  CHECK(utilisation_text(0.00999) == "1 %");
  CHECK(utilisation_text(0.000123) == "0.012 %");
  CHECK(percent_text(std::nullopt) == kNoValue);
  CHECK(percent_text(12.34) == "12.3");
  CHECK(rough_share(0) == "0 %");
  CHECK(rough_share(0.009) == "less than 1 %");
  CHECK(rough_share(0.01) == "1 %");
  CHECK(rough_share(0.126) == "13 %");
}

TEST_CASE("figures: times in the unit that fits") {
  CHECK(time_text(999) == "999 ns");
  CHECK(time_text(1000) == "1.00 µs");
  CHECK(time_text(999'990) == "999.99 µs");
  CHECK(time_text(1e6) == "1.000 ms");
  CHECK(time_text(1e9) == "1.000 s");
  CHECK(time_text(-2e9) == "-2.000 s");
  CHECK(time_text(-2e6) == "-2.000 ms");
  CHECK(time_text(-2e3) == "-2.00 µs");
  CHECK(rough_time(999) == "999 ns");
  CHECK(rough_time(999.5) == "1.0 µs");
  CHECK(rough_time(9940) == "9.9 µs");
  CHECK(rough_time(9960) == "10 µs");
  CHECK(rough_time(999'400) == "999 µs");
  CHECK(rough_time(999'500) == "1.0 ms");
  CHECK(rough_time(999.4e6) == "999 ms");
  CHECK(rough_time(999.5e6) == "1.0 s");
  CHECK(rough_time(-12e9) == "-12 s");
  CHECK(ms_text(1'234'567) == "1.235");
  CHECK(exact_ms_text(1'234'567) == "1.234567");
  CHECK(us_text(1234) == "1.23");
  CHECK(optional_time_text(std::nullopt) == kNoValue);
  CHECK(optional_time_text(5) == "5 ns");
}

TEST_CASE("figures: a mean says how far it scatters where there is more than one") {
  TimeSummary time;
  time.mean_ns = 2000;
  time.stddev_ns = 10;
  CHECK(mean_text(time) == kNoValue);
  time.count = 1;
  CHECK(mean_text(time) == "2.00 µs");
  time.count = 2;
  CHECK(mean_text(time) == "2.00 µs ± 10 ns");
}

TEST_CASE("figures: counts, plurals and tokens") {
  CHECK(count_text(1234567) == "1,234,567");
  CHECK(plural(0, "step") == "0 steps");
  CHECK(plural(1, "step") == "1 step");
  CHECK(plural(2, "step") == "2 steps");
  CHECK(plural(1, "copy", "copies") == "1 copy");
  CHECK(plural(2000, "copy", "copies") == "2,000 copies");
  CHECK(tokens_text(2048.0) == "2,048");
  CHECK(tokens_text(0.0) == "0");
  CHECK(tokens_text(std::nullopt) == kNoValue);
  CHECK(tokens_text(2.5) == figure_text(2.5));
  CHECK(tokens_text(1e15) == figure_text(1e15));
  CHECK(tokens_text(-1.0) == figure_text(-1.0));
  CHECK(figure_text(std::nullopt) == kNoValue);
  CHECK(figure_text(kFigureNaN) == kNoValue);
  CHECK(figure_text(2.5, "W") == figure_text(2.5) + " W");
  CHECK(rough_count(9.94) == "9.9");
  CHECK(rough_count(9.96) == "10");
  CHECK(rough_count(999) == "999");
  CHECK(rough_count(1000) == "1,000");
  CHECK(rough_count(12'345) == "12,300");
  CHECK(rough_count(12'351) == "12,400");
}

TEST_CASE("figures: a metric is written in its unit") {
  CHECK(metric_text("sm__throughput.avg.pct_of_peak_sustained_elapsed", 12.34) == "12.3 %");
  CHECK(metric_text("gpu__time_duration.sum", 2000) == "2.00 µs");
  CHECK(metric_text("dram__bytes_read.sum", 2000) == bytes_text(2000));
  CHECK(metric_text("dram__bytes.sum.per_second", 2000) == bytes_rate_text(2000));
  CHECK(bytes_text(2000) != bytes_rate_text(2000));
  CHECK(flops_text(2e12) != flops_rate_text(2e12));
  CHECK(flops_text(std::nullopt) == kNoValue);
  CHECK(bytes_text(kFigureNaN) == kNoValue);
}

TEST_CASE("figures: round bounds of an axis, ratios, sentences and cuts") {
  const std::pair<double, double> bounds[] = {{-1, 1}, {0, 1},     {kFigureNaN, 1}, {1, 1},     {1.01, 2}, {2, 2},     {2.01, 5},
                                              {5, 5},  {5.01, 10}, {30, 50},        {0.3, 0.5}, {60, 100}, {0.06, 0.1}};
  for (const auto& [value, bound] : bounds) CHECK(round_up(value) == Approx(bound));
  CHECK(ratio(1, 4) == 0.25);
  CHECK(ratio(1, 0.5) == 2.0);
  CHECK_FALSE(ratio(1, 0));
  CHECK_FALSE(ratio(1, -1));
  CHECK(sentence("") == "");
  CHECK(sentence("a word") == "A word.");
  CHECK(sentence("zero.") == "Zero.");
  CHECK(sentence("Why?") == "Why?");
  CHECK(sentence("no!") == "No!");
  CHECK(sentence("\xC3\xA9t\xC3\xA9") == "\xC3\xA9t\xC3\xA9.");
  CHECK(cut("abc", 3) == "abc");
  CHECK(cut("abcd", 3) == "abc");
  CHECK(cut("a\xC3\xA9z", 2) == "a");
  CHECK(cut("a\xC3\xA9z", 3) == "a\xC3\xA9");
  CHECK(cut("\xC3\xA9", 1) == "");
  CHECK(join({}, ", ") == "");
  CHECK(join({"a", "b", "c"}, ", ") == "a, b, c");
  CHECK(shell_text({"a\nb", "c"}).find('\n') == std::string::npos);
}

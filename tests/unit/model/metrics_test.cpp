#include "model/metrics.h"

#include <set>
#include <string>

#include "model/words.h"
#include "tests/catch.h"
#include "tests/unit/golden.h"

using namespace nl;

TEST_CASE("every metric is counted somewhere, under keys and rule fields of its own") {
  std::set<Metric> seen;
  std::set<std::string_view> rule_fields;
  for (const MetricPlace place : {MetricPlace::kLaunch, MetricPlace::kStage, MetricPlace::kSampled}) {
    std::set<std::string_view> keys;
    std::set<Metric> metrics;
    CHECK_FALSE(metrics_of(place).empty());
    for (const MetricInfo& info : metrics_of(place)) {
      INFO(info.key);
      CHECK(info.place == place);
      CHECK(keys.insert(info.key).second);
      CHECK(metrics.insert(info.metric).second);
      CHECK((info.rule_field.empty() || rule_fields.insert(info.rule_field).second));
      CHECK(info.key.ends_with("_pct") == (info.unit == MetricUnit::kPercent));
      CHECK_FALSE(info.help.empty());
      CHECK(&info_of(place, info.metric) == &info);
      seen.insert(info.metric);
    }
  }
  CHECK(seen.size() == static_cast<std::size_t>(Metric::kCount_));
}

// A row of samples stands below the columns of the counters.
TEST_CASE("every column of a stage's counters has a value where it was sampled") {
  for (const MetricInfo& column : metrics_of(MetricPlace::kStage))
    if (!column.title.empty()) CHECK(info_of(MetricPlace::kSampled, column.metric).metric == column.metric);
}

TEST_CASE("values are kept by metric, and empty until measured") {
  MetricValues values;
  CHECK_FALSE(values[Metric::kTensor]);
  values[Metric::kTensor] = 41;
  CHECK(values[Metric::kTensor] == 41);
  CHECK_FALSE(values[Metric::kOccupancy]);
}

TEST_CASE("the unit of a counter is told by its name") {
  CHECK(unit_of("sm__throughput.avg.pct_of_peak_sustained_elapsed") == MetricUnit::kPercent);
  CHECK(unit_of("dram__bytes.sum.per_second") == MetricUnit::kBytesPerSecond);
  CHECK(unit_of("sm__cycles_elapsed.avg.per_second") == MetricUnit::kHertz);
  CHECK(unit_of("smsp__inst_executed.sum.per_second") == MetricUnit::kPerSecond);
  CHECK(unit_of("dram__bytes.sum") == MetricUnit::kBytes);
  CHECK(unit_of("dram__bytes.sum.per_cycle_elapsed") == MetricUnit::kNone);
  CHECK(unit_of("gpu__time_duration.sum") == MetricUnit::kNanoseconds);
}

// launch | sm_pct | SM % | % | sm_use | the SMs' throughput, of its peak | sm__throughput.avg…
TEST_CASE("the table of metrics is the golden one", "[golden]") {
  const char* const places[] = {"launch", "stage", "sampled"};
  std::string text;
  for (const MetricPlace place : {MetricPlace::kLaunch, MetricPlace::kStage, MetricPlace::kSampled})
    for (const MetricInfo& info : metrics_of(place)) {
      text += places[static_cast<std::size_t>(place)];
      for (const std::string_view word : {info.key, info.title, key_of(info.unit), info.rule_field, info.help})
        text += " | " + std::string(word);
      for (const char* counter : info.counters)
        if (counter != nullptr) text += std::string(" | ") + counter;
      text += "\n";
    }
  test::check_golden(test::kGolden + "metrics.txt", text);
}

#include "exporters/nsys_sqlite/gpu_metrics.h"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "exporters/nsys_sqlite/sqlite_table.h"
#include "model/metric_series.h"

namespace nl::exporters {

void write_gpu_metrics(SqliteFile& file, const std::vector<MetricSeries>& all) {
  SqliteTable info(file, "TARGET_INFO_GPU_METRICS",
                   {"typeId INTEGER NOT NULL", "sourceId INTEGER NOT NULL", "typeName TEXT NOT NULL", "metricId INTEGER NOT NULL",
                    "metricName TEXT NOT NULL"});
  SqliteTable table(file, "GPU_METRICS",
                    {"timestamp INTEGER", "typeId INTEGER NOT NULL", "metricId INTEGER NOT NULL", "value INTEGER NOT NULL"});
  std::map<std::string, std::int64_t> numbers;
  std::set<std::pair<std::int64_t, std::int64_t>> named;
  for (const MetricSeries& series : all) {
    const std::int64_t type = series.device & 0xFF;
    std::vector<std::pair<std::int64_t, SampledMetric>> metrics;
    for (const std::string& metric : series.metrics) {
      const SampledMetric shown(metric);
      const std::int64_t id = numbers.try_emplace(shown.name, static_cast<std::int64_t>(numbers.size())).first->second;
      if (named.emplace(type, id).second)
        info.add(type, std::int64_t{0}, "GPU Metrics [" + std::to_string(series.device) + "]", id, shown.name);
      metrics.emplace_back(id, shown);
    }
    for (std::size_t row = 0; row < series.start_ns.size(); ++row)
      for (std::size_t i = 0; i < metrics.size(); ++i)
        if (const auto value = metrics[i].second.value(series, row, i)) table.add(series.start_ns[row], type, metrics[i].first, *value);
  }
}

}  // namespace nl::exporters

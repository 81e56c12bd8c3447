#pragma once

#include "exporters/fact_tables/table.h"
#include "model/metrics.h"
#include "model/run_metrics.h"

namespace nl::exporters::fact_tables {

// The figures of model/run_metrics that a run or a stage has, each as a column of its key: a new figure is a new column.
void add_figures(std::vector<Column>& columns, RunMetricScope scope);

// The counters of a place: "counted_dram_pct". `read`: null where the row has none.
void add_counters(std::vector<Column>& columns, const std::string& prefix, MetricPlace place, const MetricValues* (*read)(const Row&));

}  // namespace nl::exporters::fact_tables

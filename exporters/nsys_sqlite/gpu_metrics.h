#pragma once

#include <vector>

#include "model/metric_series.h"

namespace nl::exporters {

class SqliteFile;

// Samples in nsys' tables for its own, GPU_METRICS and TARGET_INFO_GPU_METRICS. As there, the last byte of a typeId is
// the GPU. Unlike there, the names are ncu's, counters are rates, and percentages keep their fraction, which SQLite's
// INTEGER columns take: the mean of many small values is right.
void write_gpu_metrics(SqliteFile& file, const std::vector<MetricSeries>& all);

}  // namespace nl::exporters

// Counters, samples and stalls that the collector recorded on an H200, and ncu's figures for the same kernels of the
// same workloads, by tests/manual/cupti_runs.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <tuple>

#include "parsers/collector/trace.h"
#include "tests/catch.h"
#include "tests/unit/unpacked.h"

using namespace nl;
using namespace nl::parsers;

namespace {

constexpr const char* kTensor = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active";
constexpr const char* kOccupancy = "sm__warps_active.avg.pct_of_peak_sustained_active";

using LaunchKey = std::tuple<std::string, std::uint32_t, std::uint32_t, std::uint32_t>;  // name, grid x, y, block x

struct NcuRow {
  double duration_ns, dram_bytes, tensor_pct, occupancy_pct;
};

// nl-llm-cuda,_ZN2nl3llm4gemm…,64,8,1,32,8,1,234848,17679872.0,0.91,38.4
std::map<LaunchKey, NcuRow> ncu_rows(const std::string& workload) {
  std::map<LaunchKey, NcuRow> rows;
  std::ifstream file(NL_FIXTURES "/h200-collector/ncu.csv");
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::vector<std::string> row;
    for (std::string field; std::getline(fields, field, ',');) row.push_back(field);
    if (row.size() != 12 || row[0] != workload) continue;
    auto number = [&](int i) { return static_cast<std::uint32_t>(std::stoul(row[static_cast<std::size_t>(i)])); };
    rows[{row[1], number(2), number(3), number(5)}] = {std::stod(row[8]), std::stod(row[9]), std::stod(row[10]), std::stod(row[11])};
  }
  return rows;
}

LaunchKey key_of(const NcuLaunch& launch) { return {launch.kernel_name, launch.grid.x, launch.grid.y, launch.block.x}; }

double dram_bytes(const NcuLaunch& launch) {
  return launch.metrics.at("dram__bytes_read.sum") + launch.metrics.at("dram__bytes_write.sum");
}

CounterReport counters_of(const char* fixture) {
  const Unpacked file(std::string(NL_FIXTURES "/h200-collector/") + fixture);
  return read_collector_counters({file.file});
}

}  // namespace

TEST_CASE("counters of a matrix product are ncu's") {
  const CounterReport report = counters_of("gemm-kernels.nltrace.gz");
  const auto ncu = ncu_rows("gemm.py");
  REQUIRE(report.kernels.launches.size() == 1);
  const NcuLaunch& launch = report.kernels.launches[0];
  const NcuRow& row = ncu.at(key_of(launch));
  // One launch each, of two processes: the issue asks for 3 %.
  CHECK(dram_bytes(launch) == Approx(row.dram_bytes).epsilon(0.03));
  CHECK(launch.metrics.at(kTensor) == Approx(row.tensor_pct).epsilon(0.03));
  CHECK(launch.metrics.at(kOccupancy) == Approx(row.occupancy_pct).epsilon(0.03));
}

TEST_CASE("counters of an LLM's kernels are ncu's, shape by shape") {
  const CounterReport report = counters_of("llm-cuda-kernels.nltrace.gz");
  CHECK(report.rows_damaged.empty());
  const auto ncu = ncu_rows("nl-llm-cuda");
  REQUIRE(report.kernels.launches.size() == ncu.size());
  double ours_bytes = 0, ncu_bytes = 0;
  for (const NcuLaunch& launch : report.kernels.launches) {
    INFO(launch.kernel_name << " " << launch.grid.x << " x " << launch.grid.y);
    const NcuRow& row = ncu.at(key_of(launch));
    // ncu prints two decimals. rope runs 3 µs: its occupancy differs by 4 % from launch to launch.
    CHECK(launch.metrics.at(kTensor) == Approx(row.tensor_pct).epsilon(0.03).margin(0.05));
    CHECK(launch.metrics.at(kOccupancy) == Approx(row.occupancy_pct).epsilon(0.05));
    CHECK(launch.metrics.count("sm__throughput.avg.pct_of_peak_sustained_elapsed") == 1);  // replayed
    REQUIRE_FALSE(launch.ranges.empty());
    CHECK(launch.ranges[0].domain == "LLM");
    ours_bytes += dram_bytes(launch);
    ncu_bytes += row.dram_bytes;
  }
  // What a single launch finds in L2 depends on what ran before it (up to a third here); over all of them it evens out.
  CHECK(ours_bytes == Approx(ncu_bytes).epsilon(0.05));
}

TEST_CASE("counters of stages of a real GPU repeat from window to window") {
  const CounterReport report = counters_of("llm-cuda-stages.nltrace.gz");
  CHECK(report.rows_damaged.empty());
  REQUIRE(report.windows.size() == 4);
  for (std::size_t i : {0u, 1u}) {
    const WindowCounters &first = report.windows[i], &second = report.windows[i + 2];
    CHECK(first.name == (i == 0 ? "prefill" : "decode_all"));
    CHECK((first.first == 0 && second.first == 1));
    CHECK(first.metrics.at("dram__bytes_read.sum") == Approx(second.metrics.at("dram__bytes_read.sum")).epsilon(0.03));
    CHECK(first.metrics.at("gpu__time_duration.sum") > 1e6);
  }
  // ncu's sum over the 61 kernels of one prefill: 1818.80 MB.
  const auto& prefill = report.windows[2].metrics;
  CHECK(prefill.at("dram__bytes_read.sum") + prefill.at("dram__bytes_write.sum") == Approx(1818.80e6).epsilon(0.03));
}

TEST_CASE("samples of a real GPU show a kernel that fills it, and the silence around it") {
  const Unpacked file(NL_FIXTURES "/h200-collector/launch-loop-samples.nltrace.gz");
  const Trace trace = read_collector_traces({file.file});
  REQUIRE(trace.metric_series.size() == 1);
  const MetricSeries& series = trace.metric_series[0];
  REQUIRE(series.metrics.at(0) == "sm__cycles_active.avg.pct_of_peak_sustained_elapsed");
  const Kernel& longest = *std::max_element(trace.kernels.begin(), trace.kernels.end(),
                                            [](const Kernel& a, const Kernel& b) { return a.duration_ns < b.duration_ns; });
  CHECK(longest.duration_ns == Approx(300e6).epsilon(0.001));  // it watches the GPU's own clock
  int inside = 0, full = 0, before = 0, silent = 0;
  for (std::size_t i = 0; i < series.start_ns.size(); ++i) {
    const float active = series.values[i * series.metrics.size()];
    const Ns start = series.start_ns[i], end = start + series.duration_ns[i];
    const bool in = start > longest.start_ns && end < longest.end_ns();
    const bool quiet = end < longest.start_ns && start > longest.start_ns - 250'000'000;  // the program sleeps 300 ms before
    inside += in;
    full += in && active > 99;
    before += quiet;
    silent += quiet && active < 0.1F;
  }
  CHECK(inside > 590);  // 300 ms, a sample every 500 µs
  CHECK(full == inside);
  CHECK(before > 480);
  CHECK(silent == before);
}

TEST_CASE("stalls of a real GPU name the kernels of the trace") {
  const Unpacked file(NL_FIXTURES "/h200-collector/llm-cuda-stalls.nltrace.gz");
  const Trace trace = read_collector_traces({file.file});
  REQUIRE(trace.stalls.size() > 5);
  std::uint64_t samples = 0;
  for (const StallSample& stall : trace.stalls) {
    bool known = std::any_of(trace.shapes.begin(), trace.shapes.end(),
                             [&](const KernelShape& shape) { return trace.strings[shape.mangled_name] == stall.kernel; });
    CHECK(known);
    for (const auto& [reason, count] : stall.reasons) {
      samples += count;
      CHECK(reason.rfind("smsp__pcsamp_warps_issue_stalled_", 0) == 0);
    }
  }
  CHECK(samples > 5000);
}

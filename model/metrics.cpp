#include "model/metrics.h"

#include <algorithm>
#include <stdexcept>

namespace nl {
namespace {

constexpr const char* kSmThroughput = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kSmActiveElapsed = "sm__cycles_active.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kTensorActive = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active";
constexpr const char* kTensorElapsed = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kTensorInstructions = "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active";
constexpr const char* kWarpsActive = "sm__warps_active.avg.pct_of_peak_sustained_active";
constexpr const char* kWarpsElapsed = "sm__warps_active.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kGpuDram = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kDramThroughput = "dram__throughput.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kL2Throughput = "lts__throughput.avg.pct_of_peak_sustained_elapsed";

constexpr auto kPercent = MetricUnit::kPercent;
constexpr auto kBytes = MetricUnit::kBytes;
constexpr auto kRate = MetricUnit::kBytesPerSecond;
constexpr auto kLaunch = MetricPlace::kLaunch;
constexpr auto kStage = MetricPlace::kStage;
constexpr auto kSampled = MetricPlace::kSampled;

constexpr MetricInfo kMetrics[] = {
    {kLaunch, Metric::kSm, "sm_pct", "SM %", kPercent, "sm_use", "the SMs' throughput, of its peak", kSmThroughput},
    {kLaunch, Metric::kDram, "dram_pct", "DRAM %", kPercent, "dram_use", "the memory's throughput, of its peak", kGpuDram, kDramThroughput},
    {kLaunch, Metric::kOccupancy, "occupancy_pct", "occupancy %", kPercent, "occupancy", "warps active, of the most an SM can hold",
     kWarpsActive},
    {kLaunch, Metric::kTensor, "tensor_pct", "tensor pipe %", kPercent, "tensor_use", "cycles in which the tensor pipe is active",
     kTensorActive, kTensorElapsed, kTensorInstructions},
    {kLaunch, Metric::kL2, "l2_pct", "", kPercent, "l2_use", "the L2 cache's throughput, of its peak", kL2Throughput},
    {kLaunch, Metric::kDramBytes, "dram_bytes", "", kBytes, "dram_bytes", "read from and written to memory by one execution",
     "dram__bytes.sum"},

    {kStage, Metric::kDramRead, "dram_read_bytes", "DRAM read", kBytes, "counted_dram_read", "read from memory by one window",
     "dram__bytes_read.sum"},
    {kStage, Metric::kDramWritten, "dram_write_bytes", "DRAM written", kBytes, "counted_dram_written", "written to memory by one window",
     "dram__bytes_write.sum"},
    {kStage, Metric::kL2Bytes, "l2_bytes", "", kBytes, "", "through the L2 cache in one window", "lts__t_bytes.sum"},
    {kStage, Metric::kDram, "dram_pct", "DRAM %", kPercent, "counted_dram_use",
     "DRAM bytes of its windows, of what the memory could have moved", nullptr},
    {kStage, Metric::kSmActive, "sm_active_pct", "SM active %", kPercent, "counted_sm_active", "cycles with a warp on the SMs",
     kSmActiveElapsed},
    {kStage, Metric::kTensor, "tensor_pct", "tensor %", kPercent, "counted_tensor_use",
     "cycles of the tensor pipe, of the SMs' active ones", kTensorActive, kTensorElapsed, kTensorInstructions},
    {kStage, Metric::kOccupancy, "occupancy_pct", "occupancy %", kPercent, "counted_occupancy",
     "warps, of the most, while the SMs are active", kWarpsActive},

    {kSampled, Metric::kSmActive, "sm_active_pct", "SM active %", kPercent, "sampled_sm_active", "cycles with a warp on the SMs",
     kSmActiveElapsed},
    {kSampled, Metric::kTensor, "tensor_pct", "tensor %", kPercent, "sampled_tensor_use", "cycles of the tensor pipe", kTensorActive,
     kTensorElapsed, kTensorInstructions},
    {kSampled, Metric::kDram, "dram_pct", "DRAM %", kPercent, "sampled_dram_use",
     "the memory's throughput, of its peak, on average over its windows", kGpuDram, kDramThroughput},
    {kSampled, Metric::kOccupancy, "occupancy_pct", "occupancy %", kPercent, "sampled_occupancy", "warps on the SMs, of the most",
     kWarpsActive, kWarpsElapsed},
    {kSampled, Metric::kDramRead, "dram_read_bytes_per_s", "DRAM read", kRate, "",
     "read from memory in a second, all GPUs of the stage together", "dram__bytes_read.sum.per_second"},
    {kSampled, Metric::kDramWritten, "dram_write_bytes_per_s", "DRAM written", kRate, "",
     "written to memory in a second, all GPUs of the stage together", "dram__bytes_write.sum.per_second"},
};

constexpr bool by_place() {
  return std::is_sorted(std::begin(kMetrics), std::end(kMetrics),
                        [](const MetricInfo& a, const MetricInfo& b) { return a.place < b.place; });
}
static_assert(by_place(), "the rows of one place stand together");

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace

MetricUnit unit_of(std::string_view counter) {
  if (contains(counter, ".pct")) return MetricUnit::kPercent;
  const bool bytes = contains(counter, "bytes");
  if (counter.ends_with(".per_second"))
    return bytes ? MetricUnit::kBytesPerSecond : contains(counter, "cycles") ? MetricUnit::kHertz : MetricUnit::kPerSecond;
  if (contains(counter, ".per_") || contains(counter, ".ratio")) return MetricUnit::kNone;
  return bytes ? MetricUnit::kBytes : contains(counter, "time_duration") ? MetricUnit::kNanoseconds : MetricUnit::kNone;
}

std::span<const MetricInfo> metrics_of(MetricPlace place) {
  const auto of_place = [&](const MetricInfo& info) { return info.place == place; };
  const auto first = std::find_if(std::begin(kMetrics), std::end(kMetrics), of_place);
  return {first, std::find_if_not(first, std::end(kMetrics), of_place)};
}

const MetricInfo& info_of(MetricPlace place, Metric metric) {
  const auto rows = metrics_of(place);
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const MetricInfo& info) { return info.metric == metric; });
  if (found == rows.end()) throw std::logic_error("a metric that its place does not have");
  return *found;
}

}  // namespace nl

#include "analysis/figures/efficiency/device_peaks.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "analysis/figures/counters/metric_values.h"

namespace nl::analysis {
namespace {

// "NVIDIA A100-SXM4-80GB" → "a100 sxm4 80gb"
std::string normalised(std::string_view name) {
  std::string words, word;
  const auto end_word = [&] {
    if (!word.empty() && word != "nvidia" && word != "tesla" && word != "geforce") words += (words.empty() ? "" : " ") + word;
    word.clear();
  };
  for (const char c : name) {
    if (c == ' ' || c == '-' || c == '_' || c == '\t') end_word();
    else word += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  }
  end_word();
  return words;
}

bool glob(std::string_view text, std::string_view pattern) {
  std::size_t t = 0, p = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p, ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

// Dense FLOPs (or integer operations) a clock and SM, multiply-add as two; products accumulate in 32 bits.
struct SmRates {
  std::uint32_t major, minor;
  double f64, f32, tf32, f16, bf16, eight_bit_int, fp8, fp4;
};
constexpr std::array kRates = {
    SmRates{6, 0, 64, 128, 0, 0, 0, 0, 0, 0},                         // P100
    SmRates{7, 0, 64, 128, 0, 1024, 0, 0, 0, 0},                      // V100
    SmRates{7, 5, 4, 128, 0, 1024, 0, 2048, 0, 0},                    // T4
    SmRates{8, 0, 64, 128, 1024, 2048, 2048, 4096, 0, 0},             // A100
    SmRates{8, 6, 4, 256, 512, 1024, 1024, 2048, 0, 0},               // A10, A40
    SmRates{8, 9, 4, 256, 512, 1024, 1024, 2048, 2048, 0},            // L4, L40S
    SmRates{9, 0, 128, 256, 2048, 4096, 4096, 8192, 8192, 0},         // H100
    SmRates{10, 0, 128, 256, 4096, 8192, 8192, 16384, 16384, 32768},  // B200
    SmRates{12, 0, 4, 256, 512, 1024, 1024, 2048, 2048, 4096},        // RTX PRO Blackwell
};

DevicePeaks derive(const Device& device) {
  DevicePeaks peaks;
  peaks.name = device.name;
  peaks.derived = true;
  if (device.bandwidth_bytes_per_s > 0) peaks.bytes_per_s = static_cast<double>(device.bandwidth_bytes_per_s);
  const auto rate = std::find_if(kRates.begin(), kRates.end(), [&](const SmRates& each) {
    return each.major == device.compute_major && each.minor == device.compute_minor;
  });
  if (rate == kRates.end() || device.sm_count == 0 || device.clock_hz == 0) {
    peaks.source = "the capture's device table";
    peaks.notes.push_back(
        fmt::format("the peak FLOP/s of {} are not known: compute capability {}.{}, {} SMs, {} MHz; give a device table with "
                    "--set device.file=FILE",
                    device.name.empty() ? "this GPU" : device.name, device.compute_major, device.compute_minor, device.sm_count,
                    device.clock_hz / 1000000));
    return peaks;
  }
  const double clocks = static_cast<double>(device.sm_count) * static_cast<double>(device.clock_hz);
  // GeForce cards multiply 16- and 8-bit floats at half the rate of their professional twins when they add up in 32 bits.
  const bool halved = device.name.find("GeForce") != std::string::npos && rate->fp4 + rate->tf32 > 0;
  const double half = halved ? 0.5 : 1;
  const std::pair<const char*, double> dense[] = {{"f64", rate->f64},        {"f32", rate->f32},          {"tf32", rate->tf32 * half},
                                                  {"f16", rate->f16 * half}, {"bf16", rate->bf16 * half}, {"int8", rate->eight_bit_int},
                                                  {"fp8", rate->fp8 * half}, {"fp4", rate->fp4 * half}};
  for (const auto& [dtype, flops] : dense)
    if (flops > 0) peaks.flops_per_s[dtype] = flops * clocks;
  peaks.source = fmt::format("derived: {} SMs × {} MHz × FLOPs per clock of compute capability {}.{}", device.sm_count,
                             device.clock_hz / 1000000, device.compute_major, device.compute_minor);
  peaks.notes.push_back("derived at the highest clock; under load real peaks are lower, so MFU is higher");
  return peaks;
}

// False for a GPU that the capture's own table lacks: only its number is known.
bool is_described(const Device& device) { return !device.name.empty() || device.sm_count > 0 || device.bandwidth_bytes_per_s > 0; }

const Device* find_device(const Run& run, std::int32_t id) {
  const auto& gpus = run.hardware.gpus;
  const auto found = std::find_if(gpus.begin(), gpus.end(), [&](const Device& gpu) { return gpu.id == id; });
  if (found != gpus.end()) return &*found;
  return gpus.size() == 1 ? &gpus[0] : nullptr;  // two passes may number one GPU differently
}

// Where the peaks are this GPU's, what they leave open is not known: the memory of a card is not that of its slice.
std::optional<double> memory_bandwidth(const Run& run, std::int32_t id) {
  const Device* device = find_device(run, id);
  if (device == nullptr) return std::nullopt;
  const Device* working = working_device(run);
  const bool same = working == device || (working != nullptr && !device->name.empty() && working->name == device->name);
  if (run.peaks && same) return run.peaks->bytes_per_s;
  if (device->bandwidth_bytes_per_s == 0) return std::nullopt;
  return static_cast<double>(device->bandwidth_bytes_per_s);
}

// The DRAM use of all GPUs whose bandwidth is known.
std::optional<double> dram_pct(const Run& run, const std::vector<DramUse>& uses) {
  double bytes = 0, possible = 0;
  for (const DramUse& use : uses) {
    const auto bandwidth = memory_bandwidth(run, use.device);
    if (!bandwidth) continue;
    bytes += use.bytes;
    possible += use.duration_ns / 1e9 * *bandwidth;
  }
  if (possible <= 0) return std::nullopt;
  return 100 * bytes / possible;
}

// Uses what was measured in place; see memory_throughput.
void fill_sample(const Run& run, std::int32_t device, NcuSample& sample) {
  if (sample.measured_by != Meter::kCupti || !sample.values[Metric::kDramBytes] || !sample.ncu_duration_ns) return;
  const auto pct = dram_pct(run, {{device, *sample.values[Metric::kDramBytes], static_cast<double>(*sample.ncu_duration_ns)}});
  if (!pct) return;
  sample.values[Metric::kDram] = pct;
  sample.bound_by = classify_bound(sample.values[Metric::kSm], memory_throughput(sample)).by;
  sample.bound_memory = sample.bound_by == Bound::kMemory ? busiest_memory(sample) : std::nullopt;
}

}  // namespace

bool device_name_matches(std::string_view name, std::string_view pattern) { return glob(normalised(name), normalised(pattern)); }

DevicePeaks device_peaks(const Device& device, const std::vector<DeviceTableEntry>& table) {
  for (const DeviceTableEntry& entry : table)
    for (const std::string& pattern : entry.match)
      if (device_name_matches(device.name, pattern))
        return {entry.name, entry.file, false, entry.flops_per_s, entry.bytes_per_s, entry.notes};
  // "NVIDIA H200 MIG 1g.18gb": neither the card's peaks nor, with the card's clock and memory, its own can be derived.
  if (glob(normalised(device.name), "* mig *"))
    return {device.name,
            "none",
            false,
            {},
            {},
            {fmt::format("the peaks of {} are not known, because it is a slice of a GPU; give a device table with "
                         "--set device.file=FILE",
                         device.name)}};
  return derive(device);
}

const Device* working_device(const Run& run) {
  if (!run.kernels || run.kernels->empty()) return nullptr;
  std::set<std::int32_t> used;
  for (const KernelEntry& kernel : *run.kernels) used.insert(kernel.device);
  for (const std::int32_t id : used)
    for (const Device& device : run.hardware.gpus)
      if (device.id == id && is_described(device)) return &device;
  return nullptr;
}

void add_dram_use(const Run& run, std::vector<StageEntry>& stages, std::optional<std::vector<KernelEntry>>& kernels) {
  for (StageEntry& stage : stages) {
    // A stage of a run.json that was read has its percentage, but not what it was made of.
    if (auto& counters = stage.counters; counters && !counters->dram_use.empty())
      counters->values[Metric::kDram] = dram_pct(run, counters->dram_use);
    // What the GPU itself says of its DRAM goes before.
    if (auto& sampling = stage.sampling;
        sampling && !sampling->dram_use.empty() && !metric_values(MetricPlace::kSampled, sampling->metrics)[Metric::kDram])
      sampling->values[Metric::kDram] = dram_pct(run, sampling->dram_use);
  }
  if (!kernels) return;
  for (KernelEntry& kernel : *kernels)
    for (NcuSample& sample : kernel.ncu) fill_sample(run, kernel.device, sample);
}

}  // namespace nl::analysis

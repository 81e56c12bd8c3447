#include "analysis/efficiency/device_peaks.h"

#include "tests/catch.h"

namespace {

nl::Device device(const char* name, std::uint32_t sms, std::uint64_t mhz, std::uint32_t major, std::uint32_t minor) {
  nl::Device device;
  device.name = name;
  device.sm_count = sms;
  device.clock_hz = mhz * 1000000;
  device.compute_major = major;
  device.compute_minor = minor;
  return device;
}

const std::vector<nl::DeviceTableEntry> kTable = {{"NVIDIA H200", {"H200"}, {{"bf16", 989.4e12}}, 4.8e12, {"a note"}, "conf/device/h200.yaml"}};

}  // namespace

TEST_CASE("names match whole, but for vendor, case and separators") {
  CHECK(nl::analysis::device_name_matches("NVIDIA H200", "H200"));
  CHECK(nl::analysis::device_name_matches("Tesla V100-SXM2-16GB", "V100-SXM2-16GB"));
  CHECK(nl::analysis::device_name_matches("NVIDIA GeForce RTX 4090", "RTX 4090"));
  CHECK(nl::analysis::device_name_matches("NVIDIA A100-SXM4-80GB", "a100 sxm4 80gb"));
  CHECK(nl::analysis::device_name_matches("NVIDIA GH200 144G HBM3e", "GH200 144G*"));
  CHECK(nl::analysis::device_name_matches("abc", "*"));
  CHECK(nl::analysis::device_name_matches("NVIDIA aXbXc", "a*b*c"));
  CHECK_FALSE(nl::analysis::device_name_matches("NVIDIA GH200 480GB", "H200"));
  CHECK_FALSE(nl::analysis::device_name_matches("NVIDIA L40S", "L4"));
  CHECK_FALSE(nl::analysis::device_name_matches("NVIDIA H200 NVL", "H200"));
  CHECK_FALSE(nl::analysis::device_name_matches("NVIDIA H200 MIG 1g.18gb", "H200"));
  CHECK_FALSE(nl::analysis::device_name_matches("NVIDIA GeForce RTX 4090 Laptop GPU", "RTX 4090"));
  CHECK_FALSE(nl::analysis::device_name_matches("", "H200"));
}

TEST_CASE("the table's peaks are taken as they are") {
  const auto peaks = nl::analysis::device_peaks(device("NVIDIA H200", 132, 1980, 9, 0), kTable);
  CHECK_FALSE(peaks.derived);
  CHECK(peaks.source == "conf/device/h200.yaml");
  CHECK(peaks.flops_per_s.at("bf16") == 989.4e12);
  CHECK(peaks.bytes_per_s == 4.8e12);
}

TEST_CASE("an unknown GPU's peaks are derived from its SMs and its clock, and marked") {
  // At the boost clocks of the data sheets the figures are the data sheets', to their three digits.
  struct Known {
    nl::Device gpu;
    const char* dtype;
    double tflops;
  };
  for (const Known& known : {Known{device("x", 132, 1830, 9, 0), "bf16", 989.4}, {device("x", 132, 1830, 9, 0), "fp8", 1979},
                             {device("x", 132, 1830, 9, 0), "f32", 61.8}, {device("x", 108, 1410, 8, 0), "bf16", 312}, {device("x", 108, 1410, 8, 0), "f32", 19.5},
                             {device("x", 40, 1590, 7, 5), "f16", 65}, {device("x", 80, 1530, 7, 0), "f16", 125}, {device("x", 58, 2040, 8, 9), "f16", 121},
                             {device("NVIDIA GeForce x", 128, 2520, 8, 9), "bf16", 165}, {device("NVIDIA GeForce x", 170, 2407, 12, 0), "bf16", 209.5}}) {
    const auto peaks = nl::analysis::device_peaks(known.gpu, kTable);
    INFO(known.dtype << " " << known.tflops);
    CHECK(peaks.derived);
    CHECK(peaks.flops_per_s.at(known.dtype) / 1e12 == Approx(known.tflops).epsilon(0.005));
  }
  auto gpu = device("NVIDIA H900", 100, 2000, 9, 0);
  gpu.bandwidth_bytes_per_s = 5000000000000;
  const auto peaks = nl::analysis::device_peaks(gpu, kTable);
  CHECK(peaks.bytes_per_s == 5e12);
  CHECK(peaks.source == "derived: 100 SMs × 2000 MHz × FLOPs per clock of compute capability 9.0");
}

TEST_CASE("where nothing can be derived there are no peaks, and the note says why") {
  const auto future = nl::analysis::device_peaks(device("NVIDIA X1", 100, 2000, 42, 0), kTable);
  CHECK(future.flops_per_s.empty());
  CHECK(future.notes.at(0).find("compute capability 42.0") != std::string::npos);
  CHECK(nl::analysis::device_peaks(device("NVIDIA X1", 0, 2000, 9, 0), kTable).flops_per_s.empty());
  CHECK_FALSE(nl::analysis::device_peaks(device("", 0, 0, 0, 0), {}).bytes_per_s);
}

TEST_CASE("a slice of a card has not the card's peaks") {
  const auto slice = nl::analysis::device_peaks(device("NVIDIA H200 MIG 1g.18gb", 16, 1980, 9, 0), kTable);
  CHECK(slice.name == "NVIDIA H200 MIG 1g.18gb");
  CHECK(slice.source == "none");
  CHECK_FALSE(slice.derived);
  CHECK(slice.flops_per_s.empty());
  CHECK_FALSE(slice.bytes_per_s);
  CHECK(slice.notes.at(0).find("it is a slice of a GPU") != std::string::npos);
  auto table = kTable;
  table.push_back({"slice", {"H200 MIG 1g.18gb"}, {{"bf16", 120e12}}, 0.6e12, {}, "mine.yaml"});
  CHECK(nl::analysis::device_peaks(device("NVIDIA H200 MIG 1g.18gb", 16, 1980, 9, 0), table).flops_per_s.at("bf16") == 120e12);
}

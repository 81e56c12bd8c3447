#include "analysis/figures/efficiency/device_peaks.h"

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

const std::vector<nl::DeviceTableEntry> kTable = {
    {"NVIDIA H200", {"H200"}, {{"bf16", 989.4e12}}, 4.8e12, {"a note"}, "conf/device/h200.yaml"}};

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
  for (const Known& known : {Known{device("x", 132, 1830, 9, 0), "bf16", 989.4},
                             {device("x", 132, 1830, 9, 0), "fp8", 1979},
                             {device("x", 132, 1830, 9, 0), "f32", 61.8},
                             {device("x", 108, 1410, 8, 0), "bf16", 312},
                             {device("x", 108, 1410, 8, 0), "f32", 19.5},
                             {device("x", 40, 1590, 7, 5), "f16", 65},
                             {device("x", 80, 1530, 7, 0), "f16", 125},
                             {device("x", 58, 2040, 8, 9), "f16", 121},
                             {device("NVIDIA GeForce x", 128, 2520, 8, 9), "bf16", 165},
                             {device("NVIDIA GeForce x", 170, 2407, 12, 0), "bf16", 209.5}}) {
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

TEST_CASE("the data sheets' dense peaks, generation by generation") {
  struct Sheet {
    nl::Device gpu;
    std::map<std::string, double> tflops;
  };
  const std::vector<Sheet> sheets = {
      {device("P100", 56, 1480, 6, 0), {{"f64", 5.3}, {"f32", 10.6}}},
      {device("V100", 80, 1530, 7, 0), {{"f64", 7.8}, {"f32", 15.7}, {"f16", 125}}},
      {device("T4", 40, 1590, 7, 5), {{"f64", 0.2544}, {"f32", 8.14}, {"f16", 65.1}, {"int8", 130}}},
      {device("A100", 108, 1410, 8, 0), {{"f64", 9.7}, {"f32", 19.5}, {"tf32", 156}, {"f16", 312}, {"bf16", 312}, {"int8", 624}}},
      {device("A10", 72, 1695, 8, 6), {{"f64", 0.488}, {"f32", 31.2}, {"tf32", 62.5}, {"f16", 125}, {"bf16", 125}, {"int8", 250}}},
      {device("L4", 58, 2040, 8, 9),
       {{"f64", 0.473}, {"f32", 30.3}, {"tf32", 60.6}, {"f16", 121}, {"bf16", 121}, {"int8", 242}, {"fp8", 242}}},
      {device("H100", 132, 1830, 9, 0),
       {{"f64", 30.9}, {"f32", 61.8}, {"tf32", 494.7}, {"f16", 989.4}, {"bf16", 989.4}, {"int8", 1979}, {"fp8", 1979}}},
      {device("B200", 148, 1850, 10, 0),
       {{"f64", 35}, {"f32", 70.1}, {"tf32", 1125}, {"f16", 2250}, {"bf16", 2250}, {"int8", 4500}, {"fp8", 4500}, {"fp4", 9000}}},
      {device("RTX PRO 6000", 188, 2617, 12, 0),
       {{"f64", 1.97}, {"f32", 126}, {"tf32", 252}, {"f16", 503.8}, {"bf16", 503.8}, {"int8", 1007.6}, {"fp8", 1007.6}, {"fp4", 2015}}}};
  for (const Sheet& sheet : sheets) {
    const auto peaks = nl::analysis::device_peaks(sheet.gpu, {}).flops_per_s;
    CHECK(peaks.size() == sheet.tflops.size());
    for (const auto& [dtype, tflops] : sheet.tflops) {
      INFO(sheet.gpu.name << " " << dtype);
      REQUIRE(peaks.contains(dtype));
      CHECK(peaks.at(dtype) / 1e12 == Approx(tflops).epsilon(0.006));  // three digits
    }
  }
}

TEST_CASE("of a GeForce card the products that add up in 32 bits run at half the rate, where there are tensor types to halve") {
  const auto bf16 = [](const char* name, std::uint32_t major, std::uint32_t minor, const char* dtype) {
    return nl::analysis::device_peaks(device(name, 1, 1000, major, minor), {}).flops_per_s.at(dtype) / 1e9;
  };
  for (const char* halved : {"tf32", "f16", "bf16", "fp8", "fp4"})
    CHECK(bf16("NVIDIA GeForce RTX 5090", 12, 0, halved) * 2 == bf16("NVIDIA RTX PRO", 12, 0, halved));
  for (const char* same : {"f64", "f32", "int8"})
    CHECK(bf16("NVIDIA GeForce RTX 5090", 12, 0, same) == bf16("NVIDIA RTX PRO", 12, 0, same));
  CHECK(bf16("NVIDIA GeForce RTX 3090", 8, 6, "bf16") == 512);
  CHECK(bf16("NVIDIA GeForce RTX 2080", 7, 5, "f16") == 1024);
}

TEST_CASE("what a note on missing peaks cites, and where the peaks come from") {
  const auto future = nl::analysis::device_peaks(device("NVIDIA X1", 100, 2000, 42, 1), {});
  CHECK(future.source == "the capture's device table");
  CHECK(future.notes ==
        std::vector<std::string>{"the peak FLOP/s of NVIDIA X1 are not known: compute capability 42.1, 100 SMs, 2000 MHz; give a "
                                 "device table with --set device.file=FILE"});
  CHECK(nl::analysis::device_peaks(device("", 0, 0, 9, 0), {}).notes.at(0).starts_with("the peak FLOP/s of this GPU are not known"));
  CHECK(nl::analysis::device_peaks(device("NVIDIA X1", 100, 0, 9, 0), {}).flops_per_s.empty());
  CHECK(nl::analysis::device_peaks(device("NVIDIA X1", 100, 2000, 9, 0), {}).notes ==
        std::vector<std::string>{"derived at the highest clock; under load real peaks are lower, so MFU is higher"});
  CHECK(nl::analysis::device_peaks(device("NVIDIA H200", 1, 1, 9, 0), kTable).notes == std::vector<std::string>{"a note"});
}

TEST_CASE("patterns with stars: anything between, nothing too") {
  CHECK(nl::analysis::device_name_matches("NVIDIA aab", "a*b"));
  CHECK(nl::analysis::device_name_matches("ab", "a*b*"));
  CHECK(nl::analysis::device_name_matches("axxbyyb", "a*b"));
  CHECK_FALSE(nl::analysis::device_name_matches("axxbyyc", "a*b"));
  CHECK_FALSE(nl::analysis::device_name_matches("ab", "abc"));
  CHECK(nl::analysis::device_name_matches("a_b\tc", "A-B C"));
  CHECK_FALSE(nl::analysis::device_name_matches("H200", "*100"));
  CHECK_FALSE(nl::analysis::device_name_matches("abc", "ab*bc"));  // no letter stands for two
}

TEST_CASE("the working device is the lowest that ran a kernel and is described") {
  nl::Run run;
  CHECK(nl::analysis::working_device(run) == nullptr);
  run.hardware.gpus.resize(3);
  for (std::int32_t id : {0, 1, 2}) run.hardware.gpus[static_cast<std::size_t>(id)].id = id;
  run.hardware.gpus[0].name = "idle";
  run.kernels.emplace(2);
  run.kernels->at(0).device = 2;
  run.kernels->at(1).device = 1;
  CHECK(nl::analysis::working_device(run) == nullptr);  // of neither anything is known
  run.hardware.gpus[2].sm_count = 1;
  CHECK(nl::analysis::working_device(run) == &run.hardware.gpus[2]);
  run.hardware.gpus[1].bandwidth_bytes_per_s = 1;
  CHECK(nl::analysis::working_device(run) == &run.hardware.gpus[1]);
}

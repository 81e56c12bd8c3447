#include "orchestrator/config/knowledge.h"

#include "analysis/figures/efficiency/device_peaks.h"
#include "model/error.h"
#include "tests/catch.h"
#include "tests/unit/orchestrator/machine/fake_tree.h"

using nl::test::FakeTree;

namespace {

[[maybe_unused]] const int kDeviceData = setenv("NL_STAGE_DATA", NL_SOURCE_ROOT, 1);

nl::DevicePeaks peaks_of(const char* name) {
  nl::Device device;
  device.name = name;
  return nl::analysis::device_peaks(device, nl::orchestrator::load_device_table());
}

nl::Error error_of(const std::string& text) {
  FakeTree tree;
  try {
    nl::orchestrator::read_device_file(tree.write("gpu.yaml", text));
  } catch (const nl::Error& error) {
    return error;
  }
  FAIL("no error was thrown");
  throw 0;
}

}  // namespace

TEST_CASE("GPUs are told apart by the names that drivers give them") {
  struct Known {
    const char* name;
    const char* dtype;
    double tflops, tb_per_s;
  };
  for (const Known& known : {Known{"NVIDIA H200", "bf16", 989.4, 4.8},
                             {"NVIDIA H100 80GB HBM3", "bf16", 989.4, 3.35},
                             {"NVIDIA H100 PCIe", "bf16", 756, 2.0},
                             {"NVIDIA H100 NVL", "bf16", 835, 3.9},
                             {"NVIDIA GH200 480GB", "bf16", 989.4, 4.0},
                             {"NVIDIA A100-SXM4-40GB", "bf16", 312, 1.555},
                             {"NVIDIA A100-PCIE-40GB", "bf16", 312, 1.555},
                             {"NVIDIA A100-SXM4-80GB", "bf16", 312, 2.04},
                             {"NVIDIA A100 80GB PCIe", "bf16", 312, 1.94},
                             {"NVIDIA L4", "bf16", 121, 0.30},
                             {"NVIDIA L40S", "fp8", 733, 0.864},
                             {"NVIDIA B200", "fp4", 9000, 8},
                             {"NVIDIA GB200", "bf16", 2500, 8},
                             {"NVIDIA GeForce RTX 4090", "bf16", 165, 1.008},
                             {"NVIDIA GeForce RTX 5090", "bf16", 209.5, 1.792},
                             {"Tesla T4", "f16", 65, 0.32},
                             {"Tesla V100-SXM2-16GB", "f16", 125, 0.9},
                             {"Tesla V100-PCIE-32GB", "f16", 112, 0.9}}) {
    const auto peaks = peaks_of(known.name);
    INFO(known.name);
    CHECK_FALSE(peaks.derived);
    REQUIRE(peaks.flops_per_s.count(known.dtype) == 1);
    CHECK(peaks.flops_per_s.at(known.dtype) == Approx(known.tflops * 1e12));
    CHECK(*peaks.bytes_per_s == Approx(known.tb_per_s * 1e12));
    CHECK(peaks.source.substr(0, 12) == "conf/device/");
  }
  for (const char* other : {"NVIDIA H200 MIG 1g.18gb", "NVIDIA GeForce RTX 4090 Laptop GPU", "NVIDIA L40", "NVIDIA A1000", "Orin"}) {
    INFO(other);
    CHECK(peaks_of(other).flops_per_s.empty());
  }
}

TEST_CASE("no shipped entry shadows another") {
  const auto table = nl::orchestrator::load_device_table();
  CHECK(table.size() >= 20);
  for (const auto& entry : table)
    for (const auto& pattern : entry.match) {
      INFO(pattern);
      CHECK(peaks_of(pattern.c_str()).name == entry.name);
    }
}

TEST_CASE("a file of one's own wins, and a folder of them") {
  FakeTree tree;
  const auto file = tree.write("mine/h200.yaml", "name: mine\nmatch: [H200]\ndense_tflops: {bf16: 800}\n");
  CHECK(nl::orchestrator::load_device_table(file).front().name == "mine");
  CHECK(nl::orchestrator::load_device_table(file.parent_path()).front().flops_per_s.at("bf16") == 800e12);
  CHECK(nl::orchestrator::load_device_table(file).size() == nl::orchestrator::load_device_table().size() + 1);
  CHECK_THROWS_AS(nl::orchestrator::load_device_table(tree.root() / "none.yaml"), nl::Error);
  CHECK(nl::orchestrator::read_device_file(tree.write("b.yaml", "name: NVIDIA X\nbandwidth_tb_per_s: 2\n")).match ==
        std::vector<std::string>{"NVIDIA X"});
}

TEST_CASE("a bad file says where and what") {
  CHECK(error_of("name: x\ndense_tflop: {bf16: 1}\n").message == "unknown key 'dense_tflop' of a device");
  CHECK(error_of("name: x\ndense_tflop: {bf16: 1}\n").fix == "did you mean 'dense_tflops'?");
  CHECK(error_of("name: x\ndense_tflop: {bf16: 1}\n").where.ends_with("gpu.yaml:2:1"));
  CHECK(error_of("name: x\ndense_tflops: {bf61: 1}\n").message == "unknown key 'bf61' of 'dense_tflops'");
  CHECK(error_of("name: x\ndense_tflops:\n  bf16: many\n").where.ends_with("gpu.yaml:3:9"));
  CHECK(error_of("name: x\ndense_tflops: {bf16: -1}\n").message == "'dense_tflops.bf16' wants a positive number");
  CHECK(error_of("name: x\nbandwidth_tb_per_s: .inf\n").message == "'bandwidth_tb_per_s' wants a positive number");
  CHECK(error_of("name: x\nmatch: H200\nbandwidth_tb_per_s: 1\n").message == "'match' wants a list");
  CHECK(error_of("match: [H200]\nbandwidth_tb_per_s: 1\n").message == "the device has no 'name'");
  CHECK(error_of("name: x\n").message == "the device has no peak");
  CHECK(error_of("name: [x\n").message.find("this is no valid YAML") == 0);
  CHECK(error_of("").message == "the device file is empty");
}

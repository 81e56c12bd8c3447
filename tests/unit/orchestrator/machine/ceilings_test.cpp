// What nl-stage ceilings does around the GPU, over a CUDA driver that stands in for the real one. The rates of a real card are in docs/whatif.md.
#include "orchestrator/machine/ceilings.h"

#include <cstdlib>

#include "model/error.h"
#include "orchestrator/config/ceilings_file.h"
#include "tests/catch.h"
#include "tests/unit/orchestrator/machine/fake_tree.h"

using namespace nl;
using namespace nl::orchestrator;

namespace {

CeilingRequest stand_in() {
  CeilingRequest request;
  request.driver = NL_BUILD_ROOT "/tests/unit/orchestrator/libfake_driver.so";
  request.cublas = "/nowhere/libcublasLt.so";
  request.python = "/nowhere/python";
  return request;
}

struct CeilingsFolder {
  explicit CeilingsFolder(const std::filesystem::path& folder) { setenv("NL_STAGE_CEILINGS", folder.c_str(), 1); }
  ~CeilingsFolder() { unsetenv("NL_STAGE_CEILINGS"); }
};

}  // namespace

TEST_CASE("ceilings: copies are measured with the driver alone, and what is missing is said") {
  const MeasuredCeilings measured = measure_ceilings(stand_in());
  CHECK(measured.card.name == "NVIDIA Stand-in");
  CHECK(measured.card.uuid == "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f");
  // The stand-in's events are 2 ms apart: 1 GiB read and written, and 256 MiB over the bus.
  REQUIRE(measured.card.copy_bytes_per_s);
  CHECK(*measured.card.copy_bytes_per_s == Approx(2.0 * (1ULL << 30) / 2e-3));
  REQUIRE(measured.card.h2d_bytes_per_s);
  CHECK(*measured.card.h2d_bytes_per_s == Approx((256.0 * (1 << 20)) / 2e-3));
  CHECK(measured.card.gemm_flops_per_s.empty());
  CHECK_FALSE(measured.card.attention_flops_per_s);
  REQUIRE(measured.notes.size() == 2);
  CHECK(measured.notes[0].find("libcublasLt was not found") != std::string::npos);
  CHECK(measured.notes[1].starts_with("No attention: "));
}

TEST_CASE("ceilings: without a GPU there is an error of the tool") {
  setenv("FAKE_DRIVER_NO_GPU", "1", 1);
  CHECK_THROWS_AS(measure_ceilings(stand_in()), Error);
  unsetenv("FAKE_DRIVER_NO_GPU");
}

TEST_CASE("ceilings: a card's file comes back, and a damaged one is as good as none") {
  const nl::test::FakeTree tree;
  const CeilingsFolder folder(tree.root());
  DeviceCeilings card;
  card.name = "NVIDIA H200";
  card.uuid = "GPU-1";
  card.measured_at = "2026-11-18T16:41:00Z";
  card.gemm_flops_per_s = {{"bf16", 8.263e14}, {"fp8", 1.5615e15}};
  card.copy_bytes_per_s = 4.3e12;
  CHECK(ceilings_file(card) == tree.root() / "GPU-1.json");
  tree.write("GPU-1.json", ceilings_json(card));
  const std::filesystem::path damaged = tree.write("GPU-2.json", "{\"name\": 3");
  const std::vector<DeviceCeilings> kept = kept_ceilings();
  REQUIRE(kept.size() == 1);
  CHECK(ceilings_json(kept[0]) == ceilings_json(card));
  CHECK_FALSE(kept[0].h2d_bytes_per_s);
  CHECK_THROWS_AS(read_ceilings(damaged), Error);
}

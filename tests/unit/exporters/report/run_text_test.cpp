#include "exporters/report/sections/run_text.h"

#include <utility>

#include "tests/catch.h"

using namespace nl;
using namespace nl::exporters;
using namespace nl::exporters::report;

TEST_CASE("run text: a split names each part, also one of nothing, and is a dash where there is no whole") {
  CHECK(split_text({{"decode", 920}, {"none", 80}}, 1000) == "decode 92 %, none 8 %");
  CHECK(split_text({{"decode", 1000}, {"prefill", 0}}, 1000) == "decode 100 %, prefill 0 %");
  CHECK(split_text({{"prefill", 0}}, 1) == "prefill 0 %");
  CHECK(split_text({{"decode", 0}}, 0) == kNoValue);
  CHECK(split_text({{"decode", 5}}, 0) == kNoValue);
  CHECK(split_text(std::vector<std::pair<std::string, Ns>>{}, 1000) == kNoValue);
  KernelEntry kernel;
  kernel.time.total_ns = 200;
  kernel.stages = {{"prefill", 50, 1}, {"decode", 150, 2}};
  CHECK(split_text(kernel) == "prefill 25 %, decode 75 %");
  kernel.time.total_ns = 0;
  CHECK(split_text(kernel) == kNoValue);
}

TEST_CASE("run text: who measured") {
  std::vector<KernelEntry> kernels(2);
  CHECK(measured_by(kernels) == "");
  kernels[0].ncu.emplace_back().measured_by = Meter::kNcu;
  CHECK(measured_by(kernels) == "ncu");
  kernels[1].ncu.emplace_back().measured_by = Meter::kCupti;
  CHECK(measured_by(kernels) == "ncu and CUPTI");
  kernels[0].ncu.clear();
  CHECK(measured_by(kernels) == "CUPTI");
}

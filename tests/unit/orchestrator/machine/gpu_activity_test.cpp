#include "orchestrator/machine/gpu_activity.h"

#include <unistd.h>

#include <cstdlib>

#include "tests/catch.h"
#include "tests/unit/files.h"

using namespace nl::orchestrator;

namespace {

const std::string kNvmlWithOneGpu = NL_BUILD_ROOT "/tests/unit/orchestrator/libfake_nvml.so";
const std::string kOldNvml = NL_BUILD_ROOT "/tests/unit/orchestrator/libbare_nvml.so";

struct Variable {
  Variable(const char* name, const std::string& value) : name_(name) { setenv(name, value.c_str(), 1); }
  ~Variable() { unsetenv(name_); }
  const char* name_;
};

}  // namespace

TEST_CASE("GPU activity: processes and utilisation come from NVML") {
  nl::test::Folder folder;
  const auto file = folder.file("processes", "4711\n17\n4711\n");
  const Variable processes("NL_FAKE_NVML_PROCESSES", file.string());
  std::string trouble;
  const auto gpu = open_gpu_activity(kNvmlWithOneGpu, "", trouble);
  REQUIRE(gpu);
  const GpuReading busy = gpu->read();
  CHECK(busy.processes == std::vector<int>{17, 4711});
  CHECK(busy.processes_known);
  CHECK(busy.utilisation == 0.97);
  CHECK_FALSE(is_idle(busy));
  folder.file("processes", "");
  CHECK(is_idle(gpu->read()));
}

TEST_CASE("GPU activity: utilisation alone shows a GPU that is used from outside this container") {
  std::string trouble;
  const auto gpu = open_gpu_activity(kNvmlWithOneGpu, "", trouble);
  REQUIRE(gpu);
  CHECK(gpu->read().processes.empty());
  CHECK_FALSE(is_idle(gpu->read()));
}

TEST_CASE("GPU activity: a driver that says nothing is no busy one") {
  std::string trouble;
  const auto gpu = open_gpu_activity(kOldNvml, "", trouble);
  REQUIRE(gpu);
  const GpuReading reading = gpu->read();
  CHECK_FALSE(reading.processes_known);
  CHECK_FALSE(reading.utilisation);
  CHECK(is_idle(reading));
}

TEST_CASE("GPU activity: CUDA_VISIBLE_DEVICES chooses by number or UUID; without a match all are watched") {
  nl::test::Folder folder;
  const Variable two("NL_FAKE_NVML", "two");
  const Variable processes("NL_FAKE_NVML_PROCESSES", folder.file("processes", "4711").string());  // on the first
  const auto sees = [](const char* visible) {
    std::string trouble;
    return open_gpu_activity(kNvmlWithOneGpu, visible, trouble)->read().processes;
  };
  for (const char* visible : {"", "0", "0,1", "1,0", "GPU-de114a54", "7", "MIG-1"}) {
    INFO(visible);
    CHECK(sees(visible) == std::vector<int>{4711});
  }
  CHECK(sees("1").empty());
}

TEST_CASE("GPU activity: no NVML and no GPU are said") {
  std::string trouble;
  CHECK_FALSE(open_gpu_activity("/nonexistent.so", "", trouble));
  CHECK_FALSE(trouble.empty());
  const Variable none("NL_FAKE_NVML", "none");
  trouble.clear();
  CHECK_FALSE(open_gpu_activity(kNvmlWithOneGpu, "", trouble));
  CHECK(trouble == "NVML knows no GPU");
}

TEST_CASE("GPU activity: processes are named as far as they are there") {
  CHECK(process_names({}) == "");
  CHECK(nl::test::has(process_names({getpid()}), std::to_string(getpid()) + " "));
  CHECK(process_names({2'000'000'000}) == "2000000000");
}

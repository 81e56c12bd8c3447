#include "orchestrator/machine/nvml_sampler.h"

#include <dlfcn.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <cstdlib>

#include "orchestrator/machine/tools_host.h"
#include "tests/catch.h"

using namespace nl;
using namespace nl::orchestrator;

namespace {

const std::string kFakeNvml = std::string(NL_BUILD_ROOT) + "/tests/unit/orchestrator/libfake_nvml.so";

const std::string kBareNvml = std::string(NL_BUILD_ROOT) + "/tests/unit/orchestrator/libbare_nvml.so";

bool blocks_interrupts() {
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  return sigismember(&blocked, SIGINT) == 1 && sigismember(&blocked, SIGCHLD) == 1;
}

struct Scripted : PowerMeter {
  explicit Scripted(std::atomic<int>& reads) : reads_(reads) {}
  std::vector<PowerSample> read(bool everything) override {
    PowerSample sample;
    sample.energy_j = ++reads_;
    if (everything) sample.temperature_c = 50;
    if (blocks_interrupts()) sample.sm_clock_mhz = 1;
    return {sample};
  }
  std::vector<std::string> uuids() const override { return {"GPU-1"}; }
  std::atomic<int>& reads_;
};

void wait_for(const std::atomic<int>& reads, int count) {
  for (int i = 0; i < 2000 && reads < count; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

}  // namespace

TEST_CASE("NVML's numbers are read in their units") {
  std::string trouble;
  const auto meter = open_nvml_meter(kFakeNvml, trouble);
  INFO(trouble);
  REQUIRE(meter);
  const auto samples = meter->read(true);
  REQUIRE(samples.size() == 1);
  CHECK(*samples[0].power_w == 300);
  CHECK(*samples[0].sm_clock_mhz == 1980);
  CHECK(*samples[0].memory_clock_mhz == 3201);
  CHECK(*samples[0].temperature_c == 45);
  CHECK(*samples[0].gpu_utilisation == Approx(0.97));
  CHECK(*samples[0].throttle_reasons == 0x4);
  CHECK(*samples[0].power_limit_w == 700);
  CHECK(*samples[0].energy_j > 0);
  CHECK_FALSE(meter->read(false)[0].sm_clock_mhz);
  CHECK(meter->uuids() == std::vector<std::string>{"GPU-de114a54-90c1-a1a5-0e99-1bb3d2af386b"});
  setenv("NL_FAKE_NVML", "old", 1);
  CHECK(*meter->read(false)[0].power_w == 250);  // the mean of a second, where there is nothing better
  unsetenv("NL_FAKE_NVML");
}

TEST_CASE("the doctor asks the same library") {
  const GpuInventory found = ask_nvml(kFakeNvml);
  CHECK(found.trouble.empty());
  CHECK(found.names == std::vector<std::string>{"NVIDIA H200"});
  CHECK(found.driver_version == "580.82.07");
  CHECK(found.cuda_driver_version == 13000);
}

TEST_CASE("a library that is not there, or is no NVML, is said") {
  std::string trouble;
  CHECK_FALSE(open_nvml_meter("/no/such/libnvidia-ml.so.1", trouble));
  CHECK(trouble.find("/no/such/libnvidia-ml.so.1") != std::string::npos);
  trouble.clear();
  CHECK_FALSE(open_nvml_meter("libm.so.6", trouble));
  CHECK(trouble == "libm.so.6 lacks functions of NVML");
}

TEST_CASE("samples carry the time of day, in order, and each pass has its own") {
  std::atomic<int> reads = 0;
  PowerSampler sampler(std::make_unique<Scripted>(reads), 1);
  const auto before = std::chrono::system_clock::now().time_since_epoch();
  sampler.begin();
  wait_for(reads, 8);
  const auto first = sampler.end();
  REQUIRE(first.size() >= 8);
  CHECK(first.back().utc_ns <=
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count() + 1'000'000);
  CHECK(first[0].sm_clock_mhz);  // the thread leaves signals to the others
  CHECK_FALSE(blocks_interrupts());
  CHECK(first.front().utc_ns >= std::chrono::duration_cast<std::chrono::nanoseconds>(before).count() - 1'000'000);
  for (std::size_t i = 1; i < first.size(); ++i) CHECK(first[i].utc_ns > first[i - 1].utc_ns);
  CHECK(first[0].temperature_c);
  CHECK_FALSE(first[1].temperature_c);
  CHECK(first[5].temperature_c);
  CHECK(sampler.end().empty());
  const int until = reads;
  sampler.begin();
  wait_for(reads, until + 1);
  const auto second = sampler.end();
  REQUIRE_FALSE(second.empty());
  CHECK(*second.front().energy_j > until);
  CHECK(second.front().temperature_c);
}

TEST_CASE("the end of a pass is not held up by the interval") {
  std::atomic<int> reads = 0;
  PowerSampler sampler(std::make_unique<Scripted>(reads), 60000);
  sampler.begin();
  wait_for(reads, 1);
  const auto start = std::chrono::steady_clock::now();
  CHECK(sampler.end().size() == 1);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));  // not a minute; the machine may be busy
}

TEST_CASE("costly readings are taken less often") {
  CHECK(sampling_pause_ms(20, 0.02) == 20);
  CHECK(sampling_pause_ms(20, 1) == Approx(20));
  CHECK(sampling_pause_ms(20, 5) == Approx(100));  // 5 ms of 100 are 5 %
}

TEST_CASE("a long pass is thinned out, reading by reading") {
  std::vector<PowerSample> samples(14);  // seven readings of two GPUs
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i].utc_ns = static_cast<Ns>(i / 2);
    samples[i].device = static_cast<std::int32_t>(i % 2);
  }
  drop_every_other(samples, 2);
  REQUIRE(samples.size() == 8);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    CHECK(samples[i].utc_ns == static_cast<Ns>(i / 2 * 2));
    CHECK(samples[i].device == static_cast<std::int32_t>(i % 2));
  }
}

namespace {

// Sets what the fake library does differently, until the end of its scope.
struct FakeNvmlIs {
  explicit FakeNvmlIs(const char* what) { setenv("NL_FAKE_NVML", what, 1); }
  ~FakeNvmlIs() { unsetenv("NL_FAKE_NVML"); }
};

std::string why_no_meter(const char* what) {
  const FakeNvmlIs fake(what);
  std::string trouble;
  CHECK_FALSE(open_nvml_meter(kFakeNvml, trouble));
  return trouble;
}

}  // namespace

TEST_CASE("NVML that does not start, does not count, or has no GPU says so") {
  CHECK(why_no_meter("refuses") == "Not Supported");
  CHECK(why_no_meter("uncounted") == "Not Supported");
  CHECK(why_no_meter("none") == "NVML knows no GPU");
  const FakeNvmlIs fake("refuses");
  CHECK(ask_nvml(kFakeNvml).trouble == "Not Supported");
}

TEST_CASE("power in each of NVML's types, energy in joules, and a GPU that is lost is not counted") {
  std::string trouble;
  const auto meter = open_nvml_meter(kFakeNvml, trouble);
  REQUIRE(meter);
  {
    const FakeNvmlIs fake("double");
    CHECK(*meter->read(false)[0].power_w == Approx(310.5));
  }
  {
    const FakeNvmlIs fake("long");
    CHECK(*meter->read(false)[0].power_w == Approx(5'000'000));
    CHECK(*meter->read(false)[0].energy_j == Approx(5.25));
    CHECK(meter->read(false)[0].device == 0);
  }
  {
    const FakeNvmlIs fake("two");
    const auto both = open_nvml_meter(kFakeNvml, trouble)->read(false);
    REQUIRE(both.size() == 2);
    CHECK(both[0].device == 0);
    CHECK(both[1].device == 1);
  }
  const FakeNvmlIs fake("lost");
  CHECK(open_nvml_meter(kFakeNvml, trouble)->read(false).size() == 1);
  CHECK(ask_nvml(kFakeNvml).names == std::vector<std::string>{"NVIDIA H200"});
}

TEST_CASE("what NVML does not answer, or a driver's NVML lacks, stays unknown") {
  const bool lacks = GENERATE(false, true);
  const FakeNvmlIs fake(lacks ? "" : "mute");
  std::string trouble;
  const auto meter = open_nvml_meter(lacks ? kBareNvml : kFakeNvml, trouble);
  REQUIRE(meter);
  const PowerSample sample = meter->read(true).at(0);
  CHECK_FALSE(sample.power_w);
  CHECK_FALSE(sample.energy_j);
  CHECK_FALSE(sample.sm_clock_mhz);
  CHECK_FALSE(sample.memory_clock_mhz);
  CHECK_FALSE(sample.temperature_c);
  CHECK_FALSE(sample.gpu_utilisation);
  CHECK_FALSE(sample.throttle_reasons);
  CHECK(meter->uuids() == std::vector<std::string>{""});
  CHECK(ask_nvml(kFakeNvml).driver_version == (lacks ? "580.82.07" : ""));
}

namespace {

// So many GPUs that two readings are more than a pass keeps.
struct Crowd : PowerMeter {
  explicit Crowd(std::atomic<int>& reads) : reads_(reads) {}
  std::vector<PowerSample> read(bool) override {
    PowerSample sample;
    sample.energy_j = ++reads_;
    return std::vector<PowerSample>(100'000, sample);
  }
  std::vector<std::string> uuids() const override { return {}; }
  std::atomic<int>& reads_;
};

}  // namespace

TEST_CASE("a pass that is too long for the memory keeps every second, fourth, eighth reading") {
  std::atomic<int> reads = 0;
  PowerSampler sampler(std::make_unique<Crowd>(reads), 1);
  sampler.begin();
  wait_for(reads, 3);
  const auto samples = sampler.end();
  REQUIRE(reads < 8);
  REQUIRE(samples.size() == 100'000);
  CHECK(*samples.front().energy_j == 1);
  CHECK(*samples.back().energy_j == 1);
}

TEST_CASE("NVML is shut down as often as it was started, and never where it did not start") {
  void* library = dlopen(kFakeNvml.c_str(), RTLD_NOW);
  REQUIRE(library);
  const auto started = reinterpret_cast<int (*)()>(dlsym(library, "nl_fake_nvml_started"));
  REQUIRE(started);
  std::string trouble;
  {
    const auto meter = open_nvml_meter(kFakeNvml, trouble);
    CHECK(started() == 1);
  }
  CHECK(started() == 0);
  CHECK(why_no_meter("refuses") == "Not Supported");
  CHECK(started() == 0);
  dlclose(library);
}

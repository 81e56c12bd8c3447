#include "parsers/ncu/cells.h"

#include <vector>

#include "tests/catch.h"

using nl::parsers::NumberFormat;
using nl::parsers::raw_metric_name;
using nl::parsers::to_base_unit;

namespace {

// How `text` reads in a file that has the other numbers too; -1: it could be either of two, -2: no number.
double read(const std::string& text, const std::vector<std::string>& others) {
  NumberFormat format;
  for (const auto& other : others) format.observe(other);
  format.observe(text);
  const auto value = format.read(text);
  if (value.kind == NumberFormat::Kind::kNumber) return value.number;
  return value.kind == NumberFormat::Kind::kUndecidable ? -1 : -2;
}

}  // namespace

TEST_CASE("numbers: one mark before three digits reads as the other numbers say") {
  CHECK(read("1.234", {}) == -1);
  CHECK(read("1,234", {}) == -1);
  CHECK(read("1.234", {"2.5"}) == 1.234);  // the point is decimal elsewhere
  CHECK(read("1.234", {"2,5"}) == 1234);   // the comma is
  CHECK(read("1,234", {"2,5"}) == 1.234);
  CHECK(read("1,234", {"2.5"}) == 1234);
  CHECK(read("1.234", {"1,234,567"}) == 1.234);  // the comma groups
  CHECK(read("1.234", {"1.234.567"}) == 1234);
  CHECK(read("1,234", {"1.234,5"}) == 1.234);
  CHECK(read("1,234", {"1,234.5"}) == 1234);
  CHECK(read("1.234", {"2.5", "2,5"}) == -1);  // the file contradicts itself
}

TEST_CASE("numbers: where blanks or apostrophes group, neither point nor comma does") {
  for (const std::string mark : {" ", "'", "\xC2\xA0", "\xE2\x80\xAF", "\xE2\x80\x99"}) {
    const std::string grouped = "1" + mark + "234", twice = grouped + mark + "567";
    CHECK(read(grouped, {}) == 1234);
    CHECK(read(twice, {}) == 1234567);
    CHECK(read(grouped + ",5", {}) == 1234.5);
    CHECK(read("1.234", {grouped}) == 1.234);
    CHECK(read("1,234", {grouped + ",5"}) == 1.234);
    CHECK(read("1.234", {grouped + ",5"}) == -1);  // a comma for decimals and blanks for groups leave no room for it
    CHECK(read("1" + mark + "23", {}) == -2);
  }
}

TEST_CASE("numbers: signs, exponents, instances, and what is none") {
  CHECK(read("-1.5e+03", {}) == -1500);
  CHECK(read("+2,5E-1", {}) == 0.25);
  CHECK(read("2.5e+01", {}) == 25);
  CHECK(read("2.5e0", {}) == 2.5);
  CHECK(read("119 (3; 4; 112)", {}) == 119);
  CHECK(read("0.123", {}) == 0.123);
  for (const std::string broken :
       {"1.23.456", "1,2,3", "1.234.56,7.8", "12a", "1a2", "1.", "e5", "1e5x", "(3)", "12,34.5", "1 234.567,8"}) {
    INFO(broken);
    CHECK(read(broken, {}) == -2);
  }
  for (const std::string none : {"", "no data", "n/a"}) CHECK(NumberFormat().read(none).kind == NumberFormat::Kind::kNoData);
  for (const std::string not_finite : {"nan", "-nan", "NaN", "nan(ind)", "inf", "-inf", "+Inf", "Infinity", "1e400", "-2.5E+999"}) {
    CAPTURE(not_finite);
    CHECK(NumberFormat().read(not_finite).kind == NumberFormat::Kind::kNotFinite);
  }
  CHECK(NumberFormat().read("1e-400").kind == NumberFormat::Kind::kNumber);
  CHECK(NumberFormat().read("infinite").kind == NumberFormat::Kind::kText);
  NumberFormat kernel_time;
  kernel_time.observe("3,670", true);
  CHECK(kernel_time.read("1,234").number == 1234);
}

TEST_CASE("numbers: units with their prefixes, and rates per second") {
  CHECK(to_base_unit("ns") == to_base_unit("nsecond"));
  CHECK(to_base_unit("usecond") == 1e3);
  CHECK(to_base_unit("msecond") == 1e6);
  CHECK(to_base_unit("second") == 1e9);
  CHECK(to_base_unit("Kbyte") == 1e3);
  CHECK(to_base_unit("Mbyte") == 1e6);
  CHECK(to_base_unit("Gbyte/second") == 1e9);
  CHECK(to_base_unit("Tbyte/s") == 1e12);
  CHECK(to_base_unit("cycle/nsecond") == 1e9);
  CHECK(to_base_unit("cycle/usecond") == 1e6);
  CHECK(to_base_unit("GHz") == 1e9);
  CHECK(to_base_unit("%") == 1);
  CHECK(to_base_unit("%/Kbyte") == 1e3);
  CHECK_FALSE(to_base_unit("Xbyte"));
}

TEST_CASE("numbers: every prefix of sizes, frequencies and times") {
  const std::pair<const char*, double> prefixes[] = {{"", 1},
                                                     {"K", 1e3},
                                                     {"k", 1e3},
                                                     {"M", 1e6},
                                                     {"G", 1e9},
                                                     {"T", 1e12},
                                                     {"P", 1e15},
                                                     {"Ki", 1024},
                                                     {"Mi", 1024. * 1024},
                                                     {"Gi", 1024. * 1024 * 1024},
                                                     {"Ti", 1024. * 1024 * 1024 * 1024}};
  for (const auto& [prefix, factor] : prefixes)
    for (const char* unit : {"byte", "bytes", "B", "Hz", "hz"}) {
      INFO(prefix << unit);
      CHECK(to_base_unit(std::string(prefix) + unit) == factor);
    }
  const std::pair<const char*, double> times[] = {{"", 1e9},   {"m", 1e6},  {"u", 1e3},  {"\xC2\xB5", 1e3}, {"n", 1},
                                                  {"p", 1e-3}, {"K", 1e12}, {"k", 1e12}, {"M", 1e15}};
  for (const auto& [prefix, factor] : times)
    for (const char* unit : {"second", "seconds", "sec", "s"}) {
      INFO(prefix << unit);
      CHECK(to_base_unit(std::string(prefix) + unit) == factor);
      CHECK(to_base_unit("Kbyte/" + std::string(prefix) + unit) == 1e3 * (1e9 / factor));
    }
  for (const char* unit : {"Xhz", "XB", "Xbytes", "Xsecond", "Xseconds", "Xsec", "Kisecond", "inst/Xsecond", "byte/Xbyte", "Xbyte/s"})
    CHECK_FALSE(to_base_unit(unit));
  for (const char* unit : {"", "inst", "warp", "inst/cycle", "register/thread", "Xs"}) CHECK(to_base_unit(unit) == 1);
}

TEST_CASE("metric names: what the details page calls each, of any version") {
  const std::string light = "GPU Speed Of Light Throughput", pct = ".avg.pct_of_peak_sustained_elapsed";
  const struct {
    std::string section, metric, raw;
  } names[] = {{light, "Duration", "gpu__time_duration.sum"},
               {light, "Compute (SM) Throughput", "sm__throughput" + pct},
               {light, "SM Throughput", "sm__throughput" + pct},
               {light, "SM [%]", "sm__throughput" + pct},
               {"GPU Speed Of Light", "SOL SM", "sm__throughput" + pct},
               {light, "Memory Throughput", "gpu__compute_memory_throughput" + pct},
               {light, "Memory [%]", "gpu__compute_memory_throughput" + pct},
               {light, "SOL Memory", "gpu__compute_memory_throughput" + pct},
               {light, "DRAM Throughput", "gpu__dram_throughput" + pct},
               {light, "SOL DRAM", "gpu__dram_throughput" + pct},
               {light, "L1/TEX Cache Throughput", "l1tex__throughput.avg.pct_of_peak_sustained_active"},
               {light, "L2 Cache Throughput", "lts__throughput" + pct},
               {light, "Elapsed Cycles", "gpc__cycles_elapsed.max"},
               {light, "SM Active Cycles", "sm__cycles_active.avg"},
               {light, "SM Frequency", "gpc__cycles_elapsed.avg.per_second"},
               {light, "DRAM Frequency", "dram__cycles_elapsed.avg.per_second"},
               {"Occupancy", "Achieved Occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active"},
               {"Occupancy", "Theoretical Occupancy", "sm__maximum_warps_per_active_cycle_pct"},
               {"Occupancy", "Achieved Active Warps Per SM", "sm__warps_active.avg.per_cycle_active"},
               {"Compute Workload Analysis", "Executed Ipc Active", "sm__inst_executed.avg.per_cycle_active"},
               {"Memory Workload Analysis", "L1/TEX Hit Rate", "l1tex__t_sector_hit_rate.pct"},
               {"Memory Workload Analysis", "L2 Hit Rate", "lts__t_sector_hit_rate.pct"},
               {"Launch Statistics", "Registers Per Thread", "launch__registers_per_thread"},
               {"Launch Statistics", "Waves Per SM", "launch__waves_per_multiprocessor"},
               {"Occupancy", "Duration", "Occupancy/Duration"},
               {"", "Duration", "/Duration"},
               {"Command line profiler metrics", "dram__bytes_read.sum", "dram__bytes_read.sum"}};
  for (const auto& name : names) CHECK(raw_metric_name(name.section, name.metric, false) == name.raw);
  CHECK(raw_metric_name("Memory Workload Analysis", "Memory Throughput", true) == "dram__bytes.sum.per_second");
  CHECK(raw_metric_name("Memory Workload Analysis", "Memory Throughput", false) == "Memory Workload Analysis/Memory Throughput");
  CHECK(raw_metric_name(light, "SM Frequency", true) == "gpc__cycles_elapsed.avg.per_second");
}

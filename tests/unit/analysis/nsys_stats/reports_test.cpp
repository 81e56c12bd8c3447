#include "analysis/nsys_stats/reports.h"

#include <map>

#include "model/error.h"
#include "tests/catch.h"

using namespace nl;
using namespace nl::analysis;

TEST_CASE("there are the six reports of nsys") {
  CHECK(stats_report_names() == std::vector<std::string_view>{"cuda_gpu_kern_sum", "cuda_api_sum", "cuda_gpu_mem_time_sum", "nvtx_sum",
                                                              "nvtx_gpu_proj_sum", "nvtx_kern_sum"});
}

TEST_CASE("a report that does not exist is a wrong argument") {
  try {
    make_stats_report(Trace(), "gpukernsum");
    FAIL("it was made");
  } catch (const Error& error) {
    CHECK(error.kind == ErrorKind::kUsage);
    CHECK(error.fix ==
          "the reports are cuda_gpu_kern_sum, cuda_api_sum, cuda_gpu_mem_time_sum, nvtx_sum, nvtx_gpu_proj_sum, nvtx_kern_sum");
  }
}

TEST_CASE("what was not captured is said, not counted as nothing") {
  Trace trace;
  for (std::string_view report : stats_report_names()) {
    StatTable table = make_stats_report(trace, report);
    INFO(report);
    CHECK(table.report == report);
    CHECK(table.title != "");
    CHECK(table.rows.empty());
    CHECK(table.missing.find("the capture has no") == 0);
  }
  trace.has_range_data = true;
  trace.has_api_data = true;
  CHECK(make_stats_report(trace, "nvtx_kern_sum").missing.find("kernel") != std::string::npos);
  CHECK(make_stats_report(trace, "nvtx_gpu_proj_sum").missing.find("GPU work") != std::string::npos);
}

TEST_CASE("the first of a report's needs that the capture lacks is named, whatever else it lacks") {
  struct Needs {
    std::string_view report;
    std::vector<std::string> in_order;
  };
  const std::vector<Needs> all = {{"cuda_gpu_kern_sum", {"CUDA kernel data"}},
                                  {"cuda_api_sum", {"CUDA API calls"}},
                                  {"cuda_gpu_mem_time_sum", {"copies"}},
                                  {"nvtx_sum", {"NVTX ranges"}},
                                  {"nvtx_gpu_proj_sum", {"NVTX ranges", "CUDA API calls", "GPU work"}},
                                  {"nvtx_kern_sum", {"NVTX ranges", "CUDA kernel data", "CUDA API calls"}}};
  REQUIRE(all.size() == stats_report_names().size());
  for (unsigned bits = 0; bits < 16; ++bits) {
    Trace trace;
    trace.has_kernel_data = (bits & 1) != 0;
    trace.has_api_data = (bits & 2) != 0;
    trace.has_range_data = (bits & 4) != 0;
    trace.has_mem_data = (bits & 8) != 0;
    const std::map<std::string, bool> there = {{"CUDA kernel data", trace.has_kernel_data},
                                               {"CUDA API calls", trace.has_api_data},
                                               {"NVTX ranges", trace.has_range_data},
                                               {"copies", trace.has_mem_data},
                                               {"GPU work", trace.has_kernel_data || trace.has_mem_data}};
    for (const Needs& needs : all) {
      std::string expected = "the capture covers this, but nothing happened";
      for (auto need = needs.in_order.rbegin(); need != needs.in_order.rend(); ++need)
        if (!there.at(*need)) expected = "the capture has no " + *need;
      INFO(needs.report << " of a capture with " << bits);
      CHECK(make_stats_report(trace, needs.report).missing.substr(0, expected.size()) == expected);
    }
  }
}

TEST_CASE("a table without rows says so") {
  Trace trace;
  trace.has_kernel_data = trace.has_range_data = trace.has_api_data = trace.has_mem_data = true;
  for (std::string_view report : stats_report_names())
    CHECK(make_stats_report(trace, report).missing.find("but nothing happened") != std::string::npos);
}

TEST_CASE("shares of nothing have no value") {
  Trace trace;
  trace.has_kernel_data = true;
  trace.shapes.push_back({});
  trace.kernels.resize(2);
  for (Kernel& kernel : trace.kernels) kernel.shape = 0;
  StatTable table = make_stats_report(trace, "cuda_gpu_kern_sum");
  REQUIRE(table.rows.size() == 1);
  CHECK(std::holds_alternative<std::monostate>(table.rows[0][0]));
  CHECK(std::get<std::int64_t>(table.rows[0][2]) == 2);
}

TEST_CASE("a kernel whose launch was not captured has a line without a thread") {
  Trace trace;
  trace.has_kernel_data = trace.has_range_data = trace.has_api_data = true;
  trace.shapes.push_back({});
  trace.kernels.resize(1);
  trace.kernels[0].shape = 0;
  trace.kernels[0].duration_ns = 7;
  StatTable table = make_stats_report(trace, "nvtx_kern_sum");
  REQUIRE(table.rows.size() == 1);
  for (std::size_t column : {0, 1, 2, 3}) CHECK(std::holds_alternative<std::monostate>(table.rows[0][column]));
  CHECK(std::get<std::int64_t>(table.rows[0][6]) == 7);
}

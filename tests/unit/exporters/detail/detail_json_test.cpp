#include "exporters/detail/detail_json.h"

#include <nlohmann/json.hpp>
#include <string>

#include "exporters/report/html/html.h"
#include "exporters/report/reports.h"
#include "tests/catch.h"

namespace {

using nlohmann::json;

nl::Detail small_detail() {
  nl::Detail detail;
  detail.start_ns = 1000;
  detail.end_ns = 2000;
  detail.names = {"void at::native::vectorized_elementwise_kernel<(int)8, at::native::CUDAFunctor_add<c10::BFloat16>>(int)",
                  "cudaLaunchKernel", "[CUDA memset]"};
  detail.kernels = {{0, nl::KernelClass::kElementwise, {4, 2, 1}, {128, 1, 1}, 24, 512}};
  detail.stages = {"decode_step"};
  detail.operators = {"aten::add"};
  detail.lanes = {{nl::LaneKind::kApi, "python main thread 7: CUDA calls", 7, 7, 0, 0},
                  {nl::LaneKind::kGpu, "GPU 0 stream 7: kernels and copies", 7, 0, 0, 7}};
  detail.devices = {{0, 7, "GPU 0"}};
  nl::DetailStep step;
  step.start_ns = 1100;
  step.wall_ns = 300;
  step.window = 0;
  step.bins = {{0, {300}}};
  detail.steps = {step};
  detail.steps_in_all = 1;
  detail.overview.bucket_ns = 250;
  detail.overview.count = 4;
  detail.overview.busy = {{0, 200, 100, 0}};
  detail.overview.bins.resize(1);
  detail.overview.kernels = {1, {{1, 0, 0, 200, 1}, {2, 0, 0, 100, 2}}};
  detail.overview.lanes = {{{1, 20, 1, 3}}, {}};
  nl::DetailWindow window{1000, 2000, true, {}, {}};
  window.lanes.push_back({0, {{1090, 20, 1}}});
  window.lanes.push_back({1, {{1150, 100, nl::kNone, 0, 0, 0, 0}, {1300, 50, 2}}});
  window.bins = {
      {{1100, 1150, nl::BudgetBin::kLaunchLatency}, {1150, 1250, nl::BudgetBin::kCompute}, {1260, 1400, nl::BudgetBin::kOtherHost}}};
  detail.windows = {window};
  return detail;
}

json written(const nl::Detail& detail) {
  std::string text;
  nl::exporters::write_detail_json(detail, [&](std::string_view piece) { text += piece; });
  return json::parse(text);
}

}  // namespace

TEST_CASE("detail.json has columns, with times since the start and as differences") {
  const json data = written(small_detail());
  CHECK(data.at("format") == 1);
  const json& window = data.at("windows").at(0);
  CHECK(window.at("start") == 0);
  CHECK(window.at("whole") == true);
  CHECK(window.at("lanes").at(0).at("name") == json({1}));
  const json& gpu = window.at("lanes").at(1);
  CHECK(gpu.at("d") == json({150, 150}));
  CHECK(gpu.at("dur") == json({100, 50}));
  CHECK(gpu.at("kernel") == json({0, ~2}));
  CHECK(gpu.at("launch") == json({0, -1}));
  CHECK(gpu.at("operator") == json({0, -1}));
  CHECK_FALSE(gpu.contains("layer"));
  const json& bins = window.at("bins").at(0);
  CHECK(bins.at("d") == json({100, 0, 10}));  // from the end of the one before
  CHECK(bins.at("dur") == json({50, 100, 140}));
  CHECK(bins.at("bin") == json({8, 0, 6}));
  CHECK(data.at("overview").at("kernels").at("bucket") == json({1, 1}));
  CHECK_FALSE(data.at("overview").at("lanes").at(0).contains("kind"));  // of calls
  CHECK(data.at("overview").at("lanes").at(1).contains("kind"));
  CHECK(data.at("kinds").at(2) == "elementwise");
  CHECK(data.at("overview").at("kernels").at("calls") == json({1, 2}));
  CHECK(data.at("steps").at("start") == json({100}));
  CHECK(data.at("steps").at("tokens") == json::array({nullptr}));
  CHECK(data.at("steps").at("bins").at(0).at(0) == json({300}));
  CHECK(data.at("names").at(data.at("kernels").at(0).at("short").get<std::size_t>()) == "elementwise add (bf16)");
  CHECK(data.at("names").at(data.at("stages").at(0).at("name").get<std::size_t>()) == "decode_step");
}

TEST_CASE("detail.json has sampled stacks as columns of a tree, and times as differences") {
  nl::Detail detail = small_detail();
  CHECK_FALSE(written(detail).contains("samples"));
  detail.samples.sampler = nl::HostSampler::kPython;
  detail.samples.in_all = 3;
  detail.samples.frames = {{"main", "serve.py", 3}, {"put", "serve.py", 22}, {"audit", "serve.py", 10}};
  detail.samples.nodes = {{nl::kNone, 0}, {0, 1}, {0, 2}};
  detail.samples.stacks = {{1, 1}, {2, 2}};
  detail.samples.threads = {{7, 7, "python main thread 7", {{1100, 0}, {1150, 1}, {1300, 0}}}};
  const json data = written(detail), samples = data.at("samples");
  CHECK(samples.at("sampler") == "python");
  CHECK(samples.at("every") == 1);
  CHECK(data.at("names").at(samples.at("function").at(2).get<std::size_t>()) == "audit");
  CHECK(data.at("names").at(samples.at("file").at(1).get<std::size_t>()) == "serve.py");
  CHECK(samples.at("line") == json({3, 22, 10}));
  CHECK(samples.at("up") == json({0, 1, 2}));
  CHECK(samples.at("frame") == json({0, 1, 2}));
  CHECK(samples.at("node") == json({1, 2}));
  CHECK(samples.at("named") == json({1, 2}));
  const json& thread = samples.at("threads").at(0);
  CHECK(thread.at("d") == json({100, 50, 150}));
  CHECK(thread.at("stack") == json({0, 1, 0}));
}

TEST_CASE("detail.json has what comes again as run.json tells it, and the unit of the program") {
  nl::Detail detail = small_detail();
  CHECK_FALSE(written(detail).contains("unit"));
  detail.unit_stage = 0;
  nl::StageGap gap;
  gap.kind = nl::GapKind::kRecurring;
  gap.before = detail.names[0];
  gap.count = 288;
  gap.windows = 144;
  gap.mean_ns = 4'102'000.4;
  gap.budget.wall_ns = 590'688'000;
  gap.wall_share = 0.281;
  gap.host.emplace();
  gap.host->samples = 140;
  gap.host->function_samples = 131;
  gap.host->function = nl::HostFrame{"audit_tokens", "/home/me/serve.py", "__main__", 10, 8, ""};
  detail.gaps = {{0, 144, gap}};
  const json data = written(detail), gaps = data.at("gaps");
  CHECK(data.at("unit") == 0);
  CHECK(gaps.at("kind") == json::array({0}));
  CHECK(gaps.at("before") == json::array({0}));
  CHECK(gaps.at("after") == json({-1}));
  CHECK(gaps.at("count") == json({288}));
  CHECK(gaps.at("windows") == json({144}));
  CHECK(gaps.at("of_windows") == json({144}));
  CHECK(gaps.at("mean") == json({4'102'000}));
  CHECK(gaps.at("total") == json({590'688'000}));
  CHECK(gaps.at("permille") == json({281}));
  CHECK(gaps.at("host_samples") == json({131}));
  CHECK(data.at("names").at(gaps.at("host").at(0).get<std::size_t>()) == "audit_tokens (serve.py:10)");
}

TEST_CASE("names out of a capture stay inside their strings") {
  nl::Detail detail = small_detail();
  detail.names[1] = "\"},{\x1b[31m\xff</script>";
  const json data = written(detail);
  CHECK(data.at("names").at(1) == "\"},{ [31m\xEF\xBF\xBD</script>");
}

TEST_CASE("a name is cleaned once, and to the same text wherever the page has it, also by way of run.json") {
  const std::string hostile = "f<a&b>&amp;\\u001b\x1b\n\xe2\x82 \xff\xf0\x9f\x98";
  nl::Detail detail = small_detail();
  detail.names[0] = hostile;
  nl::Run run;
  run.kernels.emplace(1);
  run.kernels->at(0).name = hostile;
  const auto name_in_page = [](const nl::Run& from) {
    return json::parse(nl::exporters::page_data(from, "")).at("kernels").at(0).at("name");
  };
  const std::string cleaned = "f<a&b>&amp;\\u001b  \xef\xbf\xbd \xef\xbf\xbd\xef\xbf\xbd";
  CHECK(written(detail).at("names").at(0) == cleaned);
  CHECK(name_in_page(run) == cleaned);
  CHECK(nl::exporters::html::plain(hostile) == cleaned);
  CHECK(nl::exporters::html::plain(cleaned) == cleaned);
  run.kernels->at(0).name = json::parse(json(hostile).dump(-1, ' ', false, json::error_handler_t::replace)).get<std::string>();
  CHECK(name_in_page(run) == cleaned);
}

TEST_CASE("a detail file is told from a damaged one and from others") {
  const std::string file = nl::exporters::detail_file(small_detail());
  CHECK(nl::exporters::is_detail_file(file));
  CHECK_FALSE(nl::exporters::is_detail_file(file.substr(0, file.size() - 3)));
  CHECK_FALSE(nl::exporters::is_detail_file(file + "more"));
  std::string changed = file;
  changed[changed.size() / 2] ^= 1;
  CHECK_FALSE(nl::exporters::is_detail_file(changed));
  CHECK_FALSE(nl::exporters::is_detail_file(""));
  CHECK_FALSE(nl::exporters::is_detail_file("{\"format\":1,"));
}

TEST_CASE("base64 as RFC 4648 has it") {
  CHECK(nl::exporters::base64("") == "");
  CHECK(nl::exporters::base64("f") == "Zg==");
  CHECK(nl::exporters::base64("fo") == "Zm8=");
  CHECK(nl::exporters::base64("foo") == "Zm9v");
  CHECK(nl::exporters::base64("foobar") == "Zm9vYmFy");
  CHECK(nl::exporters::base64(std::string("\xff\xfe\x00", 3)) == "//4A");
}

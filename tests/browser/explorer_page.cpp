#include "tests/browser/explorer_page.h"

#include <zlib.h>

#include <algorithm>
#include <fstream>

#include "exporters/detail/detail_json.h"
#include "exporters/report/reports.h"
#include "tests/catch.h"
#include "tests/unit/exporters/sample_run.h"

namespace nl::test {
namespace {

using nlohmann::json;

constexpr std::int64_t kStep = 10'000'000, kSpacing = 800'000, kKernel = 56'000, kCall = 5'000, kAhead = 10'000, kLatency = 1'000'000;
constexpr int kSteps = 10, kKernels = 10, kSlowStep = 7, kBins = 9, kComputes = 0, kStarved = 5;

enum Name { kDecodeStep, kGemmFull, kGemm, kAddFull, kAdd, kLaunch, kMatmul, kLayer, kSite };

std::int64_t wall(int step) { return step == kSlowStep ? 9'900'000 : 8'000'000; }
std::int64_t kernel_start(int step, int kernel) { return step * kStep + 100'000 + kernel * kSpacing; }

// Without looking for repetition, of which made data have too much: as many bytes as a real capture becomes.
std::string gzip(std::string text) {
  z_stream stream = {};
  REQUIRE(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 16 + MAX_WBITS, MAX_MEM_LEVEL, Z_HUFFMAN_ONLY) == Z_OK);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

json window_of(int step) {
  const std::int64_t start = step * kStep, end = start + wall(step);
  json calls = {{"lane", 1}}, kernels = {{"lane", 2}}, bins = {{"device", 0}};
  std::int64_t call_at = start, kernel_at = start, bin_at = start;
  const auto add_bin = [&](std::int64_t until, int bin) {
    bins["d"].push_back(0);
    bins["dur"].push_back(until - bin_at);
    bins["bin"].push_back(bin);
    bin_at = until;
  };
  for (int i = 0; i < kKernels; ++i) {
    const std::int64_t at = kernel_start(step, i);
    calls["d"].push_back(at - kAhead - call_at);
    calls["dur"].push_back(kCall);
    calls["name"].push_back(kLaunch);
    call_at = at - kAhead;
    kernels["d"].push_back(at - kernel_at);
    kernels["dur"].push_back(kKernel);
    kernels["kernel"].push_back(i % 2);
    kernels["launch"].push_back((1 << 24) + i);
    kernels["operator"].push_back(i % 2 == 0 ? 0 : -1);
    kernels["layer"].push_back(i % 2 == 0 ? 0 : -1);
    kernels["site"].push_back(0);
    kernel_at = at;
    add_bin(at, kStarved);
    add_bin(at + kKernel, kComputes);
  }
  add_bin(end, kStarved);
  const json range = {{"lane", 0}, {"d", {0}}, {"dur", {wall(step)}}, {"name", {kDecodeStep}}};
  return {{"start", start}, {"end", end}, {"whole", false}, {"lanes", {range, calls, kernels}}, {"bins", {bins}}};
}

// One kernel starts in each of a step's buckets that has one; none crosses an edge.
json overview_of() {
  json busy, bins, kernels = {{"scale", 1}}, operators = {{"scale", 1}}, lanes;
  for (int lane = 0; lane < 3; ++lane) lanes.push_back({{"lane", lane}});
  std::vector<std::vector<std::int64_t>> by_bin(kBins, std::vector<std::int64_t>(100, 0));
  int kernel_bucket = 0, operator_bucket = 0, lane_bucket = 0;
  for (int bucket = 0; bucket < 100; ++bucket) {
    const int step = bucket / 10;
    const std::int64_t from = bucket * 1'000'000, in_stage = std::clamp<std::int64_t>(step * kStep + wall(step) - from, 0, 1'000'000);
    std::int64_t busy_ns = 0;
    for (int i = 0; i < kKernels; ++i) {
      const std::int64_t at = kernel_start(step, i);
      if (at < from || at >= from + 1'000'000) continue;
      busy_ns += kKernel;
      const auto add = [&](json& sums, const char* what, int index, int& last) {
        sums["bucket"].push_back(bucket - last);
        sums[what].push_back(index);
        sums["ns"].push_back(kKernel);
        sums["calls"].push_back(1);
        last = bucket;
      };
      add(kernels, "kernel", i % 2, kernel_bucket);
      if (i % 2 == 0) add(operators, "operator", 0, operator_bucket);
    }
    by_bin[kComputes][bucket] = busy_ns;
    by_bin[kStarved][bucket] = in_stage - busy_ns;
    busy.push_back(busy_ns);
    if (busy_ns == 0) continue;
    const std::int64_t share[] = {in_stage, busy_ns / kKernel * kCall, busy_ns};
    const int name[] = {kDecodeStep, kLaunch, kGemm};
    for (int lane = 0; lane < 3; ++lane) {
      lanes[lane]["bucket"].push_back(bucket - lane_bucket);
      lanes[lane]["busy"].push_back(share[lane]);
      lanes[lane]["name"].push_back(name[lane]);
      lanes[lane]["slices"].push_back(lane == 0 ? 1 : busy_ns / kKernel);
    }
    lane_bucket = bucket;
  }
  return {{"bucket_ns", 1'000'000}, {"count", 100},           {"busy", {busy}}, {"bins", {by_bin}},
          {"kernels", kernels},     {"operators", operators}, {"lanes", lanes}};
}

json steps_of() {
  json steps;
  std::vector<std::vector<std::int64_t>> bins(kBins, std::vector<std::int64_t>(kSteps, 0));
  for (int step = 0; step < kSteps; ++step) {
    steps["stage"].push_back(0);
    steps["start"].push_back(step * kStep);
    steps["wall"].push_back(wall(step));
    steps["iteration"].push_back(step / 5);
    steps["position"].push_back(step);
    steps["warmup"].push_back(0);
    steps["tokens"].push_back(1);
    bins[kComputes][step] = kKernels * kKernel;
    bins[kStarved][step] = wall(step) - kKernels * kKernel - (step == 4 ? kLatency : 0);
    bins[kBins - 1][step] = step == 4 ? kLatency : 0;
    steps["window"].push_back(step == 0 ? 0 : step == 4 ? 1 : step == kSlowStep ? 2 : -1);
  }
  steps["bins"] = {bins};
  return steps;
}

void replace_block(std::string& page, const std::string& id, const std::string& type, const std::string& text) {
  const std::string open = "<script type=\"" + type + "\" id=\"" + id + "\">";
  if (const std::size_t old = page.find(open); old != std::string::npos) page.erase(old, page.find("</script>", old) + 9 - old);
  page.insert(page.rfind("<script>"), open + text + "</script>\n");
}

}  // namespace

json explorer_detail() {
  const json shape = {{"grid", {4, 8, 1}}, {"block", {384, 1, 1}}, {"registers", 168}, {"shared_bytes", 164308}};
  json gemm = shape, add = shape;
  gemm.update({{"name", kGemmFull}, {"short", kGemm}, {"kind", "gemm"}});
  add.update({{"name", kAddFull}, {"short", kAdd}, {"kind", "elementwise"}});
  return {{"format", 1},
          {"start_ns", 5'000'000'000},
          {"end_ns", 5'100'000'000},
          {"names",
           {"decode_step", "void gemm_kernel<float, 128>(float*)", "gemm_kernel", "void add_kernel<float>(float*)", "add_kernel",
            "cudaLaunchKernel", "aten::mm", "model.layers.3", "modeling.py:312 forward"}},
          {"kernels", {gemm, add}},
          {"operators", {kMatmul}},
          {"layers", {kLayer}},
          {"sites", {kSite}},
          {"sites_nearby", {0}},
          {"sample_period_ns", 5'000'000},
          {"stages", {{{"name", kDecodeStep}}}},
          {"lanes",
           {{{"kind", "ranges"}, {"title", "python main thread 973: stages"}, {"pid", 1}, {"tid", 973}},
            {{"kind", "api"}, {"title", "python main thread 973: CUDA calls"}, {"pid", 1}, {"tid", 973}},
            {{"kind", "gpu"}, {"title", "GPU 0 stream 7: kernels and copies"}, {"pid", 1}, {"device", 0}, {"stream", 7}}}},
          {"devices", {{{"device", 0}, {"pid", 1}, {"title", "GPU 0 (NVIDIA H200)"}}}},
          {"steps", steps_of()},
          {"overview", overview_of()},
          {"windows", {window_of(0), window_of(4), window_of(kSlowStep)}},
          {"trace_file", "trace.pftrace"}};
}

json sampled_detail() {
  json detail = explorer_detail();
  json& names = detail["names"];
  const auto name = [&](const char* text) {
    names.push_back(text);
    return names.size() - 1;
  };
  const std::size_t main = name("main"), put = name("Book.put"), audit = name("audit_tokens"), forward = name("Norm.forward"),
                    serve = name("serve.py"), model = name("model.py");
  json d, stack;
  for (std::int64_t at = 250'000, before = 0; at < 100'000'000; before = at, at += 500'000) {
    d.push_back(at - before);
    const std::int64_t inside = at % kStep;
    stack.push_back(inside > kernel_start(0, 5) + kKernel && inside < kernel_start(0, 6) ? 0 : 1);
  }
  detail["samples"] = {{"sampler", "python"},
                       {"every", 1},
                       {"in_all", d.size()},
                       {"function", {main, put, audit, forward}},
                       {"file", {serve, serve, serve, model}},
                       {"line", {3, 22, 10, 66}},
                       {"up", {0, 1, 1, 3}},
                       {"frame", {0, 1, 2, 3}},
                       {"node", {2, 3}},
                       {"named", {2, 3}},
                       {"threads", {{{"pid", 1}, {"tid", 973}, {"title", "python main thread 973"}, {"d", d}, {"stack", stack}}}}};
  detail["sample_period_ns"] = 500'000;
  detail["unit"] = 0;
  const std::size_t host = name("audit_tokens (serve.py:10), called by Book.put");
  detail["gaps"] = {{"stage", {0, 0}},
                    {"of_windows", {10, 10}},
                    {"kind", {0, 2}},
                    {"before", {kAddFull, -1}},
                    {"after", {kGemmFull, -1}},
                    {"at_edge", {0, 0}},
                    {"count", {40, 70}},
                    {"windows", {10, 10}},
                    {"mean", {2'976'000, 4'654'000}},
                    {"total", {29'760'000, 46'540'000}},
                    {"permille", {363, 568}},
                    {"samples", {20, 0}},
                    {"host_samples", {20, 0}},
                    {"host", {host, -1}}};
  return detail;
}

json explorer_facts() {
  json bins;
  for (const auto& [key, title, colour] :
       {std::tuple{"gpu_compute_ns", "GPU computes", "b-compute"}, std::tuple{"communication_ns", "communication", "b-communication"},
        std::tuple{"exposed_copy_ns", "copies", "b-copy"}, std::tuple{"queue_wait_ns", "queue wait", "b-queue"},
        std::tuple{"sync_blocked_ns", "sync-blocked", "b-sync"}, std::tuple{"launch_starved_ns", "launch-starved", "b-starved"},
        std::tuple{"other_host_ns", "other host", "b-host"}, std::tuple{"residual_ns", "residual", "b-residual"},
        std::tuple{"launch_latency_ns", "launch latency", "b-latency"}})
    bins.push_back({{"key", key}, {"title", title}, {"text", "what it means"}, {"colour", colour}});
  const json counters = {{{"title", "DRAM throughput"}, {"value", "77.9 %"}}};
  const json gemm = {{"id", "kernel-1"},     {"name", "void gemm_kernel<float, 128>(float*)"},     {"short", "gemm_kernel"},
                     {"counters", counters}, {"proof", "matched by mangled name, grid and block"}, {"note", nullptr}};
  return {
      {"kernels", {gemm}},
      {"bins", bins},
      {"trace_file", "trace.pftrace"},
      {"glossary",
       {{"launch-starved", "The GPU is idle and nothing is queued for it."}, {"MBU", "Memory bandwidth used."}, {"Total", "All of it."}}}};
}

json largest_detail() {
  json detail = explorer_detail();
  constexpr std::int64_t kSlices = 150'000, kEach = 1000, kBuckets = 4096, kAllSteps = 20'000, kSpan = 1'000'000'000'000;
  json calls = {{"lane", 1}}, kernels = {{"lane", 2}};
  for (std::int64_t i = 0; i < kSlices / 2; ++i) {
    calls["d"].push_back(kEach);
    calls["dur"].push_back(400 + i % 300);
    calls["name"].push_back(kLaunch);
    kernels["d"].push_back(kEach);
    kernels["dur"].push_back(500 + i % 400);
    kernels["kernel"].push_back(i % 2);
    kernels["launch"].push_back(i);
    kernels["operator"].push_back(0);
  }
  detail["windows"] = {
      {{"start", 0}, {"end", kSlices / 2 * kEach}, {"whole", false}, {"lanes", {calls, kernels}}, {"bins", json::array()}}};
  detail["end_ns"] = detail["start_ns"].get<std::int64_t>() + kSpan;
  json steps;
  for (std::int64_t i = 0; i < kAllSteps; ++i)
    for (const auto& [key, value] :
         {std::pair{"stage", std::int64_t{0}}, std::pair{"start", i * (kSpan / kAllSteps)}, std::pair{"wall", 40'000'000 + i % 977 * 1000},
          std::pair{"iteration", i / 100}, std::pair{"position", i % 100}, std::pair{"warmup", std::int64_t{0}},
          std::pair{"tokens", std::int64_t{1}}, std::pair{"window", std::int64_t{-1}}})
      steps[key].push_back(value);
  detail["steps"] = steps;
  json& overview = detail["overview"];
  overview["bucket_ns"] = kSpan / kBuckets + 1;
  overview["count"] = kBuckets;
  const std::vector<std::int64_t> busy(kBuckets, kSpan / kBuckets / 10);
  overview["busy"] = {busy};
  overview["bins"] = {std::vector<std::vector<std::int64_t>>(kBins, busy)};
  for (const char* sums : {"kernels", "operators"})
    for (auto& [key, column] : overview[sums].items())
      if (column.is_array()) column = std::vector<int>(kBuckets, key == "bucket" ? 1 : key == "kernel" || key == "operator" ? 0 : 100);
  for (const char* sums : {"kernels", "operators"}) overview[sums]["bucket"][0] = 0;
  for (auto& lane : overview["lanes"]) {
    lane.update({{"bucket", std::vector<int>(kBuckets, 1)},
                 {"busy", busy},
                 {"name", std::vector<int>(kBuckets, kGemm)},
                 {"slices", std::vector<int>(kBuckets, 40)}});
    lane["bucket"][0] = 0;
  }
  return detail;
}

std::filesystem::path explorer_page(const std::string& name, const json& detail, const json& facts) {
  std::string page = exporters::report_html(rich_run());
  if (page.find("<div class=\"explorer\"") == std::string::npos)
    page.insert(page.find("</h2>", page.find("<section id=\"timeline\"")) + 5, "<div class=\"explorer\" data-explorer></div>");
  if (page.find("id=\"kernel-1\"") == std::string::npos) {
    const std::size_t row = page.find("<tr>", page.find("<tbody>", page.find("<section id=\"kernels\"")));
    page.replace(row, 4, "<tr id=\"kernel-1\">");
  }
  replace_block(page, "detail-data", "application/gzip", exporters::base64(gzip(detail.dump())));
  replace_block(page, "page-data", "application/json", facts.dump());
  const std::filesystem::path folder = std::filesystem::path(NL_BUILD_ROOT) / "tests/browser/pages", file = folder / (name + ".html");
  std::filesystem::create_directories(folder);
  std::ofstream(file, std::ios::binary) << page;
  return file;
}

}  // namespace nl::test

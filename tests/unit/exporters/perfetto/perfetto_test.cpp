#include "exporters/perfetto/perfetto.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "parsers/nsys/sqlite.h"
#include "tests/catch.h"
#include "tests/unit/exporters/perfetto/small_trace.h"

namespace fs = std::filesystem;
using nl::test::call_at, nl::test::kernel_at, nl::test::small_trace;
using nlohmann::json;

namespace {

struct File {
  fs::path path = fs::temp_directory_path() / ("nl_perfetto_" + std::to_string(getpid()) + ".pftrace");
  ~File() { fs::remove(path); }
};

std::string decoder_output(const std::string& command) {
  std::string out;
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 4096> piece;
  for (std::size_t n; (n = fread(piece.data(), 1, piece.size(), pipe)) > 0;) out.append(piece.data(), n);
  CHECK(pclose(pipe) == 0);
  return out;
}

// What decode.py, which shares no code with the writer, makes of the file.
template <class Source>
json shown(const Source& source, nl::exporters::PerfettoSummary* summary = nullptr,
           const nl::exporters::PerfettoOptions* options = nullptr) {
  File file;
  std::ofstream out(file.path, std::ios::binary);
  const nl::exporters::PerfettoSink sink = [&](std::string_view piece) {
    out.write(piece.data(), static_cast<std::streamsize>(piece.size()));
  };
  nl::exporters::PerfettoSummary written;
  if constexpr (std::is_same_v<Source, nl::Trace>)
    written = nl::exporters::write_perfetto(source, sink, options != nullptr ? *options : nl::exporters::PerfettoOptions());
  else written = nl::exporters::write_perfetto(source, sink);
  out.close();
  if (summary != nullptr) *summary = written;
  json document = json::parse(decoder_output("python3 " NL_SOURCE_ROOT "/tests/unit/exporters/perfetto/decode.py " + file.path.string()));
  CHECK(document.at("errors") == json::array());
  return document;
}

struct Sum {
  std::uint64_t count = 0;
  std::int64_t total_ns = 0;
  friend bool operator==(const Sum&, const Sum&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Sum& sum) { return out << sum.count << " of " << sum.total_ns << " ns"; }
};

Sum sum_of(const json& document, const std::string& category) {
  Sum sum;
  for (const json& slice : document.at("slices")) {
    if (slice.at("category") != category) continue;
    ++sum.count;
    sum.total_ns += slice.at("duration").get<std::int64_t>();
  }
  return sum;
}

template <class Rows, class Length>
Sum sum_over(const Rows& rows, Length length) {
  Sum sum;
  for (const auto& row : rows) {
    ++sum.count;
    sum.total_ns += static_cast<std::int64_t>(length(row));
  }
  return sum;
}

std::string track_of(const json& document, const json& event) {
  return document.at("tracks").at(std::to_string(event.at("track").get<int>())).at("name");
}

const json& slice_named(const json& document, std::string_view name) {
  for (const json& slice : document.at("slices"))
    if (slice.at("name") == name) return slice;
  FAIL("no slice is named " << name);
  throw;
}

nl::Range range_of(nl::Trace& trace, const char* name, nl::Ns start_ns, nl::Ns end_ns, nl::RangeStyle style = nl::RangeStyle::kPushPop) {
  nl::Range range;
  range.name = trace.strings.intern(name);
  range.domain = trace.strings.intern("LLM");
  range.start_ns = start_ns;
  range.end_ns = end_ns;
  range.thread = 0;
  range.style = style;
  return range;
}

}  // namespace

TEST_CASE("everything of a real capture is in the Perfetto trace, to the nanosecond", "[perfetto]") {
  for (const char* file :
       {"h200-llama/nsys.sqlite", "h200-probe/probe_node.sqlite", "h200-probe/probe_graph.sqlite", "crafted/ranges.sqlite"}) {
    INFO(file);
    const nl::Trace trace = nl::parsers::read_nsys_sqlite(std::string(NL_FIXTURES "/") + file);
    nl::exporters::PerfettoSummary summary;
    const json document = shown(trace, &summary);
    CHECK(sum_of(document, "kernel") == sum_over(trace.kernels, [](const nl::Kernel& k) { return k.duration_ns; }));
    CHECK(sum_of(document, "api") == sum_over(trace.api_calls, [](const nl::ApiCall& c) { return c.duration_ns; }));
    CHECK(sum_of(document, "copy") == sum_over(trace.mem_ops, [](const nl::MemOp& m) { return m.end_ns - m.start_ns; }));
    CHECK(sum_of(document, "graph") == sum_over(trace.graph_runs, [](const nl::GraphRun& g) { return g.end_ns - g.start_ns; }));
    CHECK(sum_of(document, "range") == sum_over(trace.ranges, [](const nl::Range& r) { return r.end_ns - r.start_ns; }));
    CHECK(document.at("instants").size() == trace.marks.size());
    CHECK(summary.events == document.at("slices").size() + trace.marks.size());
    CHECK(summary.left_out + summary.crowded == 0);
    CHECK(summary.note.empty());
    if (trace.utc_start_ns) CHECK(document.at("realtime_ns") == *trace.utc_start_ns);
  }
}

TEST_CASE("an arrow leads from each launching call to the first work that it launched", "[perfetto]") {
  const nl::Trace trace = nl::parsers::read_nsys_sqlite(NL_FIXTURES "/h200-probe/probe_node.sqlite");
  std::set<std::uint32_t> calls;
  for (const auto& kernel : trace.kernels) calls.insert(kernel.api);
  for (const auto& op : trace.mem_ops) calls.insert(op.api);
  calls.erase(nl::kNone);
  const json document = shown(trace);
  CHECK(document.at("flows").size() == calls.size());
  for (const json& flow : document.at("flows")) {
    const json &from = document.at("slices").at(flow[0].get<std::size_t>()), &to = document.at("slices").at(flow[1].get<std::size_t>());
    CHECK(from.at("category") == "api");
    CHECK(from.at("start").get<nl::Ns>() <= to.at("start").get<nl::Ns>());
  }
}

TEST_CASE("copied bytes add up", "[perfetto]") {
  const nl::Trace trace = nl::parsers::read_nsys_sqlite(NL_FIXTURES "/h200-llama/nsys.sqlite");
  std::uint64_t to_device = 0;
  for (const auto& op : trace.mem_ops)
    if (op.kind == nl::MemOpKind::kHostToDevice) to_device += op.bytes;
  const json document = shown(trace);
  bool found = false;
  for (const auto& [track, values] : document.at("counters").items()) {
    const json& about = document.at("tracks").at(track);
    CHECK(about.at("kind") == "counter");
    if (about.at("name") != "bytes copied to the device") continue;
    found = true;
    CHECK(values.back().at(1) == to_device);
  }
  CHECK(found);
}

TEST_CASE("the mean of the work in flight gives back the GPU's time", "[perfetto]") {
  nl::Trace trace = small_trace();
  trace.duration_ns = 4096000;  // 4,096 steps of 1,001 ns
  trace.kernels = {kernel_at(0, 500500), kernel_at(2002000, 1001)};
  const json document = shown(trace);
  double busy_ns = 0, last = 0;
  nl::Ns since = 0;
  const json values = document.at("counters").begin().value();
  for (const json& value : values) {
    busy_ns += last * static_cast<double>(value[0].get<nl::Ns>() - since);
    since = value[0];
    last = value[1];
  }
  CHECK(last == 0);
  CHECK(busy_ns == Approx(500500 + 1001).epsilon(1e-12));  // sums of doubles
}

TEST_CASE("a kernel carries how it was launched", "[perfetto]") {
  nl::Trace trace = small_trace();
  trace.api_calls = {call_at(trace, 100, 50, 77)};
  trace.kernels = {kernel_at(200, 300, 0)};
  const json document = shown(trace);
  const json& kernel = slice_named(document, "gemm");
  CHECK(kernel.at("args") == json({{"kernel", "void gemm<float>(float*)"},
                                   {"grid", "8 x 12 x 1"},
                                   {"block", "384 x 1 x 1"},
                                   {"registers", 168},
                                   {"correlation", 77}}));
  CHECK(kernel.at("start") == 200);
  CHECK(kernel.at("duration") == 300);
  CHECK(track_of(document, kernel) == "GPU 0 · stream 7 (python3 100)");
  CHECK(document.at("flows").size() == 1);
}

TEST_CASE("slices of a track lie inside one another, whatever the capture says", "[perfetto]") {
  nl::Trace trace = small_trace();
  trace.ranges = {range_of(trace, "inner", 1000, 2000),
                  range_of(trace, "outer", 1000, 5000),
                  range_of(trace, "sticks out", 4000, 6000),
                  range_of(trace, "empty", 3000, 3000),
                  range_of(trace, "backwards", 3500, 3400),
                  range_of(trace, "after", 5000, 5500),
                  range_of(trace, "a", 1000, 3000, nl::RangeStyle::kStartEnd),
                  range_of(trace, "b", 2000, 4000, nl::RangeStyle::kStartEnd)};
  trace.kernels = {kernel_at(500, 300), kernel_at(100, 500), kernel_at(600, 100)};  // out of order, and overlapping on one stream
  const json document = shown(trace);
  CHECK(slice_named(document, "inner").at("depth") == 1);
  CHECK(slice_named(document, "empty").at("duration") == 0);
  CHECK(slice_named(document, "backwards").at("duration") == 0);
  CHECK(track_of(document, slice_named(document, "outer")) == "NVTX LLM");
  CHECK(track_of(document, slice_named(document, "after")) == "NVTX LLM");
  CHECK(track_of(document, slice_named(document, "sticks out")) == "NVTX LLM 2");
  CHECK(track_of(document, slice_named(document, "a")) == "NVTX LLM (start/end)");
  CHECK(track_of(document, slice_named(document, "b")) == "NVTX LLM (start/end) 2");
  CHECK(sum_of(document, "kernel") == Sum{3, 900});
}

TEST_CASE("ranges that never closed, or that another thread closed, say so", "[perfetto]") {
  nl::Trace trace = small_trace();
  trace.ranges = {range_of(trace, "open", 1000, 10000), range_of(trace, "handed over", 2000, 3000, nl::RangeStyle::kStartEnd)};
  trace.ranges[0].open = true;
  trace.ranges[0].payload = -5;
  trace.ranges[1].end_thread = 1;
  const json document = shown(trace);
  CHECK(slice_named(document, "open").at("args") == json({{"never_closed", 1}, {"payload", -5}}));
  CHECK(slice_named(document, "handed over").at("args") == json({{"ended_by_thread", 102}}));
}

TEST_CASE("a damaged trace does no harm", "[perfetto]") {
  CHECK(shown(nl::Trace()).at("slices").empty());
  nl::Trace trace = small_trace();
  trace.threads[0].process = nl::kNone;
  trace.threads[1].tid = 0;
  trace.processes[0].pid = 0;
  trace.ranges = {range_of(trace, "not \xff\xfe UTF-8 \xe2\x82", -500, 1000), range_of(trace, "no thread", 10, 20)};
  trace.ranges[1].thread = nl::kNone;
  trace.api_calls = {call_at(trace, 900, 50, 1)};
  trace.kernels = {kernel_at(200, 300, 0), kernel_at(600, 100, 4000), kernel_at(700, 100)};  // before its launch; an unknown launch; none
  trace.kernels[2].shape = nl::kNone;
  trace.mem_ops.resize(1);  // on no queue
  nl::Mark mark;
  mark.name = trace.strings.intern("");
  trace.marks = {mark};
  const json document = shown(trace);
  CHECK(document.at("flows").empty());
  CHECK(sum_of(document, "kernel") == Sum{3, 500});
  CHECK(slice_named(document, "not \xEF\xBF\xBD\xEF\xBF\xBD UTF-8 \xEF\xBF\xBD\xEF\xBF\xBD").at("start") == 0);
}

TEST_CASE("a giant trace is cut around the measured window, and says so", "[perfetto]") {
  nl::Trace trace = small_trace();
  trace.duration_ns = 10'000'000;
  for (nl::Ns i = 0; i < 10000; ++i) {
    trace.api_calls.push_back(call_at(trace, i * 1000, 100, static_cast<std::uint32_t>(i)));
    trace.kernels.push_back(kernel_at(i * 1000 + 200, 300, static_cast<std::uint32_t>(i)));
  }
  trace.ranges = {range_of(trace, "all of it", 0, 10'000'000)};
  nl::exporters::PerfettoOptions options;
  options.max_events = 5000;
  options.focus_start_ns = 4'000'000;
  options.focus_end_ns = 5'000'000;
  nl::exporters::PerfettoSummary summary;
  const json document = shown(trace, &summary, &options);
  CHECK(summary.events <= 5000 + 3);  // the enclosing range begins outside, and two rows straddle the edges
  CHECK(summary.events > 4900);
  CHECK(summary.events + summary.left_out == 20001);
  CHECK(summary.note.find("of 20001 events") != std::string::npos);
  bool first = false, last = false;
  for (const json& slice : document.at("slices")) {
    first |= slice.at("start") == 4'000'200;
    last |= slice.at("start") == 4'999'200;
  }
  CHECK(first);
  CHECK(last);
  CHECK(document.at("instants").size() == 2);
  slice_named(document, "all of it");
}

TEST_CASE("iterations, findings and power get tracks of their own", "[perfetto]") {
  nl::Trace trace = small_trace();
  trace.utc_start_ns = 1'700'000'000'000'000'000;
  trace.kernels = {kernel_at(0, 10)};
  nl::Run run;
  run.iterations.list.resize(2);
  run.iterations.list[0].start_ns = 100;
  run.iterations.list[0].wall_ns = 400;
  run.iterations.list[0].warmup = true;
  run.iterations.list[1].start_ns = 600;
  run.iterations.list[1].wall_ns = 400;
  auto& finding = run.findings.emplace_back();
  finding.rule = "launch_bound_decode";
  auto& evidence = finding.evidence.emplace_back();
  evidence.text = "the GPU waits";
  evidence.window_start_ns = 650;
  evidence.window_end_ns = 700;
  std::vector<nl::PowerSample> power(2);
  power[0].utc_ns = *trace.utc_start_ns + 500;
  power[0].power_w = 512.5;
  power[1].utc_ns = *trace.utc_start_ns - 500;  // before the capture
  power[1].power_w = 80;
  nl::exporters::PerfettoOptions options;
  options.run = &run;
  options.power = &power;
  const json document = shown(trace, nullptr, &options);
  CHECK(slice_named(document, "iteration 1 (warm-up)").at("duration") == 400);
  CHECK(slice_named(document, "launch_bound_decode").at("args") == json({{"text", "the GPU waits"}}));
  bool found = false;
  for (const auto& [track, values] : document.at("counters").items()) {
    if (document.at("tracks").at(track).at("name") != "GPU 0 power") continue;
    found = true;
    CHECK(values == json::array({{500, 512.5}}));
  }
  CHECK(found);
  nl::exporters::focus_on_measured(run, options);
  CHECK(options.focus_start_ns == 600);
  CHECK(options.focus_end_ns == 1000);
  run.iterations.list.push_back({550, 10, false, {}, 0, 0});
  run.iterations.list.push_back({700, 900, false, {}, 0, 0});
  run.iterations.list.push_back({800, 10, false, {}, 0, 0});
  nl::exporters::focus_on_measured(run, options);
  CHECK(options.focus_start_ns == 550);
  CHECK(options.focus_end_ns == 1600);
}

TEST_CASE("a slice that begins after its neighbour inside another has ended stays on their track", "[perfetto]") {
  nl::Trace trace = small_trace();
  trace.queues = {{0, 0, 1, 7}, {0, 0, 2, 7}, {0, 0, 2, 8}};
  trace.ranges = {range_of(trace, "outer", 0, 1000), range_of(trace, "middle", 100, 500), range_of(trace, "inner", 200, 300),
                  range_of(trace, "later", 350, 450), range_of(trace, "lost", 10, 20)};
  trace.ranges[4].thread = nl::kNone;
  for (const std::uint32_t queue : {0, 1, 2}) {
    trace.kernels.push_back(kernel_at(100 + queue, 10));
    trace.kernels.back().queue = queue;
  }
  const json document = shown(trace);
  CHECK(slice_named(document, "later").at("depth") == 2);
  CHECK(track_of(document, slice_named(document, "later")) == "NVTX LLM");
  const auto kernel_track = [&](int start) {
    for (const json& slice : document.at("slices"))
      if (slice.at("category") == "kernel" && slice.at("start") == start) return track_of(document, slice);
    return std::string();
  };
  CHECK(kernel_track(100) == "GPU 0 · stream 7 of context 1 (python3 100)");
  CHECK(kernel_track(101) == "GPU 0 · stream 7 of context 2 (python3 100)");
  CHECK(kernel_track(102) == "GPU 0 · stream 8 (python3 100)");
  const json& parent = document.at("tracks").at(std::to_string(slice_named(document, "lost").at("track").get<int>())).at("parent");
  CHECK(document.at("tracks").at(std::to_string(parent.get<int>())).at("name") == "unknown thread");
}

TEST_CASE("no more than thirty-two slices of a track overlap, and the rest is counted", "[perfetto]") {
  nl::Trace trace = small_trace();
  for (nl::Ns i = 0; i < 34; ++i) trace.kernels.push_back(kernel_at(i, 1000));  // each sticks out of the one before
  nl::exporters::PerfettoSummary summary;
  const json document = shown(trace, &summary);
  CHECK(sum_of(document, "kernel") == Sum{32, 32000});
  CHECK(summary.crowded == 2);
  CHECK(summary.left_out == 0);
  CHECK(summary.note == "2 events are not shown: too many overlap on their track");
  CHECK(track_of(document, document.at("slices").at(31)) == "GPU 0 · stream 7 (python3 100) 32");
}

TEST_CASE("sampled metrics are counters of their GPU, in units that do not depend on the sample's length", "[perfetto]") {
  nl::Trace trace = small_trace();
  trace.kernels = {kernel_at(0, 10)};
  const float nan = std::numeric_limits<float>::quiet_NaN();
  nl::MetricSeries& series = trace.metric_series.emplace_back();
  series.metrics = {"sm__cycles_active.avg.pct_of_peak_sustained_elapsed", "dram__bytes_read.sum"};
  series.start_ns = {1000, 2000, 3000};
  series.duration_ns = {1000, 1000, 500};
  series.values = {12.5f, 4096, nan, 2048, 50, 1024};
  trace.metric_series.push_back(series);
  trace.metric_series[1].device = 1;        // on which nothing ran
  trace.metric_series[1].values.resize(3);  // cut off
  nl::exporters::PerfettoSummary summary;
  const json document = shown(trace, &summary);
  std::map<std::string, json> found;
  for (const auto& [track, values] : document.at("counters").items()) {
    const json& about = document.at("tracks").at(track);
    const json& parent = document.at("tracks").at(std::to_string(about.at("parent").get<int>()));
    found[parent.at("name").get<std::string>() + "/" + about.at("name").get<std::string>() + "/" + about.at("unit").dump()] = values;
  }
  const std::string sm = "sm__cycles_active.avg.pct_of_peak_sustained_elapsed/\"%\"", dram = "dram__bytes_read.sum.per_second/\"bytes/s\"";
  CHECK(found["GPU 0 · NVIDIA H200/" + sm] == json::array({{1000, 12.5}, {3000, 50.0}}));
  CHECK(found["GPU 0 · NVIDIA H200/" + dram] == json::array({{1000, 4.096e9}, {2000, 2.048e9}, {3000, 2.048e9}}));
  CHECK(found["GPU 1/" + sm] == json::array({{1000, 12.5}}));
  CHECK(found["GPU 1/" + dram] == json::array({{1000, 4.096e9}}));
  CHECK(summary.note.empty());
  CHECK(summary.events == 1);  // of slices
}

TEST_CASE("too many samples are joined to means, and that is said", "[perfetto]") {
  nl::Trace trace = small_trace();
  nl::MetricSeries& series = trace.metric_series.emplace_back();
  series.metrics = {"sm__warps_active.avg.pct_of_peak_sustained_active"};
  for (int i = 0; i < 10; ++i) {
    series.start_ns.push_back(i * 1000);
    series.duration_ns.push_back(1000);
    series.values.push_back(static_cast<float>(i));
  }
  nl::exporters::PerfettoOptions options;
  options.max_events = 4;  // ten values: three to each
  nl::exporters::PerfettoSummary summary;
  const json document = shown(trace, &summary, &options);
  REQUIRE(document.at("counters").size() == 1);
  CHECK(document.at("counters").begin().value() == json::array({{0, 1.0}, {3000, 4.0}, {6000, 7.0}, {9000, 9.0}}));
  CHECK(summary.note == "sampled metrics: each value is the mean of 3 samples");
  options.max_events = 0;
  CHECK(shown(trace, &summary, &options).at("counters").begin().value().size() == 10);
  CHECK(summary.note.empty());
}

TEST_CASE("the timeline of a run.json is shown where there is nothing else", "[perfetto]") {
  nl::Timeline timeline;
  timeline.what = "iteration 2 of 2";
  timeline.names = {"decode", "gemm"};
  timeline.lanes = {{nl::LaneKind::kRanges, "thread 101", {{0, 1000, 0, 1}}},
                    {nl::LaneKind::kGpu, "GPU 0 stream 7", {{100, 50, 1, 1}, {200, 400, 1, 12}}}};
  nl::exporters::PerfettoSummary summary;
  const json document = shown(timeline, &summary);
  CHECK(summary.note == "only iteration 2 of 2, from run.json");
  CHECK(sum_of(document, "kernel") == Sum{2, 450});
  CHECK(track_of(document, slice_named(document, "gemm")) == "GPU 0 stream 7 · gpu");
  CHECK(document.at("slices").back().at("args") == json({{"merged", 12}}));
}

// Perfetto's own trace processor, where one is named: NL_STAGE_TEST_TRACE_PROCESSOR=/path/to/trace_processor_shell
TEST_CASE("Perfetto's own trace processor finds what is in the capture, and nothing wrong", "[perfetto]") {
  const char* processor = std::getenv("NL_STAGE_TEST_TRACE_PROCESSOR");
  if (processor == nullptr) NL_SKIP("NL_STAGE_TEST_TRACE_PROCESSOR names no trace processor");
  for (const char* name : {"h200-llama/nsys.sqlite", "h200-probe/probe_node.sqlite", "crafted/ranges.sqlite"}) {
    INFO(name);
    const nl::Trace trace = nl::parsers::read_nsys_sqlite(std::string(NL_FIXTURES "/") + name);
    File file, query;
    query.path += ".sql";
    std::ofstream out(file.path, std::ios::binary);
    nl::exporters::write_perfetto(trace,
                                  [&](std::string_view piece) { out.write(piece.data(), static_cast<std::streamsize>(piece.size())); });
    out.close();
    std::ofstream(query.path)
        << "select category || ' ' || count(*) || ' ' || sum(dur) || ' ' || min(dur) as line from slice where dur > 0 or category != "
           "'mark' "
           "group by category union all select 'flow ' || count(*) from flow "
           "union all select 'fault ' || name || ' ' || value from stats where value > 0 and severity in ('error', 'data_loss');";
    const std::string answer =
        decoder_output(std::string(processor) + " -q " + query.path.string() + " " + file.path.string() + " 2>/dev/null");
    INFO(answer);
    CHECK(answer.find("fault") == std::string::npos);
    const auto says = [&](const char* category, const Sum& sum) {
      if (sum.count == 0) return;
      INFO(category);
      CHECK(answer.find(std::string(category) + ' ' + std::to_string(sum.count) + ' ' + std::to_string(sum.total_ns)) != std::string::npos);
    };
    says("kernel", sum_over(trace.kernels, [](const nl::Kernel& k) { return k.duration_ns; }));
    says("api", sum_over(trace.api_calls, [](const nl::ApiCall& c) { return c.duration_ns; }));
    says("copy", sum_over(trace.mem_ops, [](const nl::MemOp& m) { return m.end_ns - m.start_ns; }));
    says("range", sum_over(trace.ranges, [](const nl::Range& r) { return r.end_ns - r.start_ns; }));
  }
}

// What `nl-stage import` reads, and what a run leaves for its own analysis.
#include <fstream>

#include "analysis/collectives/flight_report.h"
#include "analysis/collectives/speeds.h"
#include "parsers/collector/trace.h"
#include "parsers/facts/facts.h"
#include "parsers/flight_recorder/dump.h"
#include "parsers/inspector/inspector.h"
#include "parsers/nsys/sqlite.h"
#include "parsers/registry.h"
#include "parsers/stacks/stacks.h"
#include "parsers/trtexec/json.h"
#include "tests/fuzz/input_files.h"
#include "tests/fuzz/readers.h"
#include "tests/unit/parsers/columns/column_files.h"

namespace nl::fuzz::read {
namespace {

void as_format(std::string_view name, const std::filesystem::path& file) {
  for (const parsers::Format* format : parsers::formats()) {
    if (format->name != name) continue;
    format->is_own(parsers::FileHead(file));
    format->read({file});
  }
}

}  // namespace

void nsys(std::string_view bytes) { as_format("nsys", as_database(bytes)); }
// As one table of a folder, and by itself.
void columns(std::string_view bytes) {
  const bool is_parquet = bytes.starts_with("PAR1");
  test::read_all(as_file(bytes, is_parquet ? "input.parquet" : "input.arrow"));
  const auto file = as_file(bytes, is_parquet ? "NVTX_EVENTS.parquet" : "NVTX_EVENTS.arrow");
  parsers::read_nsys_sqlite(file.parent_path());
}

void ncu(std::string_view bytes) { as_format("ncu", as_file(bytes)); }
void kineto(std::string_view bytes) { as_format("kineto", as_file(bytes)); }
void ort(std::string_view bytes) { as_format("ort", as_file(bytes)); }

void trtexec(std::string_view bytes) {
  const auto file = as_file(bytes);
  const auto profile = file.parent_path() / "profile.json";
  std::ofstream(profile) << R"([{"count": 2}, {"name": "conv", "timeMs": 1.5, "averageMs": 0.75, "percentage": 100}])";
  parsers::FileHead head(file);
  if (head.json_opening() == '{') parsers::read_trtexec(profile, file);
  else as_format("trtexec", file);
}

void collector(std::string_view bytes) {
  const parsers::Files files = {as_file(bytes, "1.nltrace")};
  parsers::process_name_of(files[0]);
  parsers::gpu_half_recorded(files);
  parsers::read_collector_traces(files, parsers::CallRows::kAll);
  parsers::read_collector_traces(files);
  parsers::read_collector_launches(files);
  parsers::read_collector_counters(files);
}

// Once placed by the trace's own clock, once by marks.
void stacks(std::string_view bytes) {
  const auto file = as_file(bytes, "stacks-1.txt");
  Trace trace;
  trace.processes.push_back({.pid = 1, .name = "python"});
  trace.threads.push_back({.process = 0, .tid = 1, .name = {}});
  trace.monotonic_start_ns = 1'000'000;
  parsers::join_stacks({file}, trace);
  for (const Ns time_ns : {1'000'000, 2'000'000, 2'000'500}) {
    const StringId name = trace.strings.intern("monotonic_ns=" + std::to_string(time_ns)), domain = trace.strings.intern("LLM.clock");
    trace.marks.push_back({.time_ns = time_ns + 7, .name = name, .domain = domain, .thread = 0});
  }
  parsers::join_stacks({file}, trace);
}

void facts(std::string_view bytes) {
  parsers::read_facts(as_file(bytes, "facts-1.json").parent_path());
  parsers::read_dtypes(as_file(bytes, "dtypes-1.json").parent_path());
}

void flight_dump(std::string_view bytes) {
  const auto file = as_file(bytes, "nccl_trace_rank_1");
  parsers::is_flight_dump(parsers::FileHead(file));
  std::vector<FlightDump> dumps(2, parsers::read_flight_dump(file));
  dumps[1].rank = 1;
  analysis::collectives::flight_report(dumps);
}

void inspector(std::string_view bytes) {
  const auto file = as_file(bytes, "node0-pid1.log");
  parsers::is_inspector_file(parsers::FileHead(file));
  analysis::collectives::collective_speeds(std::vector(2, parsers::read_inspector(file)));
}

}  // namespace nl::fuzz::read

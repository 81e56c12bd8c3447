// A small capture with everything a Perfetto trace shows, as decode.py reads it back, line by line.
#include <cstdlib>

#include <fmt/format.h>

#include "exporters/perfetto/perfetto.h"
#include "parsers/collector/trace.h"
#include "tests/catch.h"
#include "tests/unit/files.h"
#include "tests/unit/golden.h"
#include "tests/unit/parsers/collector/made_capture.h"

using namespace nl;

namespace {

// An iteration of warm-up and one that is measured, and findings of which one lies inside another.
Run perfetto_run() {
  Run run;
  for (const Ns start_ns : {100, 700}) {
    auto& iteration = run.iterations.list.emplace_back();
    iteration.start_ns = start_ns;
    iteration.wall_ns = 500 + start_ns;
    iteration.warmup = start_ns == 100;
  }
  const auto add = [&](const char* rule, const char* text, std::optional<Ns> start_ns, std::optional<Ns> end_ns) {
    auto& finding = run.findings.emplace_back();
    finding.rule = rule;
    auto& evidence = finding.evidence.emplace_back();
    evidence.text = text;
    evidence.window_start_ns = start_ns;
    evidence.window_end_ns = end_ns;
  };
  add("inner", "in the outer one", 800, 900);
  add("outer", "first of all", 800, 1000);
  add("half", "without an end", 850, std::nullopt);
  return run;
}

std::vector<PowerSample> perfetto_power(Ns utc_start_ns) {
  std::vector<PowerSample> samples(3);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double number = static_cast<double>(i);
    samples[i].device = i == 2 ? 1 : 0;
    samples[i].utc_ns = utc_start_ns + 300 * static_cast<Ns>(i);
    samples[i].power_w = 500 + number;
    samples[i].sm_clock_mhz = 1900 + number;
    samples[i].memory_clock_mhz = 3200 + number;
    if (i != 1) samples[i].temperature_c = 40 + number;
  }
  return samples;
}

std::string decoded(const Trace& trace, const exporters::PerfettoOptions& options, const test::Folder& folder) {
  std::string bytes;
  const auto summary = exporters::write_perfetto(trace, [&](std::string_view piece) { bytes += piece; }, options);
  const auto file = folder.file("made.pftrace", bytes);
  const std::string command = fmt::format(
      "python3 {0}/tests/unit/exporters/perfetto/decode.py {1} | python3 -c 'import json, sys\n"
      "for key, part in json.load(sys.stdin).items():\n"
      "  rows = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else [(\"\", part)]\n"
      "  for number, row in rows: print(key, number, json.dumps(row, sort_keys=True, ensure_ascii=False))' > {1}.txt",
      NL_SOURCE_ROOT, file.string());
  REQUIRE(std::system(command.c_str()) == 0);
  return fmt::format("{} events, {} crowded, {} left out: {}\n", summary.events, summary.crowded, summary.left_out, summary.note) +
         test::read_text(file.string() + ".txt");
}

}  // namespace

TEST_CASE("a made capture is shown in Perfetto as the golden lines say", "[golden][perfetto]") {
  const test::Folder folder;
  const Trace trace = parsers::read_collector_traces(test::write_made_capture(folder), parsers::CallRows::kAll);
  const Run run = perfetto_run();
  const std::vector<PowerSample> power = perfetto_power(*trace.utc_start_ns);
  exporters::PerfettoOptions options;
  options.run = &run;
  options.power = &power;
  test::check_golden(test::kGolden + "perfetto_made.txt", decoded(trace, options, folder));
  options.max_events = 12;
  exporters::focus_on_measured(run, options);
  CHECK(options.focus_start_ns == 700);
  CHECK(options.focus_end_ns == 700 + 1200);
  test::check_golden(test::kGolden + "perfetto_cut.txt", decoded(trace, options, folder));
}

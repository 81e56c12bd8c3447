#include <fmt/format.h>

#include <optional>

#include "analysis/load/report.h"
#include "cli/exit_status.h"
#include "cli/load_flags.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "exporters/load/load.h"
#include "exporters/load/records.h"
#include "exporters/report/text/figure_text.h"
#include "load/results.h"
#include "model/error_code.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/process/activity.h"
#include "orchestrator/process/interrupts.h"

namespace nl::cli {
namespace {

void print_reports(const LoadFlags& flags, const std::vector<LoadReport>& reports) {
  if (flags.json) write_data(exporters::load_json(reports, flags.out));
  else write_text(is_terminal(stdout) ? exporters::load_text(reports, line_width()) : exporters::load_markdown(reports));
}

void write_records(orchestrator::WholeFile& file, const LoadRun& run) {
  exporters::write_load_records(run, [&](std::string_view piece) { file.append(piece); });
  file.commit();
}

int print_results(const LoadFlags& flags) {
  std::vector<LoadRun> runs;
  for (const std::string& file : flags.from)
    for (LoadRun& run : load::read_results(file)) runs.push_back(std::move(run));
  if (!flags.out.empty() && runs.size() != 1)
    throw CodedError(ErrorCode::kConflictingFlags, fmt::format("the files have {} loads, and --out takes one", runs.size()), "--out",
                     "give one file, or leave out --out");
  std::vector<LoadReport> reports;
  for (const LoadRun& run : runs) reports.push_back(analysis::load_report(run, load_limits(flags.limits)));
  if (!flags.out.empty()) {
    orchestrator::WholeFile file(flags.out);
    write_records(file, runs.front());
  }
  print_reports(flags, reports);
  return 0;
}

int send_load(const LoadFlags& flags) {
  const LoadLimits limits = load_limits(flags.limits);
  const orchestrator::Interrupts interrupts;
  const load::LoadPlan plan = load_plan(flags);
  std::optional<orchestrator::WholeFile> file;
  if (!flags.out.empty()) file.emplace(flags.out);  // it can be written, or nothing is sent
  const auto asked = [] {
    orchestrator::Interrupts::drain();
    return orchestrator::Interrupts::signal() != 0;
  };
  std::optional<orchestrator::Activity> sending("sending requests to " + plan.target.url);
  const LoadRun run = load::generate_load(plan, {orchestrator::Interrupts::wake_fd(), asked});
  sending.reset();
  if (file) write_records(*file, run);
  const LoadReport report = analysis::load_report(run, limits);
  print_reports(flags, {report});
  if (const int signal = orchestrator::Interrupts::signal(); signal != 0) return exit_status_of(std::nullopt, signal);
  return report.answered > 0 ? 0 : exit_status_of(ErrorKind::kWorkload);
}

int run_verb(const LoadFlags& flags) {
  if (flags.from.empty() == flags.url.empty())
    throw CodedError(ErrorCode::kMissingArgument, "load takes a server, or results with --from", "nl-stage load",
                     "nl-stage load http://127.0.0.1:8000 --rate 4, or nl-stage load --from FILE");
  return flags.from.empty() ? send_load(flags) : print_results(flags);
}

}  // namespace

void add_load(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<LoadFlags>();
  CLI::App* verb = app.add_subcommand("load", "Send load to a server of this machine, or read what a load generator measured");
  add_load_flags(*verb, *flags);
  verb->footer(
      "Requests go to an OpenAI-compatible server, and every answer is streamed. An open loop (--rate, --replay) sends each request when "
      "it is\n"
      "due; a closed one (--concurrency) waits for answers. TTFT, TPOT, ITL, end-to-end time and goodput are printed with their "
      "definitions, and\n"
      "the same requests by the definitions of vLLM, aiperf, GuideLLM and inference-perf (docs/load.md).\n"
      "It ends with 0 where a request was answered, with 5 where none was, with 2 where the address is not of this machine, with 3 where a "
      "file\n"
      "cannot be read, with 8 where one cannot be written, and with 130 after Ctrl-C, which keeps the requests until then.\n"
      "Examples:\n"
      "  nl-stage load http://127.0.0.1:8000 --rate 4 --requests 200 --out load.json\n"
      "  nl-stage load http://127.0.0.1:8000 --rate 8 --arrivals gamma --burstiness 0.5 --seconds 60 --slo ttft=200ms,itl=30ms\n"
      "  nl-stage load unix:/run/llm.sock --concurrency 8 --endpoint chat --prompt-tokens 128..1024\n"
      "  nl-stage load http://127.0.0.1:8000 --replay trace.jsonl\n"
      "  nl-stage load --from load.json --from vllm.json --json");
  verb->callback([flags, &action] { action = [flags] { return run_verb(*flags); }; });
}

}  // namespace nl::cli

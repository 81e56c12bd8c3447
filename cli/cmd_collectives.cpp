#include "cli/exit_status.h"
#include "cli/json_output.h"
#include "cli/print_result.h"
#include "cli/verbs.h"
#include "exporters/collectives/collectives.h"
#include "orchestrator/collectives.h"

namespace nl::cli {
namespace {

struct CollectivesFlags {
  std::vector<std::string> files;
  bool exit_code = false, json = false;
};

// That of the first file that was skipped; else, where it is asked for, whether the job waits.
int status_of(const CollectivesFlags& flags, const CollectiveReport& report) {
  if (!report.skipped.empty()) return exit_status_of(report.skipped.front().kind);
  const bool waits = report.flight && report.flight->verdict != FlightVerdict::kNothingWaits;
  return flags.exit_code && waits ? kNotMetStatus : 0;
}

void print_json(const CollectiveReport& report, int status) {
  nlohmann::ordered_json json = exporters::collectives_json(report);
  auto skipped = nlohmann::ordered_json::array();
  for (const CodedError& fault : report.skipped) skipped.push_back(error_json(fault));
  json.update({{"skipped", skipped}, {"exit_status", status}});
  write_json(json);
}

int print_collectives(const CollectivesFlags& flags) {
  const CollectiveReport report = orchestrator::read_collectives({flags.files.begin(), flags.files.end()});
  const int status = status_of(flags, report);
  if (flags.json) {
    print_json(report, status);
    return status;
  }
  write_text(is_terminal(stdout) ? exporters::collectives_text(report, line_width()) : exporters::collectives_markdown(report));
  finish_output();
  for (const CodedError& fault : report.skipped) print_error(fault);
  return status;
}

}  // namespace

void add_collectives(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<CollectivesFlags>();
  CLI::App* verb = app.add_subcommand(
      "collectives",
      "Say which rank a hung job waits for, and how long collectives took, from PyTorch's flight recorder and NCCL Inspector");
  verb->add_option("files", flags->files,
                   "dumps of PyTorch's flight recorder (pickle or JSON, one of each rank), files of NCCL Inspector, or folders of them")
      ->required()
      ->type_name("FILE");
  verb->add_flag("--exit-code", flags->exit_code, "end with 9 where ranks wait or called different things");
  verb->add_flag(
      "--json", flags->json,
      "print {flight: {verdict, ranks, missing_ranks, waited_for, groups, peers …}, inspector: {collectives …}, skipped, exit_status}");
  verb->footer(
      "A dump has its rank in its name: nccl_trace_rank_3. Nothing in a pickle is ever run: one that would build an object is refused.\n"
      "A file that is damaged is named and skipped where there are several, and the exit status is 3. It is 3, too, where two dumps are "
      "of\n"
      "one rank, or the dumps are not of one job.\n"
      "Examples:\n"
      "  nl-stage collectives /tmp/nccl_trace_rank_*\n"
      "  nl-stage collectives dumps/\n"
      "  nl-stage collectives nccl-inspector-4711/ --json\n"
      "  nl-stage collectives dumps/ --exit-code");
  verb->callback([flags, &action] { action = [flags] { return print_collectives(*flags); }; });
}

}  // namespace nl::cli

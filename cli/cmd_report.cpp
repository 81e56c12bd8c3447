#include "cli/json_output.h"
#include "cli/ledger_flags.h"
#include "cli/verbs.h"
#include "orchestrator/report.h"
#include "runs/ledger/find_run.h"

namespace nl::cli {
namespace {

struct ReportFlags {
  std::string run, out, ledger;
  std::vector<std::string> rules;
  bool json = false;
};

void print_json(const orchestrator::ReportResult& result) {
  nlohmann::ordered_json out;
  out["run_id"] = result.run.run_id;
  out["folder"] = result.folder.string();
  out["files"] = result.files;
  out["findings"] = result.run.findings.size();
  out["notes"] = result.notes;
  write_json(out);
}

int report(const ReportFlags& flags) {
  const orchestrator::ReportResult result = orchestrator::report_bundle({runs::place_of(flags.run, flags.ledger), flags.rules, flags.out});
  if (flags.json) {
    print_json(result);
  } else {
    for (const auto& file : result.files) write_out("{}\n", (result.folder / file).string());
    for (const auto& note : result.notes) write_out("note: {}\n", note);
  }
  std::fflush(stdout);
  return 0;
}

}  // namespace

void add_report(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<ReportFlags>();
  CLI::App* verb = app.add_subcommand("report", "Render the reports of a bundle again, from run.json alone");
  verb->add_option("run", flags->run, kRunHelp)->type_name("RUN")->required();
  verb->add_option("--rules", flags->rules, "make the findings again, by the shipped rules and this file; repeatable")
      ->allow_extra_args(false)
      ->type_name("FILE");
  verb->add_option("--out", flags->out, "write into this folder, new or empty, instead of the bundle")->type_name("DIR");
  add_ledger_flag(*verb, flags->ledger);
  verb->add_flag("--json", flags->json, "print {run_id, folder, files, findings, notes} on stdout");
  verb->footer(
      "Writes report.md, report.html, stakeholder_summary.md, operators.md and kernels.md, and updates manifest.json; with\n"
      "--rules also run.json. Where the host was sampled it writes host_stacks.folded. It needs no captures and no NVIDIA\n"
      "tools. Where the bundle has no trace.pftrace, timeline.pftrace shows the one iteration of run.json.\n"
      "Examples:\n"
      "  nl-stage report artifacts/runs/20250101-120000-llama-deep\n"
      "  nl-stage report last\n"
      "  nl-stage report run.json --out rendered\n"
      "  nl-stage report bundle --rules my_rules.yaml --json\n\n"
      "The exit status is 3 if run.json is missing, damaged or newer than this nl-stage, 2 if a rule file is wrong,\n"
      "8 if the files cannot be written.");
  verb->callback([flags, &action] { action = [flags] { return report(*flags); }; });
}

}  // namespace nl::cli

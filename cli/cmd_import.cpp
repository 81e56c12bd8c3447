#include <map>

#include "cli/print_result.h"
#include "cli/run_flags.h"
#include "cli/verbs.h"
#include "orchestrator/import.h"
#include "parsers/registry.h"
#include "runs/ledger/bundles.h"

namespace nl::cli {
namespace {

struct ImportFlags {
  std::string out, name, config, model, ledger;
  std::vector<std::string> files, rules, sets, loads;
  std::map<std::string, std::vector<std::string>> of_format;
  bool partial_ranks = false, copy = false, keep_env = false, json = false;
};

int import(const ImportFlags& flags) {
  orchestrator::ConfigRequest config{
      .runner_file = flags.config, .model_file = flags.model, .sets = flags.sets, .rules = flags.rules, .name = flags.name};
  if (!flags.ledger.empty()) config.sets.push_back("ledger.path=" + flags.ledger);
  if (flags.keep_env) config.sets.push_back("artifacts.keep_env=true");
  orchestrator::ImportRequest request;
  runs::LaterRecord later;
  request.record = later.keep();
  request.config = orchestrator::load_config(config);
  for (const auto& [format, files] : flags.of_format) request.files[format].assign(files.begin(), files.end());
  for (const auto& file : flags.files) orchestrator::add_input(file, request);
  request.loads = loads_in(flags.loads);
  request.out = flags.out;
  request.copy = flags.copy;
  request.partial_ranks = flags.partial_ranks;
  orchestrator::ProcessLauncher launcher;
  return print_result(orchestrator::import_captures(request, launcher), flags.json, [&](const Run& run) { return later.record(run); });
}

}  // namespace

void add_import(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<ImportFlags>();
  CLI::App* verb = app.add_subcommand("import", "Make a bundle from captures made elsewhere");
  verb->add_option("files", flags->files, "captures of any format nl-stage reads, folders of them, or a bundle")->type_name("FILE");
  for (const parsers::Format* format : parsers::formats()) {
    const std::string name(format->name);
    const int most = format->most_files == parsers::kAnyNumber ? -1 : static_cast<int>(format->most_files);
    verb->add_option("--" + name, flags->of_format[name], std::string(format->help))
        ->type_name("FILE")
        ->expected(1, most)
        ->allow_extra_args(!format->by_rank);  // --nsys FILE CSV: what follows may be of another format
  }
  verb->add_option("--rules", flags->rules, "file with more rules; repeatable")->allow_extra_args(false)->type_name("FILE");
  verb->add_option("--out", flags->out, "folder of the bundle, new or empty; default: a new one in artifacts.dir")->type_name("DIR");
  verb->add_option("--name", flags->name, "name of the bundle");
  verb->add_option("-c,--config", flags->config, "runner file: its stages, top_n_kernels and artifacts are used")->type_name("RUNNER");
  verb->add_option("--model", flags->model, "model file, name of a shipped one (llama-3.1-8b, generic …), or a Hugging Face config.json")
      ->type_name("MODEL");
  verb->add_option("--set", flags->sets, "set one key; repeatable")->allow_extra_args(false)->type_name("KEY=VALUE");
  verb->add_option("--load", flags->loads, kLoadHelp)->allow_extra_args(false)->type_name("FILE");
  verb->add_option("--ledger", flags->ledger, kLedgerHelp)->type_name("PATH|URL");
  verb->add_flag("--partial-ranks", flags->partial_ranks, "go on where captures of some ranks of the run are missing");
  verb->add_flag("--copy", flags->copy, "copy the export into the bundle, with its environment blanked");
  verb->add_flag("--keep-env", flags->keep_env, "do not blank that copy");
  verb->add_flag("--json", flags->json,
                 "print the answer: {run_id, bundle, status, exit_status, ledger, summary, unit, budget, actions, findings, predictions, "
                 "problems, files …}");
  verb->footer(
      "The given files are not changed. The bundle lists them with their sha256.\n"
      "Examples:\n"
      "  nl-stage import run.sqlite ncu_raw.csv --out bundle\n"
      "  nl-stage import captures/ --out bundle\n"
      "  nl-stage import rank0.sqlite rank1.sqlite --out bundle\n"
      "  nl-stage import --nsys run.nsys-rep --ncu raw.csv --name a100 --set run.top_n_kernels=20\n"
      "  nl-stage import --nsys run.sqlite --ncu prefill.csv decode.csv --out bundle --json\n"
      "  nl-stage import --collector collector/*.nltrace --counters counters/*/*.nltrace --out bundle\n"
      "  nl-stage import --collector collector/*.nltrace --load load.json --out bundle\n"
      "  nl-stage import --kineto trace.json --model Llama/config.json --out bundle\n"
      "  nl-stage import --trtexec profile.json layers.json --out bundle");
  verb->callback([flags, &action] { action = [flags] { return import(*flags); }; });
}

}  // namespace nl::cli

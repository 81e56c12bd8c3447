#include <CLI/CLI.hpp>

#include <functional>
#include <memory>

#include "cli/print_result.h"
#include "cli/verbs.h"
#include "orchestrator/import_files.h"

namespace nl::cli {
namespace {

struct ImportFlags {
  std::string nsys, kineto, out, name, config, model;
  std::vector<std::string> files, ncu, collector, counters, ort, trtexec, rules, sets;
  bool copy = false, keep_env = false, json = false;
};

int import(const ImportFlags& flags) {
  orchestrator::ConfigRequest config{.runner_file = flags.config, .model_file = flags.model, .sets = flags.sets, .rules = flags.rules,
                       .name = flags.name};
  if (flags.keep_env) config.sets.push_back("artifacts.keep_env=true");
  orchestrator::ImportRequest request;
  request.config = orchestrator::load_config(config);
  request.nsys = flags.nsys;
  request.ncu.assign(flags.ncu.begin(), flags.ncu.end());
  request.collector.assign(flags.collector.begin(), flags.collector.end());
  request.counters.assign(flags.counters.begin(), flags.counters.end());
  request.kineto = flags.kineto;
  request.ort.assign(flags.ort.begin(), flags.ort.end());
  request.trtexec.assign(flags.trtexec.begin(), flags.trtexec.end());
  for (const auto& file : flags.files) orchestrator::add_input(file, request);
  request.out = flags.out;
  request.copy = flags.copy;
  orchestrator::ProcessLauncher launcher;
  return print_result(orchestrator::import_captures(request, launcher), flags.json);
}

}  // namespace

void add_import(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<ImportFlags>();
  CLI::App* verb = app.add_subcommand("import", "Make a bundle from captures made elsewhere");
  verb->add_option("files", flags->files, "captures of any format nl-stage reads, folders of them, or a bundle");
  verb->add_option("--nsys", flags->nsys, "SQLite export of nsys, or a .nsys-rep (needs nsys)")
      ->type_name("FILE");
  verb->add_option("--ncu", flags->ncu, "CSV of ncu (raw or details page), or a .ncu-rep (needs ncu)")
      ->type_name("FILE");
  verb->add_option("--collector", flags->collector, "trace files of the collector")->type_name("FILE");
  verb->add_option("--counters", flags->counters,
                   "counter files of the collector (counters/*/*.nltrace); joined to the capture, as --ncu is")
      ->type_name("FILE");
  verb->add_option("--kineto", flags->kineto, "trace of torch.profiler: the capture, or beside --nsys its operators")
      ->type_name("FILE");
  verb->add_option("--ort", flags->ort, "profile of ONNX Runtime: operators")->type_name("FILE");
  verb->add_option("--trtexec", flags->trtexec, "--exportProfile file of trtexec, then its --exportLayerInfo file if there is one")
      ->type_name("FILE")
      ->expected(1, 2);
  verb->add_option("--rules", flags->rules, "file with more rules; repeatable")->type_name("FILE");
  verb->add_option("--out", flags->out, "folder of the bundle, new or empty; default: a new one in artifacts.dir")
      ->type_name("DIR");
  verb->add_option("--name", flags->name, "name of the bundle");
  verb->add_option("-c,--config", flags->config, "runner file: its stages, top_n_kernels and artifacts are used");
  verb->add_option("--model", flags->model,
                   "model file, name of a shipped one (llama-3.1-8b, generic …), or a Hugging Face config.json");
  verb->add_option("--set", flags->sets, "set one key; repeatable")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  verb->add_flag("--copy", flags->copy, "copy the export into the bundle, with its environment blanked");
  verb->add_flag("--keep-env", flags->keep_env, "do not blank that copy");
  verb->add_flag("--json", flags->json, "print {run_id, bundle, status, exit_status, problems} on stdout");
  verb->footer(
      "The given files are not changed. The bundle lists them with their sha256.\n"
      "Examples:\n"
      "  nl-stage import run.sqlite ncu_raw.csv --out bundle\n"
      "  nl-stage import captures/ --out bundle\n"
      "  nl-stage import --nsys run.sqlite --out bundle\n"
      "  nl-stage import --nsys run.nsys-rep --ncu raw.csv --name a100 --set run.top_n_kernels=20\n"
      "  nl-stage import --nsys run.sqlite --ncu prefill.csv decode.csv --out bundle --json\n"
      "  nl-stage import --collector collector/*.nltrace --counters counters/*/*.nltrace --out bundle\n"
      "  nl-stage import --kineto trace.json --model Llama/config.json --out bundle\n"
      "  nl-stage import --trtexec profile.json layers.json --out bundle");
  verb->callback([flags, &action] { action = [flags] { return import(*flags); }; });
}

}  // namespace nl::cli

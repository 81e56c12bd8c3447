#include "cli/run_flags.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <nlohmann/json.hpp>

#include "cli/workload_words.h"
#include "load/results.h"
#include "model/error.h"
#include "orchestrator/config/units.h"

namespace nl::cli {
namespace {

// Quoted as JSON, which is YAML: names may have colons and commas.
std::string list_text(const std::vector<std::string>& items) { return nlohmann::json(items).dump(); }

}  // namespace

void add_session_flags(CLI::App& verb, SessionFlags& flags) {
  const std::string group = "A model file";
  verb.add_option("--backend", flags.backend, "what runs the model file: onnxruntime, libtorch, tensorrt (nl-stage backends)")
      ->group(group);
  verb.add_option("--provider", flags.provider, "what executes it: cpu, cuda …; default: the first that `nl-stage backends` lists")
      ->group(group);
  verb.add_option("--precision", flags.precision, "fp32, fp16, bf16 or int8; default: as the model has it")->group(group);
  verb.add_option("--inputs", flags.inputs, "random, zeros, or a .npz or .npy file; default: random")->group(group);
  verb.add_option("--batch", flags.batch, "short for --dim batch=N")->group(group)->type_name("N");
  verb.add_option("--seq", flags.seq, "short for --dim seq=N")->group(group)->type_name("N");
  verb.add_option("--dim", flags.dims, "size of a dimension that the model leaves open; repeatable")
      ->group(group)
      ->allow_extra_args(false)
      ->type_name("NAME=N");
  verb.add_option("--shape", flags.shapes, "shape and type of an input that the model does not describe: x=2x16:float32; repeatable")
      ->group(group)
      ->allow_extra_args(false)
      ->type_name("NAME=SHAPE");
  verb.add_option("--iterations", flags.iterations, "measured iterations; default: 20")->group(group)->type_name("N");
  verb.add_option("--warmup", flags.warmup, "iterations before them; default: 3")->group(group)->type_name("N");
  verb.add_option("--threads", flags.threads, "threads of one operator; default: as the backend chooses")->group(group)->type_name("N");
  verb.add_option("--seed", flags.seed, "of random inputs; default: 1")->group(group)->type_name("N");
}

std::vector<std::string> session_sets(const SessionFlags& flags, const std::string& model) {
  std::vector<std::string> sets;
  const auto set = [&](const char* key, const std::string& value) {
    if (!value.empty()) sets.push_back(std::string("session.") + key + "=" + value);
  };
  std::vector<std::string> dims = flags.dims;
  if (!flags.batch.empty()) dims.push_back("batch=" + flags.batch);
  if (!flags.seq.empty()) dims.push_back("seq=" + flags.seq);
  set("backend", flags.backend);
  if (!flags.backend.empty()) set("model", model);
  set("provider", flags.provider);
  set("precision", flags.precision);
  set("inputs", flags.inputs);
  if (!dims.empty()) set("dims", list_text(dims));
  if (!flags.shapes.empty()) set("shapes", list_text(flags.shapes));
  set("iterations", flags.iterations);
  set("warmup", flags.warmup);
  set("threads", flags.threads);
  set("seed", flags.seed);
  return sets;
}

std::vector<LoadRun> loads_in(const std::vector<std::string>& files) {
  std::vector<LoadRun> loads;
  for (const std::string& file : files)
    for (LoadRun& load : load::read_results(file)) loads.push_back(std::move(load));
  return loads;
}

double seconds_of(const std::string& time, const char* flag) {
  if (const auto seconds = orchestrator::seconds_in(time)) return *seconds;
  throw Error(ErrorKind::kUsage, "'" + time + "' is no time", flag, "write 90s, 3m or 1.5h");
}

void add_run_flags(CLI::App& verb, RunFlags& flags) {
  verb.add_option("-c,--config", flags.config,
                  "runner file, or the name of a shipped one (deep, light, cupti, sampling, profile, unprofiled)")
      ->capture_default_str()
      ->type_name("RUNNER");
  // One value each: the next word is not another of them. CLI11 would also split "[a,b]" otherwise.
  verb.add_option("--set", flags.sets, "set one key, such as run.top_n_kernels=20; repeatable")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  verb.add_option(
          "--model", flags.model,
          "model file, name of a shipped one (llama-3.1-8b, generic …), or a Hugging Face config.json; with --backend: the file to run")
      ->type_name("MODEL");
  verb.add_option("--rules", flags.rules, "file with more rules; repeatable")->allow_extra_args(false)->type_name("FILE");
  verb.add_option("--out", flags.out, "folder of the bundle, new or empty; default: a new one in artifacts.dir")->type_name("DIR");
  verb.add_option("--budget", flags.budget,
                  "time for all passes together, such as 3m or 90s; what would not fit is left out (run.budget_s)")
      ->type_name("TIME");
  verb.add_option("--name", flags.name, "name of the bundle");
  verb.add_option("--ledger", flags.ledger, kLedgerHelp)->type_name("PATH|URL");
  add_session_flags(verb, flags);
  take_workload(verb, "the workload and its arguments: all from the first word that is no flag, or after --");
}

orchestrator::ConfigRequest config_request(const RunFlags& flags) {
  std::vector<std::string> sets = flags.sets;
  for (std::string& set : session_sets(flags, flags.model)) sets.push_back(std::move(set));
  if (!flags.budget.empty()) sets.push_back(fmt::format("run.budget_s={}", seconds_of(flags.budget)));
  if (!flags.ledger.empty()) sets.push_back("ledger.path=" + flags.ledger);
  return {.runner_file = flags.config,
          .model_file = flags.backend.empty() ? flags.model : "",
          .sets = std::move(sets),
          .rules = flags.rules,
          .name = flags.name,
          .command = workload_given()};
}

}  // namespace nl::cli

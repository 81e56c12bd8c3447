#include "cli/session_flags.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

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

}  // namespace nl::cli

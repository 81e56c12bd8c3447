#include <fmt/format.h>
#include <poll.h>

#include <iostream>

#include "cli/json_output.h"
#include "cli/value_checks.h"
#include "cli/verbs.h"
#include "cli/workload_words.h"
#include "model/text_table.h"
#include "orchestrator/recorder/folders.h"
#include "orchestrator/recorder/launch.h"
#include "orchestrator/recorder/process_link.h"

namespace nl::cli {
namespace {

struct RecorderFlags : orchestrator::RecorderSettings {
  std::string config;
  std::vector<std::string> sets;
  bool json = false;
};

struct ProcessState {
  int pid = 0;
  std::string name;
  std::optional<orchestrator::RecorderLine> status;  // nothing: it does not answer
};

std::optional<orchestrator::RecorderLine> asked(orchestrator::ProcessLink& link) {
  link.send("status");
  for (int tries = 0; tries < 10 && link.fd() >= 0; ++tries) {
    if (auto line = link.next()) return line;
    pollfd polled = {link.fd(), POLLIN, 0};
    ::poll(&polled, 1, 100);
  }
  return link.next();
}

std::vector<ProcessState> processes_of(const orchestrator::Recorder& recorder) {
  std::vector<ProcessState> states;
  for (const int pid : recorder.pids) {
    orchestrator::ProcessLink link(recorder.folder, pid);
    states.push_back({pid, link.name(), asked(link)});
  }
  return states;
}

nlohmann::ordered_json json_of(const ProcessState& state) {
  nlohmann::ordered_json json = {{"pid", state.pid}, {"name", state.name}, {"answers", state.status.has_value()}};
  if (!state.status) return json;
  json["cuda"] = state.status->number("cuda", 0) != 0;
  json["attached"] = state.status->number("attached", 0) != 0;
  json["steps"] = state.status->number("steps", 0);
  json["median_step_ns"] = state.status->number("median_ns", 0);
  json["window_open"] = state.status->number("window", 0) != 0;
  return json;
}

int print_recorders_json() {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const orchestrator::Recorder& each : orchestrator::list_recorders()) {
    nlohmann::ordered_json processes = nlohmann::ordered_json::array();
    for (const ProcessState& state : processes_of(each)) processes.push_back(json_of(state));
    all.push_back({{"name", each.name}, {"folder", each.folder.string()}, {"processes", std::move(processes)}});
  }
  write_json({{"recorders", std::move(all)}});
  return 0;
}

std::string step_text(const ProcessState& state) {
  if (!state.status) return "does not answer";
  const std::int64_t steps = state.status->number("steps", 0);
  if (steps == 0) return "no steps so far";
  return fmt::format("{} {}, median {:.2f} ms", steps, steps == 1 ? "step" : "steps",
                     static_cast<double>(state.status->number("median_ns", 0)) / 1e6);
}

std::string gpu_text(const ProcessState& state) {
  if (!state.status || state.status->number("cuda", 0) == 0) return "no CUDA";
  if (state.status->number("window", 0) != 0) return "a window is open";
  return state.status->number("attached", 0) != 0 ? "CUDA, attached" : "CUDA";
}

int print_recorders(bool json) {
  if (json) return print_recorders_json();
  const auto all = orchestrator::list_recorders();
  if (all.empty()) write_text("no recorder runs; nl-stage recorder -- COMMAND starts one\n");
  for (const orchestrator::Recorder& each : all) {
    std::string text = each.name + "\n";
    for (const ProcessState& state : processes_of(each))
      text += fmt::format("  {:>8}  {:<16} {:<17} {}\n", state.pid, state.name, gpu_text(state), step_text(state));
    write_text(text);
  }
  return 0;
}

int record(const RecorderFlags& flags) {
  const std::vector<std::string>& command = workload_given();
  if (command.empty()) return print_recorders(flags.json);
  const orchestrator::Config config = orchestrator::load_config({.runner_file = flags.config, .sets = flags.sets});
  const orchestrator::RecorderLaunch launch = orchestrator::prepare_recorder(flags, config, command);
  std::cerr << fmt::format("nl-stage: recorder '{}'; nl-stage window {} takes a window\n", launch.name, launch.name);
  orchestrator::become(command, launch);
}

}  // namespace

void add_recorder(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<RecorderFlags>();
  CLI::App* verb = app.add_subcommand("recorder", "Run a server with a recorder in its processes, or list those that run");
  verb->add_option("--name", flags->name, "what `nl-stage window` calls it; default: the name of the program");
  verb->add_option("--seconds", flags->seconds, "how long ranges and marks are kept")->capture_default_str()->check(between(1U, 3600U));
  verb->add_option("--memory", flags->megabytes, "the most that a process's ring takes, in MB")
      ->capture_default_str()
      ->check(between(1U, 16384U));
  verb->add_option("--step", flags->steps, "a range that is a step, as DOMAIN@NAME or NAME; * stands for any text; repeatable")
      ->allow_extra_args(false)
      ->type_name("RANGE");
  verb->add_flag("--attach", flags->attach,
                 "attach to CUPTI when CUDA starts: the first window delays no launch, and each launch costs a little more from the start");
  verb->add_option("--signal", flags->signal, "a signal that takes a window of 20 steps, too")->check(CLI::IsMember({"USR1", "USR2"}));
  verb->add_option("-c,--config", flags->config, "runner file: its tools and capture.cuda_calls, cuda_graphs are used")
      ->type_name("RUNNER");
  verb->add_option("--set", flags->sets, "set one key; repeatable")->allow_extra_args(false)->type_name("KEY=VALUE");
  verb->add_flag("--json", flags->json,
                 "without a command: print {recorders: [{name, folder, processes: [{pid, name, answers, cuda …}]}]}");
  take_workload(*verb, "the server and its arguments: all from the first word that is no flag, or after --");
  verb->footer(
      "The program takes the place of nl-stage: signals and its exit status are its own. Ranges, marks and clocks are recorded in every\n"
      "process that it starts, in a ring of the last seconds; the GPU is recorded only in windows (nl-stage window). In a container the\n"
      "library alone does the same: LD_PRELOAD=libnl_collector.so NL_STAGE_RECORD=1 (docs/recorder.md).\n"
      "Examples:\n"
      "  nl-stage recorder --name llm -- python -m vllm.entrypoints.openai.api_server --model m\n"
      "  nl-stage recorder\n"
      "  nl-stage recorder --json\n"
      "  nl-stage window llm --steps 20 --min-batch 8");
  verb->callback([flags, &action] { action = [flags] { return record(*flags); }; });
}

}  // namespace nl::cli

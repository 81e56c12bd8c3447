#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>
#include <optional>

#include "cli/exit_status.h"
#include "cli/ledger_flags.h"
#include "cli/print_result.h"
#include "cli/run_flags.h"
#include "cli/value_checks.h"
#include "cli/verbs.h"
#include "model/time.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/import.h"
#include "orchestrator/process/activity.h"
#include "orchestrator/process/interrupts.h"
#include "orchestrator/recorder/window.h"
#include "runs/ledger/bundles.h"

namespace nl::cli {
namespace {

struct WindowFlags {
  std::string recorder, seconds, when, within = "60s", out, name, config, model, ledger;
  std::vector<std::string> rules, sets, loads;
  std::optional<std::uint32_t> steps;
  std::uint32_t min_batch = 0;
  bool skip_idle = true, counters = false, json = false;
};

Ns ns_of(const std::string& time) { return static_cast<Ns>(std::llround(seconds_of(time) * 1e9)); }

orchestrator::WindowRequest request_of(const WindowFlags& flags) {
  orchestrator::WindowRequest request;
  // Seconds alone are a window of that time; beside steps they are the most that it takes.
  request.steps = flags.steps ? *flags.steps : flags.seconds.empty() ? request.steps : 0;
  if (!flags.seconds.empty()) request.most_ns = ns_of(flags.seconds);
  request.count_idle = !flags.skip_idle;
  request.min_batch = flags.min_batch;
  if (!flags.when.empty()) request.when = orchestrator::slow_step_of(flags.when);
  request.within_ns = ns_of(flags.within);
  return request;
}

orchestrator::Window taken(const orchestrator::Recorder& recorder, const orchestrator::WindowRequest& request) {
  std::unique_ptr<orchestrator::Activity> activity;
  const auto doing = [&](const std::string& what) {
    activity.reset();
    activity = std::make_unique<orchestrator::Activity>(what);
  };
  const auto stop = [] {
    orchestrator::Interrupts::drain();
    return orchestrator::Interrupts::signal() != 0;
  };
  return orchestrator::take_window(recorder, request, {doing, orchestrator::Interrupts::wake_fd(), stop});
}

std::string_view opening_text(orchestrator::WindowOpening opening) {
  switch (opening) {
    case orchestrator::WindowOpening::kMark: return "at the step of one number, which marks say";
    case orchestrator::WindowOpening::kCollective: return "at the step of one number, by the collectives before it";
    case orchestrator::WindowOpening::kTime: break;
  }
  return "at one time: their steps have no number in common";
}

// What the bundle cannot say: how the window came about.
void print_window(const orchestrator::Window& window) {
  std::string text;
  for (const orchestrator::WindowProcess& each : window.processes) {
    if (!each.trouble.empty()) text += fmt::format("nl-stage: process {} ({}): {}\n", each.pid, each.name, each.trouble);
    if (!each.has_steps || !each.opened_ns || !each.closed_ns) continue;
    text += fmt::format("nl-stage: process {} ({}): {} {} in {:.1f} ms", each.pid, each.name, each.steps,
                        each.steps == 1 ? "step" : "steps", static_cast<double>(*each.closed_ns - *each.opened_ns) / 1e6);
    if (each.first_step) text += fmt::format(", from step {}", *each.first_step);
    if (each.idle_steps > 0) text += fmt::format("; {} without a launch are not counted", each.idle_steps);
    text += "\n";
  }
  const auto opened = std::count_if(window.processes.begin(), window.processes.end(),
                                    [](const orchestrator::WindowProcess& each) { return each.has_steps && each.opened_ns; });
  if (opened > 1) text += fmt::format("nl-stage: {} processes opened {}\n", opened, opening_text(window.opening));
  for (const Remark& each : orchestrator::remarks_on(window))
    text += fmt::format("nl-stage: {}\n          fix: {}\n", text_of(each), fix_of(each));
  std::cerr << text;
}

orchestrator::ImportRequest import_of(const WindowFlags& flags, const orchestrator::Recorder& recorder,
                                      const orchestrator::Window& window) {
  orchestrator::ConfigRequest config{.runner_file = flags.config,
                                     .model_file = flags.model,
                                     .sets = flags.sets,
                                     .rules = flags.rules,
                                     .name = flags.name.empty() ? recorder.name : flags.name};
  if (!flags.ledger.empty()) config.sets.push_back("ledger.path=" + flags.ledger);
  orchestrator::ImportRequest request;
  request.config = orchestrator::load_config(config);
  for (const auto& file : window.files()) orchestrator::add_input(file, request);
  request.loads = loads_in(flags.loads);
  request.remarks = orchestrator::remarks_on(window);
  request.out = flags.out;
  request.own = window.folder;
  return request;
}

int take(const WindowFlags& flags) {
  if (flags.counters)
    throw Error(ErrorKind::kUsage,
                "a window has no hardware counters: passes that count run kernels one at a time, and a server that goes on waits for none",
                "--counters", "profile the same load with nl-stage run (capture.counters), beside the window");
  const orchestrator::Recorder recorder = orchestrator::find_recorder(flags.recorder);
  const orchestrator::WindowRequest request = request_of(flags);
  const orchestrator::Interrupts interrupts;
  const orchestrator::Window window = taken(recorder, request);
  print_window(window);
  if (window.files().empty())
    throw Error(ErrorKind::kCapture, "the window has no file", window.folder.string(), "see above what went wrong in its processes");
  orchestrator::write_file_whole(window.folder / "window.json", orchestrator::window_json(window, request));
  orchestrator::ImportRequest import = import_of(flags, recorder, window);
  runs::LaterRecord later;
  import.record = later.keep();
  orchestrator::ProcessLauncher launcher;
  const int status =
      print_result(orchestrator::import_captures(import, launcher), flags.json, [&](const Run& run) { return later.record(run); });
  if (const int signal = orchestrator::Interrupts::signal(); signal != 0) return exit_status_of(std::nullopt, signal);
  if (status != 0 || window.steps() > 0 || window.launches() > 0) return status;
  std::cerr << "nl-stage: nothing ran in this window: no step with work, no launch. Send load, or wait for it with --min-batch\n";
  return exit_status_of(ErrorKind::kWorkload);
}

}  // namespace

void add_window(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<WindowFlags>();
  CLI::App* verb = app.add_subcommand("window", "Take a window of a server that is recorded, and make a bundle of it");
  verb->add_option("recorder", flags->recorder, "name of the recorder, or the pid of any of its processes")
      ->required()
      ->type_name("NAME|PID");
  verb->add_option("--steps", flags->steps, "how many steps; default: 20, or with --seconds as many as there are")
      ->check(between(1U, 1'000'000U));
  verb->add_option("--seconds", flags->seconds, "how long at most, such as 2s or 500ms")->type_name("TIME");
  verb->add_flag("--skip-idle,!--count-idle", flags->skip_idle, "count no step in which nothing was launched (the default)");
  verb->add_flag("--counters", flags->counters, "is refused: a window has times and no hardware counters; nl-stage run measures those");
  verb->add_option("--min-batch", flags->min_batch, "begin with a step of at least so many requests")->check(between(1U, 1'000'000U));
  verb->add_option("--when", flags->when, "begin after a slow step: 'step > 3*median', 'step > 50ms'")->type_name("CONDITION");
  verb->add_option("--within", flags->within, "give up where it has not begun after this time")->capture_default_str()->type_name("TIME");
  verb->add_option("--out", flags->out, "folder of the bundle, new or empty; default: a new one in artifacts.dir")->type_name("DIR");
  verb->add_option("--name", flags->name, "name of the bundle; default: the recorder's");
  verb->add_option("-c,--config", flags->config, "runner file: its stages, top_n_kernels and artifacts are used")->type_name("RUNNER");
  verb->add_option("--model", flags->model, "model file, name of a shipped one (llama-3.1-8b, generic …), or a Hugging Face config.json")
      ->type_name("MODEL");
  verb->add_option("--rules", flags->rules, "file with more rules; repeatable")->allow_extra_args(false)->type_name("FILE");
  verb->add_option("--set", flags->sets, "set one key; repeatable")->allow_extra_args(false)->type_name("KEY=VALUE");
  verb->add_option("--load", flags->loads, kLoadHelp)->allow_extra_args(false)->type_name("FILE");
  verb->add_option("--ledger", flags->ledger, kLedgerHelp)->type_name("PATH|URL");
  verb->add_flag("--json", flags->json, "print the answer, as import does");
  verb->footer(
      "All processes of the recorder are armed first; then each begins by itself, at the step of one number where marks or NCCL's "
      "collectives\n"
      "number the steps, else at one time; it says which. No process waits for another. The ranges of the seconds before are in the "
      "bundle, too.\n"
      "It ends with 0, with 3 where no such recorder runs, with 5 where nothing ran in the window, with 7 where no step came in time, and "
      "with\n"
      "130 after Ctrl-C, which closes the window and keeps it.\n"
      "Examples:\n"
      "  nl-stage window llm\n"
      "  nl-stage window llm --steps 50 --min-batch 8 --out bundle\n"
      "  nl-stage window 4711 --seconds 2s\n"
      "  nl-stage window llm --when 'step > 3*median' --within 10m\n"
      "  nl-stage window llm --json");
  verb->callback([flags, &action] { action = [flags] { return take(*flags); }; });
}

}  // namespace nl::cli

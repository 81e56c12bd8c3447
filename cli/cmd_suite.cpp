#include <CLI/CLI.hpp>

#include <functional>
#include <memory>

#include "cli/queue_flags.h"
#include "cli/verbs.h"
#include "model/error.h"

namespace nl::cli {
namespace {

struct SuiteFlags {
  QueueFlags queue;
  bool json = false;
};

int run_suite_verb(const SuiteFlags& flags) {
  if (flags.queue.wanted()) return queue_verb(flags.queue, flags.json);
  throw Error(ErrorKind::kUsage, "there is nothing to do", "suite", "give --enqueue COMMAND or --run-queue");
}

}  // namespace

void add_suite(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<SuiteFlags>();
  CLI::App* verb = app.add_subcommand("suite", "Run benchmarks one at a time on this machine: a queue of commands");
  add_queue_flags(*verb, flags->queue);
  verb->add_flag("--json", flags->json, "print JSON");
  verb->footer(
      "One runner at a time works on a machine. It begins each command when the GPU is idle, repeats one that had to share\n"
      "the GPU, and ends one that stalls. docs/suite.md describes the queue.\n"
      "Examples:\n"
      "  nl-stage suite --enqueue 'python bench.py --size 4096'\n"
      "  nl-stage suite --enqueue-file sweep.sh --run-queue\n"
      "  nl-stage suite --queue-status --json");
  verb->callback([flags, &action] { action = [flags] { return run_suite_verb(*flags); }; });
}

}  // namespace nl::cli

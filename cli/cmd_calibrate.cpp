#include "cli/output.h"
#include "cli/verbs.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/machine/launch_loop.h"

namespace nl::cli {
namespace {

struct CalibrateFlags {
  std::string out, driver = "libcuda.so.1";
};

int run(const CalibrateFlags& flags) {
  const std::string loops = orchestrator::loops_json(orchestrator::time_launch_loops(flags.driver));
  if (flags.out.empty()) write_answer(true, loops);
  else orchestrator::write_file_whole(flags.out, loops);
  return 0;
}

}  // namespace

// What a run starts bare and under its tracers; not listed, because it leaves no bundle.
void add_calibrate(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<CalibrateFlags>();
  CLI::App* verb = app.add_subcommand("calibrate", "Time a loop of kernel launches: what a run learns the cost of tracing by")->group("");
  verb->add_option("--out", flags->out, "where the times go; else to standard output")->type_name("FILE");
  verb->add_option("--driver", flags->driver, "the library of the CUDA driver")->type_name("FILE");
  verb->footer("Examples:\n  nl-stage calibrate\n  nsys profile -t cuda,nvtx nl-stage calibrate --out nsys.json");
  verb->callback([flags, &action] { action = [flags] { return run(*flags); }; });
}

}  // namespace nl::cli

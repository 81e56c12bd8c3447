#include "analysis/statistics/bootstrap.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "model/words.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/machine/launch_loop.h"

namespace nl::cli {
namespace {

struct CalibrateFlags {
  std::string out, driver = "libcuda.so.1";
  bool json = false;
};

// "launch: 2.31 us"
std::string loops_text(const orchestrator::LaunchLoops& loops) {
  std::string text;
  for (const orchestrator::TimedLoop& loop : loops.loops)
    text += fmt::format("{}: {:.2f} us\n", key_of(loop.call), analysis::median_of(loop.blocks_ns) / 1e3);
  return text;
}

int run(const CalibrateFlags& flags) {
  const orchestrator::LaunchLoops loops = orchestrator::time_launch_loops(flags.driver);
  if (!flags.out.empty()) orchestrator::write_file_whole(flags.out, orchestrator::loops_json(loops));
  if (flags.out.empty() || flags.json) write_answer(flags.json, flags.json ? orchestrator::loops_json(loops) : loops_text(loops));
  return 0;
}

}  // namespace

// What a run starts bare and under its tracers; not listed, because it leaves no bundle.
void add_calibrate(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<CalibrateFlags>();
  CLI::App* verb = app.add_subcommand("calibrate", "Time a loop of kernel launches: what a run learns the cost of tracing by")->group("");
  verb->add_option("--out", flags->out, "where the times of all blocks go")->type_name("FILE");
  verb->add_option("--driver", flags->driver, "the library of the CUDA driver")->type_name("FILE");
  verb->add_flag("--json", flags->json, "print {cuda_driver_version, loops: [{call, blocks_ns}]}");
  verb->footer("Examples:\n  nl-stage calibrate\n  nsys profile -t cuda,nvtx nl-stage calibrate --out nsys.json");
  verb->callback([flags, &action] { action = [flags] { return run(*flags); }; });
}

}  // namespace nl::cli

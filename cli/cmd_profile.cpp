#include <CLI/CLI.hpp>

#include <functional>
#include <memory>

#include "cli/run_flags.h"
#include "cli/verbs.h"

namespace nl::cli {

void add_profile(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<RunVerbFlags>();
  flags->config = "profile";
  CLI::App* verb = app.add_subcommand(
      "profile", "Run a model file by ONNX Runtime, LibTorch or TensorRT, operator by operator; leaves the bundle of `run`");
  add_run_verb_flags(*verb, *flags);
  verb->get_option("--backend")->required();
  verb->get_option("--model")->required();
  verb->remove_option(verb->get_option("command"));
  verb->footer(
      "The model is loaded, gets inputs of the shapes that it declares, and runs unprofiled and then profiled; every execution of an "
      "operator is\n"
      "recorded. nl-stage traces that as any other workload: with a GPU its kernels are joined to the operators. `nl-stage run --config "
      "deep --backend …`\n"
      "is the same with counters and repetitions. docs/adapters.md describes the backends.\n"
      "Examples:\n"
      "  nl-stage profile --backend onnxruntime --model model.onnx --batch 1 --seq 128\n"
      "  nl-stage profile --backend onnxruntime --model model.onnx --dim past=64 --inputs inputs.npz --iterations 50\n"
      "  nl-stage profile --backend libtorch --model model.pt --shape x=1x128x64:float32 --provider cuda --precision fp16\n"
      "  nl-stage run --config deep --backend libtorch --model model.pt --shape x=1x128x64:float32 --provider cuda");
  verb->callback([flags, &action] { action = [flags] { return run_verb(*flags); }; });
}

}  // namespace nl::cli

#include <fmt/format.h>

#include "cli/output.h"
#include "cli/value_checks.h"
#include "cli/verbs.h"
#include "model/error.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/config/ceilings_file.h"
#include "orchestrator/machine/ceilings.h"
#include "orchestrator/process/activity.h"
#include "orchestrator/process/interrupts.h"

namespace nl::cli {
namespace {

struct CeilingFlags : orchestrator::CeilingRequest {
  std::string out;
  bool json = false;
};

// "bf16 products     788 TFLOP/s"
std::string ceilings_text(const orchestrator::MeasuredCeilings& measured) {
  const DeviceCeilings& card = measured.card;
  std::string text = card.name + "\n";
  const auto line = [&](const std::string& what, const std::optional<double>& value, double unit, const char* name) {
    if (value) text += fmt::format("  {:<22} {:>8.1f} {}\n", what, *value / unit, name);
  };
  for (const auto& [type, rate] : card.gemm_flops_per_s) line(type + " products", rate, 1e12, "TFLOP/s");
  line("fused attention, bf16", card.attention_flops_per_s, 1e12, "TFLOP/s");
  line("copies on the card", card.copy_bytes_per_s, 1e12, "TB/s");
  line("copies to the card", card.h2d_bytes_per_s, 1e9, "GB/s");
  line("copies from the card", card.d2h_bytes_per_s, 1e9, "GB/s");
  for (const std::string& note : measured.notes) text += "note: " + note + "\n";
  return text;
}

int measure(const CeilingFlags& flags) {
  const orchestrator::Interrupts interrupts;
  std::optional<orchestrator::Activity> measuring("measuring the ceilings of the card");
  const orchestrator::MeasuredCeilings measured = orchestrator::measure_ceilings(flags);
  measuring.reset();
  const std::filesystem::path file = flags.out.empty() ? orchestrator::ceilings_file(measured.card) : std::filesystem::path(flags.out);
  if (file.empty())
    throw Error(ErrorKind::kOutput, "there is no home folder to keep the ceilings in", "HOME", "set NL_STAGE_CEILINGS, or give --out FILE");
  std::filesystem::create_directories(std::filesystem::absolute(file).parent_path());
  orchestrator::write_file_whole(file, orchestrator::ceilings_json(measured.card));
  write_answer(flags.json, flags.json ? orchestrator::ceilings_json(measured.card) : ceilings_text(measured));
  if (!flags.json) write_path(file), write_out("\n");
  return 0;
}

}  // namespace

void add_ceilings(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<CeilingFlags>();
  CLI::App* verb = app.add_subcommand("ceilings", "Measure what this card reaches at best, for nl-stage whatif");
  verb->add_option("--gpu", flags->gpu, "which one, as CUDA numbers them; default: 0")->type_name("N")->check(between(0, 255));
  verb->add_option("--python", flags->python, "whose PyTorch runs the attention; default: python3")->type_name("PROGRAM");
  verb->add_option("--cublas", flags->cublas, "libcublasLt; default: that of CUDA's folders or of Python's packages")->type_name("FILE");
  verb->add_option("--driver", flags->driver, "the library of the CUDA driver")->type_name("FILE")->group("");
  verb->add_option("--out", flags->out, "default: $NL_STAGE_CEILINGS or ~/.local/share/nl-stage/ceilings, a file for each card")
      ->type_name("FILE");
  verb->add_flag("--json", flags->json, "print {name, uuid, measured_at, gemm_flops_per_s, copy_bytes_per_s, …}");
  verb->footer(
      "Products of 8192 x 8192 random numbers in each type, copies of 1 GiB on the card and of 256 MiB over the bus, and fused attention "
      "of\n"
      "PyTorch where it is there: the fastest of 20 each. It takes some seconds of a card that should be idle. nl-stage whatif --kernel\n"
      "NAME=ceiling uses the file where ncu counted the work of the kernel.\n"
      "Examples:\n"
      "  nl-stage ceilings\n"
      "  nl-stage ceilings --gpu 1 --json\n"
      "  nl-stage whatif last --kernel gemm=ceiling");
  verb->callback([flags, &action] { action = [flags] { return measure(*flags); }; });
}

}  // namespace nl::cli

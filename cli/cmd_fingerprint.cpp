#include <CLI/CLI.hpp>

#include <cstdio>
#include <functional>
#include <memory>

#include "cli/verbs.h"
#include "exporters/fingerprint/fingerprint_text.h"
#include "orchestrator/fingerprint.h"

namespace nl::cli {
namespace {

struct FingerprintFlags {
  orchestrator::FingerprintRequest request;
  std::string to;
  bool kernels = false, json = false;
};

std::string answer(const FingerprintFlags& flags) {
  if (flags.to.empty()) {
    const Fingerprint fingerprint = orchestrator::fingerprint_of(flags.request);
    return flags.json ? exporters::fingerprint_json(fingerprint) : exporters::fingerprint_text(fingerprint);
  }
  const auto [a, b, match] = orchestrator::compare_fingerprints(flags.request, flags.to);
  return flags.json ? exporters::match_json(a, b, match) : exporters::match_text(a, b, match);
}

int fingerprint(FingerprintFlags& flags) {
  if (flags.kernels) flags.request.kind = FingerprintKind::kKernels;
  const std::string text = answer(flags);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
  return 0;
}

}  // namespace

void add_fingerprint(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<FingerprintFlags>();
  CLI::App* verb = app.add_subcommand("fingerprint", "Print what a run looks like to the GPU, and how alike two runs are");
  verb->add_option("run", flags->request.run, "a bundle, or its run.json")->required()->type_name("RUN");
  verb->add_option("--to", flags->to, "print how alike this run is, 0 to 1")->type_name("RUN");
  verb->add_option("--peaks", flags->request.peaks, "peaks of the GPU, as conf/device has them; default: those of the run")->type_name("FILE.yaml");
  verb->add_flag("--kernels", flags->kernels, "kernels, also where the run has operators one by one");
  verb->add_flag("--json", flags->json, "print {run_id, hardware, model, kind, peaks, ridge_flop_per_byte, features, items}; with --to {a, b, similarity, only_a, only_b, pairs}");
  verb->footer(
      "Each operator or kernel has the vector [lat_norm, ai, occ, warp_eff, l2_hit, dram_norm]; docs/fingerprint.md has the formulas.\n"
      "What was not counted is null (a dash in the table) and counts as 0.\n"
      "Examples:\n"
      "  nl-stage fingerprint bundle\n"
      "  nl-stage fingerprint bundle --to baseline\n"
      "  nl-stage fingerprint bundle --peaks conf/device/h200.yaml --json\n\n"
      "The exit status is 3 if a run.json is missing or damaged, or has neither operators nor kernels, 2 if the peaks are wrong.");
  verb->callback([flags, &action] { action = [flags] { return fingerprint(*flags); }; });
}

}  // namespace nl::cli

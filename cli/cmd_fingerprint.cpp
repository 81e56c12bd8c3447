#include "cli/json_output.h"
#include "cli/ledger_flags.h"
#include "cli/value_checks.h"
#include "cli/verbs.h"
#include "exporters/fingerprint/fingerprint_reports.h"
#include "model/error.h"
#include "runs/fingerprint/fingerprint.h"

namespace nl::cli {
namespace {

struct FingerprintFlags {
  runs::FingerprintRequest request;
  std::string to;
  std::size_t count = 10;
  bool kernels = false, json = false;
};

std::string answer(const FingerprintFlags& flags) {
  if (flags.to.empty()) {
    const Fingerprint fingerprint = runs::fingerprint_of(flags.request);
    return flags.json ? exporters::fingerprint_json(fingerprint) : exporters::fingerprint_text(fingerprint, line_width());
  }
  const auto [a, b, match] = runs::compare_fingerprints(flags.request, flags.to);
  return flags.json ? exporters::match_json(a, b, match) : exporters::match_text(a, b, match, line_width());
}

std::string nearest_json(const runs::NearestRuns& found) {
  nlohmann::ordered_json out = {
      {"run_id", found.of.run_id}, {"kind", key_of(found.of.kind)}, {"searched", found.searched}, {"without", found.without}};
  out["runs"] = nlohmann::ordered_json::array();
  for (const auto& run : found.runs)
    out["runs"].push_back({{"run_id", run.run_id},
                           {"similarity", run.similarity},
                           {"created_at", run.created_at},
                           {"name", run.name},
                           {"model", run.model},
                           {"hardware", run.hardware}});
  return json_text(out);
}

std::string nearest_text(const runs::NearestRuns& found) {
  std::string out = fmt::format("{} of the ledger's runs have such a fingerprint, {} have none\n", found.searched, found.without);
  for (const auto& run : found.runs)
    out += fmt::format("  {:.4f}  {}  {}  {}\n", run.similarity, run.run_id, run.model.empty() ? "-" : run.model, run.hardware);
  return out;
}

int search(FingerprintFlags& flags) {
  if (flags.kernels) flags.request.kind = FingerprintKind::kKernels;
  const runs::NearestRuns found = runs::nearest_runs(flags.request, flags.count);
  flags.json ? write_data(nearest_json(found)) : write_lines(nearest_text(found));
  std::fflush(stdout);
  return 0;
}

int fingerprint(FingerprintFlags& flags) {
  if (flags.request.run.empty())
    throw Error(ErrorKind::kUsage, "there is no run", "fingerprint", "name a bundle, its run.json, or a run as `nl-stage ls` lists it");
  if (flags.kernels) flags.request.kind = FingerprintKind::kKernels;
  const std::string text = answer(flags);
  flags.json ? write_data(text) : write_lines(text);
  std::fflush(stdout);
  return 0;
}

void add_common_flags(CLI::App& verb, FingerprintFlags& flags) {
  verb.add_option("--peaks", flags.request.peaks, "peaks of the GPU, as conf/device has them; default: those of the run")
      ->type_name("FILE.yaml");
  verb.add_option("--ledger", flags.request.ledger, "where names are looked up; default: $NL_STAGE_LEDGER, or the user's own")
      ->type_name("PATH|URL");
  verb.add_flag("--kernels", flags.kernels, "kernels, also where the run has operators one by one");
}

CLI::App* add_search(CLI::App& verb, const std::shared_ptr<FingerprintFlags>& flags, std::function<int()>& action) {
  CLI::App* search_verb = verb.add_subcommand("search", "Find the runs of the ledger that are most like one");
  search_verb->add_option("run", flags->request.run, kRunHelp)->required()->type_name("RUN");
  search_verb->add_option("-n,--count", flags->count, "print so many")->capture_default_str()->check(above_zero<std::size_t>());
  add_common_flags(*search_verb, *flags);
  search_verb->add_flag("--json", flags->json, "print {run_id, kind, searched, without, runs}");
  search_verb->footer("Examples:\n  nl-stage fingerprint search bundle\n  nl-stage fingerprint search last -n 3 --json");
  search_verb->callback([flags, &action] { action = [flags] { return search(*flags); }; });
  return search_verb;
}

}  // namespace

void add_fingerprint(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<FingerprintFlags>();
  CLI::App* verb = app.add_subcommand("fingerprint", "Print what a run looks like to the GPU, and how alike two runs are");
  CLI::App* search_verb = add_search(*verb, flags, action);
  verb->add_option("run", flags->request.run, kRunHelp)->type_name("RUN");
  verb->add_option("--to", flags->to, "print how alike this run is, 0 to 1")->type_name("RUN");
  add_common_flags(*verb, *flags);
  verb->add_flag("--json", flags->json,
                 "print {run_id, hardware, model, kind, peaks, ridge_flop_per_byte, features, missing_features, note, items}; with --to "
                 "{a, b, similarity, only_a, only_b, pairs}");
  verb->footer(
      "Each operator or kernel has the vector [lat_norm, ai, occ, warp_eff, l2_hit, dram_norm]; docs/fingerprint.md has the formulas.\n"
      "What was not counted is null (a dash in the table) and counts as 0.\n"
      "Examples:\n"
      "  nl-stage fingerprint bundle\n"
      "  nl-stage fingerprint bundle --to baseline\n"
      "  nl-stage fingerprint search bundle\n"
      "  nl-stage fingerprint bundle --peaks conf/device/h200.yaml --json\n\n"
      "The exit status is 3 if a run.json is missing or damaged, or has neither operators nor kernels, 2 if the peaks are wrong.");
  verb->callback([flags, &action, search_verb] {
    if (!search_verb->parsed()) action = [flags] { return fingerprint(*flags); };
  });
}

}  // namespace nl::cli

#pragma once

#include <string>
#include <vector>

#include "runs/ledger/ledger.h"

namespace CLI {
class App;
}

// What the verbs of the ledger share.
namespace nl::cli {

// What RUN means, in every verb: runs/ledger/find_run.h
inline constexpr const char* kRunHelp =
    "a bundle's folder, its run.json, or a run of the ledger: its id, the beginning of it, its name, tag:NAME, last, last~1 …";
inline constexpr const char* kRunOrCaptureHelp =
    "a bundle's folder, its run.json, a capture that import reads, or a run of the ledger: its id, the beginning of it, its name, "
    "tag:NAME, "
    "last, last~1 …";

// "0.00420 ms": a metric with its unit, where its key is one of model/run_metrics.h.
std::string metric_words(const std::string& key, double value);

void add_ledger_flag(CLI::App& verb, std::string& ledger);

// Opens a ledger that exists: these verbs do not create one.
runs::Ledger open_ledger(const std::string& asked);

// The flags of `ls` and `trends` that select runs.
struct FilterFlags {
  std::string ledger, since, until;
  std::vector<std::string> words;
  runs::LedgerFilter filter;
};
void add_filter_flags(CLI::App& verb, FilterFlags& flags);
runs::LedgerFilter filter_of(const FilterFlags& flags);

}  // namespace nl::cli

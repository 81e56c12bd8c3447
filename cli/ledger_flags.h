#pragma once

#include <string>
#include <vector>

#include "runs/ledger/ledger.h"

namespace CLI {
class App;
}

// What the verbs of the ledger share.
namespace nl::cli {

inline constexpr const char* kRunNameHelp = "a run: its id, the beginning of it, its name, tag:NAME, last, last~1 …";

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

#pragma once

#include <filesystem>
#include <string>

// Where the tools of a server look: for the verbs that serve them.
namespace nl::cli {

// The folder below which captures and bundles lie, in full. Throws Error(kUsage) where there is none.
std::filesystem::path served_root(const std::string& asked);

// Gives the verbs this ledger, or that of the environment. They run in the root: one that is named relative to here is named in full for them.
void pass_on_ledger(const std::string& asked);

}  // namespace nl::cli

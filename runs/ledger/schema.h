#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runs/ledger/connection.h"

namespace nl::runs::database {

// A statement of the schema. Where the databases differ, words in braces stand for theirs: {key}, {text}; or each has its own.
struct Change {
  std::string sqlite;
  std::string postgresql = {};  // empty: the same
};

// What one version adds to the version before it. Never changed once it was released: ledgers of that version exist.
using Migration = std::vector<Change>;

const std::vector<Migration>& ledger_migrations();

// The version of a ledger that is an earlier one; empty: it is not.
std::optional<std::int64_t> older_version(Connection& connection);
inline constexpr std::int64_t kVersionOfParts = 3;      // the first whose runs have a part_of
inline constexpr std::int64_t kVersionOfWorkloads = 4;  // and a workload

// Brings a new or older ledger to the latest version, in one transaction. Throws Error(kInput) where it is from a newer nl-stage.
void migrate(Connection& connection, const std::vector<Migration>& migrations);

// How run.json is compressed in the ledger: to a tenth of its size.
inline constexpr const char* kPacking = "zstd";

std::string packed(std::string_view text);
// Throws Error(kInput) where the bytes are damaged or claim an absurd size.
std::string unpacked(std::string_view bytes, const std::string& where);

}  // namespace nl::runs::database

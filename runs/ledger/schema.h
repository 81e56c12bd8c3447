#pragma once

#include <string>
#include <vector>

#include "runs/ledger/connection.h"
#include "runs/orchestrator_names.h"

namespace nl::runs::database {

// A statement of the schema. Where the databases differ, words in braces stand for theirs: {key}, {text}; or each has its own.
struct Change {
  std::string sqlite;
  std::string postgresql = {};  // empty: the same
};

// What one version adds to the version before it. Never changed once it was released: ledgers of that version exist.
using Migration = std::vector<Change>;

const std::vector<Migration>& ledger_migrations();

// It is one, of a version before this one's.
bool is_older(Connection& connection);

// Brings a new or older ledger to the latest version, in one transaction. Throws Error(kInput) where it is from a newer nl-stage.
void migrate(Connection& connection, const std::vector<Migration>& migrations);

}  // namespace nl::runs::database

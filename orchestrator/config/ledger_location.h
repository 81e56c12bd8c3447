#pragma once

#include <string>
#include <string_view>

// Where a ledger is: a file of SQLite, or a URL of PostgreSQL.
namespace nl::orchestrator {

inline constexpr const char* kLedgerVariable = "NL_STAGE_LEDGER";

// What was asked for (--ledger, ledger.path), else $NL_STAGE_LEDGER, else nl-stage/ledger.sqlite in $XDG_DATA_HOME or
// ~/.local/share. Empty where the variable is "off", or where there is no home folder.
std::string ledger_location(const std::string& asked);

// "off" was asked for, or is in the variable.
bool ledger_is_off(const std::string& asked);

bool is_postgresql_url(std::string_view location);

// postgresql://me:secret@host/db → postgresql://me@host/db, for messages and files
std::string without_password(const std::string& location);

}  // namespace nl::orchestrator

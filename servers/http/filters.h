#pragma once

#include <string>
#include <vector>

#include "runs/ledger/ledger.h"
#include "servers/http/routes.h"

// What `nl-stage ls` takes as flags, pages and API take as a query.
namespace nl::servers::http {

const std::vector<Parameter>& filter_parameters();

// Throws Error(kUsage) for a time or a page that is none.
runs::LedgerFilter filter_of(const Fields& query);

// The address part that asks for the runs behind this one: "2026-11-16T17:37:57Z~123".
std::string key_text(const runs::LedgerEntry& entry);
runs::LedgerKey key_of_text(const std::string& text);

// A whole number from the query, within bounds. Throws Error(kUsage).
std::size_t number_in(const Fields& query, const std::string& name, std::size_t otherwise, std::size_t most);

}  // namespace nl::servers::http

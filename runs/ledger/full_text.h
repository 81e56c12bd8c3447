#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runs/ledger/connection.h"
#include "runs/orchestrator_names.h"

// Full-text search, where the two databases have nothing in common: FTS5 of SQLite, tsvector of PostgreSQL.
namespace nl::runs {

void put_words(database::Connection& connection, std::int64_t number,
               const std::vector<std::string>& words);                    // in place of those that were
void put_remarks(database::Connection& connection, std::int64_t number);  // the words of the run's tags and notes, as they are now
void drop_words(database::Connection& connection, std::int64_t number);

// A condition on runs.number with one ? for full_text_value(): every word, or one that begins with it, is there.
std::string full_text_condition(database::Dialect dialect);
std::string full_text_value(database::Dialect dialect, const std::vector<std::string>& words);

}  // namespace nl::runs

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/run.h"
#include "runs/ledger/connection.h"

// Full-text search, where the two databases have nothing in common: FTS5 of SQLite, tsvector of PostgreSQL. Words are cut here and not by
// the databases, so that both find the same.
namespace nl::runs {

// "Llama-3.1 8B" → llama, 3, 1, 8b. Letters outside ASCII stay as they are.
std::vector<std::string> search_words(std::string_view text);

// What can be found of a run: its names, model, GPUs, command, stages, top kernels and findings. Each word once, in order.
std::vector<std::string> words_of_run(const Run& run);

void put_words(database::Connection& connection, std::int64_t number,
               const std::vector<std::string>& words);                    // in place of those that were
void put_remarks(database::Connection& connection, std::int64_t number);  // the words of the run's tags and notes, as they are now
void drop_words(database::Connection& connection, std::int64_t number);

// A condition on runs.number with one ? for full_text_value(): every word, or one that begins with it, is there.
std::string full_text_condition(database::Dialect dialect);
std::string full_text_value(database::Dialect dialect, const std::vector<std::string>& words);

}  // namespace nl::runs

#pragma once

#include <cstdint>
#include <vector>

#include "runs/suite/run_suite.h"

// Work that is made larger until a speed-up shows.
namespace nl::runs {

// The range of a target: its own, or that of the pair it belongs to; null: its work has one size.
const SizeRange* size_range_of(const Suite& suite, std::size_t target);

// Targets that must have the same size, because they are halves of one pair, or of pairs that share a baseline. Those with one size are left out.
std::vector<std::vector<std::size_t>> sized_groups(const Suite& suite);

// Why the work of a pair should be larger; empty: there is no reason.
std::string why_larger(const PairResult& pair, const SizeRange& range);

// Runs at the largest size that both halves of each pair came to the end of, and those without a size. Only they are judged.
std::vector<TaskRecord> at_last_size(const Suite& suite, const std::vector<TaskRecord>& tasks);

// Says in the pairs how large their work is, and why it was raised.
void tell_sizes(const Suite& suite, const std::vector<TaskRecord>& tasks, std::vector<PairResult>& pairs);

}  // namespace nl::runs

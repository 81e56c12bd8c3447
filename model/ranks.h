#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/codes.h"
#include "model/time.h"

// The ranks of a distributed run: one process each, and often one capture each.
namespace nl {

// What a capture tells of the rank that it is of.
struct RankFacts {
  std::optional<std::uint32_t> rank = {}, world_size = {};
  RankSource source = RankSource::kNone;  // of the rank's number
  std::string host = {};                  // empty: not known
};

// How late a rank came to the collectives that it shares with others, and what it did meanwhile.
struct RankLateness {
  std::uint64_t collectives = 0;     // that all members were seen in
  std::uint64_t last = 0;            // it came last, by more than the clocks may be off
  Ns late_ns = 0;                    // in those: how much later than the last but one
  Ns waited_ns = 0;                  // in the others: until the last one came
  Ns computing_ns = 0, host_ns = 0;  // of late_ns: its GPU computed longer than the others', or waited longer for its program
  std::string slowest_kernel = {};   // ran the longest above what it takes the others, where it computed
  std::string slowest_range = {};    // innermost range that its program was in, where its GPU waited
};

// A rank of a run, and how its clock was made that of the first one: time = own time - offset_ns - drift × own time since `drift_from_ns`.
struct RankEntry {
  std::uint32_t rank = 0;
  RankSource source = RankSource::kNone;
  std::string host = {};  // empty: not known
  std::vector<std::uint32_t> pids = {};
  std::vector<std::int32_t> devices = {};
  std::string file = {};  // its capture; empty: one capture has several ranks
  RankClock clock = RankClock::kNone;
  Ns offset_ns = 0;  // of its clock of the day where captures have one, else of the time since the start of the capture
  double drift_ppm = 0;
  std::optional<Ns> drift_from_ns = {};                     // in the time of the run
  std::optional<double> residual_ns, residual_max_ns = {};  // of the ends of collectives: 1 sigma, and the largest; empty: not fitted
  std::uint64_t collectives = 0;                            // whose ends were fitted
  RankLateness lateness = {};
};

// The rank that a process is of; nullptr: none.
const RankEntry* rank_of(const std::vector<RankEntry>& ranks, std::uint32_t pid);

// False where processes of one capture were only counted.
inline bool number_known(const RankEntry& rank) { return rank.source != RankSource::kOrder || !rank.file.empty(); }

// "GPU 0", "GPU 0 (process 4242)", "GPU 1 (rank 1, process 4242)"
std::string gpu_name(const std::vector<RankEntry>& ranks, std::int32_t device, std::uint32_t pid);

}  // namespace nl

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
  std::uint64_t steps_latest = 0;    // of the steps of the matrix: no other rank was as late
  Ns worst_step_ns = 0;              // of late_ns: in the one of those steps that has the most of it
};

// What the GPUs of a rank did in its steps, each instant in one part; what is left of wall_ns they were idle. Where no steps are known, from the
// first work of all ranks to the last.
struct RankBudget {
  Ns wall_ns = 0;          // of all of its GPUs
  Ns compute_ns = 0;       // a compute kernel runs
  Ns exchange_ns = 0;      // else communication: all members have come, or who came when is not known
  Ns wait_ns = 0;          // else a collective that not all members have come to
  Ns receive_wait_ns = 0;  // else a send or receive whose partner has not come
  Ns copy_ns = 0;          // else a copy or a set
  Ns idle_ns() const { return wall_ns - compute_ns - exchange_ns - wait_ns - receive_wait_ns - copy_ns; }
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
  std::optional<Ns> capture_end_ns = {};  // in the time of the run; empty: its capture does not tell
  Ns offset_ns = 0;  // of its clock of the day where captures have one, else of the time since the start of the capture
  double drift_ppm = 0;
  std::optional<double> drift_error_ppm = {};               // 1 sigma; empty: not fitted
  std::optional<Ns> drift_from_ns = {};                     // in the time of the run
  std::optional<double> residual_ns, residual_max_ns = {};  // of the ends of collectives: 1 sigma, and the largest; empty: not fitted
  std::uint64_t collectives = 0;                            // whose ends were fitted
  RankLateness lateness = {};                               // in the whole capture
  std::optional<RankLateness> step_lateness = {};           // in its steps; empty: no steps are known
  RankBudget budget = {};
};

inline constexpr std::size_t kMaxMatrixRows = 32, kMaxMatrixRanks = 64;

// Steps that follow each other.
struct MatrixRow {
  Ns start_ns = 0;               // the first rank comes to the first collective
  std::vector<Ns> late_ns = {};  // by RankMatrix::ranks: how much later than the last but one it came, the sum over collectives
};

// How late each rank was in each step. A step is a window of the program's unit, all ranks together, and has the collectives that are launched in it.
struct RankMatrix {
  std::string stage = {};                 // whose windows the steps are; empty: no steps are known, and each collective counts as one
  std::uint64_t steps = 0;                // that have a collective
  std::uint64_t steps_each = 1;           // of a row; the last one may have fewer
  std::uint64_t late_steps = 0;           // some rank was late in
  std::uint64_t changes = 0;              // of them: another rank was the latest than in the late step before
  std::uint64_t outside = 0;              // collectives that no step has: of warm-up, or launched between steps
  std::vector<std::uint32_t> ranks = {};  // columns: at most kMaxMatrixRanks, those that were late the longest, by number
  std::vector<MatrixRow> rows = {};       // at most kMaxMatrixRows
};

inline constexpr std::size_t kMaxCollectiveRates = 32, kMaxRankPairs = 64;

// Collectives of one kind and group that tell their size, of about one size: from one power of two to the next.
struct CollectiveRate {
  Collective kind = Collective::kOther;
  std::vector<std::uint32_t> ranks = {};  // the members
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;           // sum; as nccl-tests count a call: the larger of what a member gives and gets
  Ns transfer_ns = 0;                // sum: from the arrival of the last member until it leaves
  double algorithm_bytes_per_s = 0;  // bytes ÷ transfer_ns
  double bus_bytes_per_s = 0;        // what each link carries, however many members there are
};

// Sends and receives between two ranks.
struct RankPair {
  std::uint32_t first = 0, second = 0;
  std::uint64_t calls = 0;
  Ns first_waited_ns = 0, second_waited_ns = 0;  // for the other one
  Ns transfer_ns = 0;                            // once both have come
};

// What the experts of a group of ranks compute in its steps, between an all-to-all that brings them their tokens and the next. Where a GPU is slower at all
// that it does, that is left out of `most_ns`.
struct ExpertLoad {
  std::vector<std::uint32_t> ranks = {};              // the members
  std::uint64_t rounds = 0;                           // stretches from an all-to-all to the next in which experts compute
  Ns mean_ns = 0;                                     // the sum over the rounds: of all members the mean
  Ns most_ns = 0;                                     // and of the member that has the most
  std::uint32_t busiest = 0;                          // the rank whose experts have the most in all
  Ns busiest_ns = 0;                                  // what they compute
  std::uint64_t busiest_rounds = 0;                   // in which no other rank's had more
  std::string kernel = {};                            // of the experts: takes that rank the longest above the mean
  Ns excess_ns() const { return most_ns - mean_ns; }  // that the members would save if all had the same
};

// A rank that did not come to a collective until the captures end, and what its program did last.
struct AbsentRank {
  std::uint32_t rank = 0;
  std::string range = {};  // the innermost; empty: it has none
  bool in_range = false;   // it is still in it
  Ns since_ns = 0;         // when that range began, or where it is in none when the last one ended
};

// Ranks that wait in a collective when the captures end, longer than any collective took before.
struct RankHang {
  std::vector<std::uint32_t> waiting = {};
  std::vector<AbsentRank> absent = {};   // whom they wait for
  Collective kind = Collective::kOther;  // that the first of them waits in
  Ns since_ns = 0, waited_ns = 0;        // of the first
};

// Of its steps; where none are known, of the whole capture.
inline const RankLateness& judged_lateness(const RankEntry& rank) { return rank.step_lateness ? *rank.step_lateness : rank.lateness; }

// The rank that a process is of; nullptr: none.
const RankEntry* rank_of(const std::vector<RankEntry>& ranks, std::uint32_t pid);

// False where processes of one capture were only counted.
inline bool number_known(const RankEntry& rank) { return rank.source != RankSource::kOrder || !rank.file.empty(); }

// "rank 3"; "process 4242" where it was only counted.
std::string rank_text(const RankEntry& rank);
// "rank 0, rank 1 and rank 3": those of the numbers.
std::string rank_texts(const std::vector<RankEntry>& ranks, const std::vector<std::uint32_t>& numbers);

// "GPU 0", "GPU 0 (process 4242)", "GPU 1 (rank 1, process 4242)"
std::string gpu_name(const std::vector<RankEntry>& ranks, std::int32_t device, std::uint32_t pid);

}  // namespace nl

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/flight_dump.h"

// What the dumps of several ranks show together: who waits, and for whom.
namespace nl {

enum class FlightVerdict : std::uint8_t {
  kNothingWaits,  // every call in the dumps is completed
  kMismatch,      // ranks called different things under one number
  kNotCalled,     // ranks wait in a call that others did not make
  kCircle,        // the same, and each of those waits itself
  kNoDump,        // ranks wait, and all that could be missing left no dump
  kAllCalled,     // a call is not done though all made it
  kUnknown,       // ranks wait, and the dumps do not show why
};

enum class MismatchKind : std::uint8_t { kKind, kSizes, kTypes, kOrder };

// The last sequence numbers of a group that a rank's dump has.
struct MemberState {
  std::uint32_t rank = 0;
  bool has_dump = false;
  std::optional<std::uint64_t> first, called, started, completed;  // first: of those that the recorder kept
};

// Ranks that called the same.
struct MismatchSide {
  std::vector<std::uint32_t> ranks;
  CallForm form;
  std::vector<CallFrame> stack;  // of the first of them
};

struct Mismatch {
  std::uint64_t sequence = 0;
  MismatchKind kind = MismatchKind::kKind;
  std::vector<MismatchSide> sides;  // the larger first
  bool majority = false;            // the first side has more than half of the ranks
};

// The first call of a group that is not done.
struct GroupWait {
  std::uint64_t sequence = 0;
  CallForm form;
  std::vector<CallFrame> stack;                    // of the first that waits
  std::vector<std::uint32_t> started, scheduled;   // these wait
  std::vector<std::uint32_t> not_called, no_dump;  // for one of these
  std::vector<std::uint32_t> completed;            // done with it
  std::vector<std::uint32_t> unknown;              // the recorder may have written over it, or calls were left out
  bool done_elsewhere = false;                     // which needs all members: the dumps are of different times
};

struct GroupReport {
  DumpGroup group;
  std::vector<MemberState> members;
  std::optional<Mismatch> mismatch;  // the first
  std::optional<GroupWait> wait;
};

// A send or receive that is not done.
struct PeerWait {
  std::uint32_t rank = 0, peer = 0, group = 0;  // group: its place among those of the report
  std::uint64_t sequence = 0;
  bool sends = false;
  CallState state = CallState::kScheduled;
  bool peer_has_dump = false;
  std::optional<bool> peer_called;  // its counterpart; empty: the dumps do not show it
  std::vector<CallFrame> stack;
};

// A rank that others wait for.
struct WaitedFor {
  std::uint32_t rank = 0;
  std::vector<std::uint32_t> by;         // these
  std::vector<std::uint32_t> waits_for;  // and whom it waits for itself
  bool has_dump = false;
  std::uint64_t last_sequence = 0;    // its last call of any group
  std::string last_kind, last_group;  // empty: its dump has none
  CallState last_state = CallState::kScheduled;
  std::vector<CallFrame> last_stack;
};

struct FlightReport {
  FlightVerdict verdict = FlightVerdict::kNothingWaits;
  std::vector<std::uint32_t> ranks, missing;  // with a dump; named by a group, without one
  std::vector<GroupReport> groups;
  std::vector<PeerWait> peers;
  std::vector<WaitedFor> waited_for;  // those first that do not wait themselves
  std::uint64_t calls = 0, damaged_calls = 0;
  std::vector<std::uint32_t> begin_late;  // whose older calls were written over
  std::vector<std::uint32_t> incomplete;  // whose completed calls were left out
  Ns apart_ns = 0;                        // between the last call of one dump and the first of another; 0: they overlap
  std::uint32_t early_rank = 0, late_rank = 0;
};

}  // namespace nl

#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/time.h"

// What PyTorch's flight recorder kept of the collectives of one rank: the last calls of its process, in their order.
namespace nl {

enum class CallState : std::uint8_t { kScheduled, kStarted, kCompleted };

// What the ranks of a call have to agree on, and whether one can be done before all have called.
enum class CallRule : std::uint8_t {
  kSame,       // all give and take the same number of elements
  kRoot,       // as kSame, and a rank may be done before the others
  kScatter,    // as kRoot, and the root alone gives
  kGather,     // as kRoot, and the root alone takes
  kFreeSizes,  // each has its own numbers of elements
  kSend,       // two ranks of the group
  kReceive,
};

struct CallFrame {
  std::string function, file;
  std::uint64_t line = 0;
  friend auto operator<=>(const CallFrame&, const CallFrame&) = default;
};

// What is called. The ranks of a group have to agree on it.
struct CallForm {
  std::string kind;  // "all_reduce"; "send 0->1", by places in the group
  CallRule rule = CallRule::kSame;
  std::optional<std::uint32_t> peer = {};                  // of a send or receive: the place of the other rank in the group
  std::vector<std::vector<std::int64_t>> inputs, outputs;  // sizes of the tensors
  std::vector<std::string> input_dtypes, output_dtypes;
  friend auto operator<=>(const CallForm&, const CallForm&) = default;
};

struct RecordedCall {
  std::uint64_t record = 0;         // its number among all calls of the process
  std::uint64_t sequence = 0;       // of collectives in its group
  std::uint64_t peer_sequence = 0;  // of sends and receives in its group
  Ns created_ns = 0;                // by the clock of the day; 0: not known
  std::uint32_t group = 0, form = 0, stack = 0;
  CallState state = CallState::kScheduled;
  bool point_to_point = false;
};

struct DumpGroup {
  std::string name, description;
  std::vector<std::uint32_t> ranks;  // of the job, in the order of the group; empty: not known
  friend auto operator<=>(const DumpGroup&, const DumpGroup&) = default;
};

struct FlightDump {
  std::string file;
  std::uint32_t rank = 0;  // the dump does not have it; its file's name does
  std::string version;     // of the format
  std::vector<DumpGroup> groups;
  std::vector<CallForm> forms;
  std::vector<std::vector<CallFrame>> stacks;  // innermost first
  std::vector<RecordedCall> calls;             // by record
  std::uint64_t damaged_calls = 0;             // that lack what a call has
  bool calls_dumped = false;                   // false: it was asked to leave them out

  // Older calls were written over.
  bool begins_late() const { return !calls.empty() && calls.front().record > 0; }
  // False: completed calls were left out, so that a call that is not there may be done.
  bool has_every_call() const {
    return calls.empty() ? calls_dumped : calls.back().record - calls.front().record + 1 == calls.size() + damaged_calls;
  }
};

}  // namespace nl

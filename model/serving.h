#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/host_code.h"
#include "model/load.h"
#include "model/time.h"
#include "model/words.h"

// The bill of a window of serving: where the time, the GPU time and the energy of every request went. docs/serving.md has the definitions.
namespace nl {

// What a moment of a request's time is. Disjoint, and together all of it.
enum class ServingPart : std::uint8_t {
  kQueue,         // arrived, until its first step begins
  kPrefill,       // a step that computes a part of its prompt
  kDecode,        // a step that writes a token of it, as far as it would have taken without the prompts of others
  kInterference,  // the rest of such a step, and steps that compute only prompts of others while it has to wait
  kUndivided,     // a step that writes a token of it beside prompts of others, with no steps to compare it with
  kPreemption,    // preempted, until its next step begins; and steps that compute again what it had computed
  kOtherSteps,    // a step without it, between its own, that computes tokens of others only
  kBetweenSteps,  // no step runs: scheduling, messages between processes, what the host does before a step and behind it
  kDetokenising,  // finished by the scheduler, until all of its text is made
  kNetwork,       // from sending it until it has arrived, and from the last text until the client has all of it
};
inline constexpr std::size_t kServingParts = 10;
template <>
inline constexpr auto kKeys<ServingPart> = std::to_array<std::string_view>(
    {"queue", "prefill", "decode", "interference", "undivided", "preemption", "other_steps", "between_steps", "detokenising", "network"});

struct ServingTimes {
  std::array<Ns, kServingParts> ns{};
  Ns& operator[](ServingPart part) { return ns[static_cast<std::size_t>(part)]; }
  Ns operator[](ServingPart part) const { return ns[static_cast<std::size_t>(part)]; }
  Ns total() const {
    Ns sum = 0;
    for (const Ns each : ns) sum += each;
    return sum;
  }
  friend bool operator==(const ServingTimes&, const ServingTimes&) = default;
};

// What a request takes of something that steps use up: by its tokens, and of what a step costs whatever is in it.
struct ServingCost {
  Ns own_ns = 0, shared_ns = 0;
  Ns total() const { return own_ns + shared_ns; }
  friend bool operator==(const ServingCost&, const ServingCost&) = default;
};

enum class RequestEnd : std::uint8_t { kNone, kLength, kStop, kCancelled, kOther };  // kNone: not in the window
template <>
inline constexpr auto kKeys<RequestEnd> = std::to_array<std::string_view>({"", "length", "stop", "cancelled", "other"});

struct ServingSpan {
  Ns start_ns = 0, end_ns = 0;
  ServingPart part = ServingPart::kQueue;
};

struct ServingRequest {
  std::uint64_t id = 0;
  std::string name;                     // its X-Request-Id; empty: not known
  std::optional<std::uint32_t> worker;  // index into Serving::workers; empty: no step had it
  std::optional<std::uint64_t> prompt_tokens, output_tokens;
  RequestEnd end = RequestEnd::kNone;
  bool began_before = false, ended_after = false;  // of the window: only its parts inside are here
  Ns start_ns = 0, end_ns = 0;                     // in the capture; within the window
  ServingTimes times;                              // adds up to end_ns − start_ns, and the network where it is known
  std::optional<Ns> network_before_ns, network_after_ns;
  std::optional<Ns> first_token_ns;  // since it arrived
  std::uint64_t preemptions = 0, steps = 0, decode_steps = 0;
  ServingCost step;                       // of the time of the steps
  std::optional<ServingCost> gpu;         // of the GPU's time
  std::optional<std::int64_t> energy_uj;  // microjoules

  bool whole() const { return !began_before && !ended_after; }
  bool judged() const { return whole() && (end == RequestEnd::kLength || end == RequestEnd::kStop); }
  Ns server_ns() const { return end_ns - start_ns; }
};

enum class ServingStepKind : std::uint8_t { kPrefill, kDecode, kMixed };
template <>
inline constexpr auto kKeys<ServingStepKind> = std::to_array<std::string_view>({"prefill", "decode", "mixed"});

struct ServingSteps {  // all steps of one kind
  ServingStepKind kind = ServingStepKind::kPrefill;
  TimeSummary wall;
  std::uint64_t requests = 0, prefill_tokens = 0, decode_tokens = 0;
  std::optional<Ns> gpu_ns;
};

struct ServingStep {  // one of the longest
  std::uint32_t worker = 0;
  std::uint64_t index = 0;
  Ns start_ns = 0, end_ns = 0;
  std::uint64_t prefills = 0, decodes = 0, prefill_tokens = 0;
  std::optional<Ns> gpu_ns;
};

// A range, or a function of the host, that ran between steps.
struct ServingCode {
  std::string range;    // its name
  std::string process;  // empty: not known
  Ns ns = 0;            // of the time between steps, each moment in one range
  std::optional<HostFrame> function;
};

struct ServingWorker {  // its times add up to the window
  std::string process;  // empty: not known
  std::uint32_t pid = 0;
  std::uint64_t steps = 0;
  Ns step_ns = 0;     // a step runs
  Ns between_ns = 0;  // no step runs, and a request of its own is there
  Ns idle_ns = 0;     // no request is there
  Ns shared_ns = 0;   // of step_ns: what the steps cost whatever is in them; see Serving::step_floor
};

struct ServingLatency {
  enum class Figure : std::uint8_t { kQueue, kTtft, kTpot, kTotal };
  struct Quantile {
    double share = 0, ns = 0;
    std::optional<double> low_ns, high_ns;  // 95 % interval; empty: too few requests
  };
  Figure figure = Figure::kQueue;
  std::uint64_t count = 0;
  double mean_ns = 0;
  std::vector<Quantile> quantiles;  // rising
};
template <>
inline constexpr auto kKeys<ServingLatency::Figure> = std::to_array<std::string_view>({"queue", "ttft", "tpot", "total"});

// The window in equal pieces.
struct ServingSeries {
  Ns start_ns = 0, step_ns = 0;
  std::vector<double> arrivals;          // in the piece
  std::vector<double> running, waiting;  // requests, on average
  std::vector<double> batch;             // requests of a step, on average over the time of the steps; 0: none ran
};

// Why one of the slowest requests took so long.
struct SlowRequest {
  std::uint64_t id = 0;
  Ns latency_ns = 0;
  std::uint64_t peers = 0;               // requests of like sizes
  std::optional<double> peer_median_ns;  // of their time; empty: too few
  ServingTimes excess;                   // by part, above the peers' medians; all zero without peers
  bool slower_than_peers =
      false;  // then the cause is the part with the largest excess, else the largest part that is not its own computing
  ServingPart cause = ServingPart::kQueue;
  Ns cause_ns = 0;
  std::vector<std::uint64_t> others;  // whose prompts it waited for, the longest first
};

struct ServingTrack {  // of a picture: what most of each piece of time is
  std::uint64_t id = 0;
  std::vector<ServingSpan> spans;
};

struct ServingCause {
  ServingPart part = ServingPart::kQueue;
  std::uint64_t requests = 0;
  Ns ns = 0;
};

struct ServingTail {
  std::uint64_t judged = 0;   // requests that began and ended in the window, and were not cancelled
  ServingTimes judged_times;  // of all of them, the network where it is known
  std::vector<SlowRequest> requests;
  std::vector<ServingCause> causes;  // of all of them, the most time first
  Ns latency_ns = 0;                 // of all of them
  ServingTimes times;                // of the slowest, by part
};

// What is wrong with marks and records: counted, and nothing else is done with it.
enum class ServingDamage : std::uint8_t {
  kUnreadable,      // a mark of this vocabulary without an id, an index, or with numbers that are none
  kTwice,           // an event of a request that had it already
  kStepCut,         // a step of which a part of its mark is missing
  kStepNoRange,     // no range follows its mark
  kStepsOverlap,    // it begins before the one before it on its thread has ended
  kOtherWorker,     // a step of another worker than the request's first
  kNotArrived,      // requests without `arrived` that begin within the window
  kBackwards,       // an event that lies before one that must precede it
  kClientNotFound,  // records of the client whose request is not in the capture
  kClientTimes,     // records of the client that contradict the marks
};
template <>
inline constexpr auto kKeys<ServingDamage> =
    std::to_array<std::string_view>({"unreadable", "twice", "step_cut", "step_without_range", "steps_overlap", "other_worker",
                                     "not_arrived", "backwards", "client_not_found", "client_times"});

struct ServingDamaged {
  ServingDamage what = ServingDamage::kUnreadable;
  std::uint64_t count = 0;
};

enum class NetworkState : std::uint8_t { kNoRecords, kNoClock, kNoIds, kJoined };
template <>
inline constexpr auto kKeys<NetworkState> = std::to_array<std::string_view>({"no_records", "no_clock", "no_ids", "joined"});

struct Serving {
  Ns start_ns = 0, end_ns = 0;  // the window
  std::uint64_t count = 0;      // of requests; `requests` may have fewer
  std::uint64_t arrived = 0, whole = 0, began_before = 0, ended_after = 0, cancelled = 0, preempted = 0;
  ServingTimes times;                           // of all requests, without the network
  std::uint64_t prompt_tokens = 0;              // of those that arrived in the window
  std::uint64_t output_tokens = 0;              // of those that ended in it
  std::vector<ServingRequest> requests;         // by arrival
  std::vector<ServingWorker> workers;           // by their first step
  std::vector<ServingSteps> steps;              // of the kinds that there are
  std::vector<ServingStep> longest_steps;       // the longest first
  std::optional<Ns> step_floor;                 // what a step of one token takes: the median; empty: there are too few
  std::optional<Ns> gpu_floor;                  // and its GPU time
  std::optional<Ns> gpu_step_ns, gpu_other_ns;  // GPU time in steps, and outside of them; empty: not captured
  std::optional<std::uint64_t> gpu_steps;       // whose GPU time is known: not all, in a window of a recorder or with capture.duty
  std::optional<std::int64_t> energy_uj;        // of the window; empty: not measured, and
  std::string energy_note;                      // why
  std::vector<ServingCode> between_code;        // the most time first
  std::vector<ServingLatency> latencies;
  ServingSeries series;
  ServingTail tail;
  std::vector<ServingTrack> tracks;    // of the slowest request and those beside it, by arrival
  std::optional<LoadArrivals> client;  // how the client sent them, as it says; empty: no records
  NetworkState network = NetworkState::kNoRecords;
  std::uint64_t joined = 0;            // requests with a record of the client
  std::vector<ServingDamaged> damage;  // what there is

  Ns window_ns() const { return end_ns - start_ns; }
};

}  // namespace nl

#include "exporters/report/text/serving_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "exporters/report/text/figure_text.h"
#include "exporters/report/text/run_text.h"

namespace nl::exporters::report {
namespace {

using enum ServingPart;

double nanoseconds(Ns ns) { return static_cast<double>(ns); }

std::string others_text(const Serving& serving, const SlowRequest& slow) {
  std::vector<std::string> named;
  for (const std::uint64_t id : slow.others) {
    const ServingRequest* other = request_of(serving, id);
    const bool known = other != nullptr && other->prompt_tokens;
    if (named.size() < 3)
      named.push_back(fmt::format("request {}{}", id, known ? fmt::format(" of {} prompt tokens", count_text(*other->prompt_tokens)) : ""));
  }
  return named.empty() ? "prompts of others" : fmt::format("the prompts of {}", fmt::join(named, ", "));
}

std::string cause_text(const Serving& serving, const SlowRequest& slow) {
  const std::string time = time_text(nanoseconds(slow.cause_ns));
  switch (slow.cause) {
    case kQueue: return fmt::format("{} in the queue before its first step: no blocks or no place in the batch were free", time);
    case kPrefill: return fmt::format("{} in the prefill of its own prompt, beside which other requests share the steps", time);
    case kDecode: return fmt::format("{} in decode steps: they are longer, or there are more of them", time);
    case kInterference:
      return fmt::format("{} of interference: {} were computed in steps that it had to wait for", time, others_text(serving, slow));
    case kUndivided: return fmt::format("{} in steps with prompts of others, which no step without prompts can be compared with", time);
    case kPreemption: return fmt::format("{} of preemption: its cache blocks were taken, and it computed its tokens again", time);
    case kOtherSteps: return fmt::format("{} in steps of the worker that left it out", time);
    case kBetweenSteps: {
      const bool named = !serving.between_code.empty();
      return fmt::format("{} between steps, in which no step runs{}", time,
                         named ? ": mostly " + code_text(serving.between_code.front()) : "");
    }
    case kDetokenising: return fmt::format("{} of detokenising: the scheduler had ended it, and its text was not made yet", time);
    case kNetwork: return fmt::format("{} between client and server", time);
  }
  return time;
}

}  // namespace

std::string part_title(ServingPart part) {
  constexpr const char* kTitles[] = {"queue",      "prefill",     "decode",        "interference", "not divided",
                                     "preemption", "other steps", "between steps", "detokenising", "network"};
  return kTitles[static_cast<std::size_t>(part)];
}

const char* part_meaning(ServingPart part) {
  constexpr const char* kMeanings[] = {"from its arrival until its first step begins",
                                       "steps that compute a part of its prompt",
                                       "steps that write a token of it, as long as such steps take without prompts",
                                       "what prompts of others add to these steps, and steps of prompts alone that it waits for",
                                       "steps that write a token of it beside prompts, with fewer than three steps to compare them with",
                                       "preempted until its next step begins, and steps that compute its tokens again",
                                       "steps without it, between its own, that write tokens of others",
                                       "no step runs: scheduling, messages between processes, host work before and behind a step",
                                       "from its end in the scheduler until all of its text is made",
                                       "from sending it to its arrival, and from the last text until the client has all of it"};
  return kMeanings[static_cast<std::size_t>(part)];
}

const char* part_colour(ServingPart part) {
  constexpr const char* kColours[] = {"b-queue", "s-0", "b-compute", "b-starved", "s-3", "b-sync", "b-copy", "b-host", "s-4", "s-5"};
  return kColours[static_cast<std::size_t>(part)];
}

const ServingRequest* request_of(const Serving& serving, std::uint64_t id) {
  const auto found = std::find_if(serving.requests.begin(), serving.requests.end(), [&](const auto& each) { return each.id == id; });
  return found != serving.requests.end() ? &*found : nullptr;
}

std::string request_text(const ServingRequest& request) {
  return request.name.empty() ? std::to_string(request.id) : fmt::format("{} ({})", request.id, request.name);
}

std::string code_text(const ServingCode& code) {
  std::string out = fmt::format("range {}", code.range);
  if (!code.process.empty()) out += " of " + code.process;
  if (code.function) out += ", function " + frame_text(*code.function);
  return out;
}

std::string reason_text(const Serving& serving, const SlowRequest& slow) {
  const ServingRequest* request = request_of(serving, slow.id);
  std::string out = fmt::format("Request {} took {}", request != nullptr ? request_text(*request) : std::to_string(slow.id),
                                time_text(nanoseconds(slow.latency_ns)));
  if (slow.slower_than_peers)
    return out + fmt::format("; {} of like sizes take {}. The difference is {}.", plural(slow.peers, "request"),
                             time_text(*slow.peer_median_ns), cause_text(serving, slow));
  if (slow.peer_median_ns)
    return out + fmt::format(", about as long as {} of like sizes, which take {}. All of them pay for {}.", plural(slow.peers, "request"),
                             time_text(*slow.peer_median_ns), cause_text(serving, slow));
  return out + fmt::format(". Fewer than five requests are of like sizes. Besides its own computing, it pays most for {}.",
                           cause_text(serving, slow));
}

std::string damage_text(const ServingDamaged& damage) {
  using enum ServingDamage;
  const auto say = [&](const char* one, const char* several) { return plural(damage.count, one, several); };
  switch (damage.what) {
    case kUnreadable: return say("mark without an id, an index or readable entries", "marks without an id, an index or readable entries");
    case kTwice: return say("event that came twice", "events that came twice");
    case kStepCut: return say("step of which a part of its marks is missing", "steps of which a part of their marks is missing");
    case kStepNoRange: return say("mark of a step without a range behind it", "marks of steps without a range behind them");
    case kStepsOverlap:
      return say("step that begins before the one before it has ended", "steps that begin before the ones before them have ended");
    case kOtherWorker: return say("step of another worker than its request's first", "steps of other workers than their requests' first");
    case kNotArrived: return say("request whose arrival is not marked", "requests whose arrivals are not marked");
    case kBackwards: return say("request that ends before it begins", "requests that end before they begin");
    case kClientNotFound: return say("record of the client without its request", "records of the client without their requests");
    case kClientTimes: return say("record of the client that contradicts the marks", "records of the client that contradict the marks");
  }
  return {};
}

std::string network_text(const Serving& serving) {
  switch (serving.network) {
    case NetworkState::kNoRecords:
      return "The network is not captured: the bill ends where the text is made. `nl-stage load --out FILE` records the client's times; "
             "give FILE to "
             "--load of run or import.";
    case NetworkState::kNoClock: return "The network is not captured: the client's records and the capture have no clock in common.";
    case NetworkState::kNoIds: return "The network is not captured: the client's records have no X-Request-Id.";
    case NetworkState::kJoined:
      return fmt::format("{} of {} have a record of the client, joined by X-Request-Id.", count_text(serving.joined),
                         plural(serving.count, "request"));
  }
  return {};
}

std::string load_sentence(const Serving& serving) {
  const double seconds = nanoseconds(serving.window_ns()) * 1e-9;
  std::string out = fmt::format("In {} {} arrived", time_text(nanoseconds(serving.window_ns())), plural(serving.arrived, "request"));
  if (serving.arrived > 1 && seconds > 0) out += fmt::format(", {} a second", figure_text(static_cast<double>(serving.arrived) / seconds));
  out += fmt::format("; {} began and ended in the window.", count_text(serving.whole));
  if (serving.began_before + serving.ended_after > 0)
    out += fmt::format(" {} began before it and {} ended after it: only their parts inside are billed.", count_text(serving.began_before),
                       count_text(serving.ended_after));
  if (serving.cancelled > 0)
    out += fmt::format(" {} cancelled.", serving.cancelled == 1 ? "1 was" : count_text(serving.cancelled) + " were");
  if (serving.preempted > 0)
    out += fmt::format(" {} preempted.", serving.preempted == 1 ? "1 was" : count_text(serving.preempted) + " were");
  return out;
}

}  // namespace nl::exporters::report

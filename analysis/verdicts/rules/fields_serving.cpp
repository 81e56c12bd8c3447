#include "analysis/verdicts/rules/fields.h"
#include "model/words.h"

// The bill of a window of serving.
namespace nl::analysis::rules {
namespace {

const Serving* serving(const Subject& s) { return pointer_into(s.run->serving); }

const ServingCause* cause(const Subject& s) {
  return serving(s) != nullptr && !serving(s)->tail.causes.empty() ? &serving(s)->tail.causes.front() : nullptr;
}

const ServingCode* code(const Subject& s) {
  return serving(s) != nullptr && !serving(s)->between_code.empty() ? &serving(s)->between_code.front() : nullptr;
}

// Of the time of all requests, inside the window.
template <ServingPart Part>
Value share(const Subject& s) {
  return serving(s) != nullptr ? Value::of(serving(s)->times[Part]).over(serving(s)->times.total()) : Value::not_captured();
}

// Of the time of the slowest requests.
template <ServingPart Part>
Value tail_share(const Subject& s) {
  return serving(s) != nullptr ? Value::of(serving(s)->tail.times[Part]).over(serving(s)->tail.latency_ns) : Value::not_captured();
}

Value between_time(const Subject& s) {
  if (serving(s) == nullptr) return Value::not_captured();
  Ns sum = 0;
  for (const ServingWorker& worker : serving(s)->workers) sum += worker.between_ns;
  return Value::of(sum);
}

Value code_share(const Subject& s) {
  if (serving(s) == nullptr) return Value::not_captured();
  return code(s) != nullptr ? Value::of(code(s)->ns).over(between_time(s).number) : Value::none();
}

Value text_of_code(const Subject& s, const std::string ServingCode::* member) {
  if (serving(s) == nullptr) return Value::not_captured();
  return code(s) != nullptr ? Value::of_text(code(s)->*member) : Value::none();
}

// How much longer than the median of their peers the slowest take.
Value against_peers(const Subject& s) {
  if (serving(s) == nullptr) return Value::not_captured();
  double sum = 0, peers = 0;
  for (const SlowRequest& slow : serving(s)->tail.requests)
    if (slow.peer_median_ns) sum += static_cast<double>(slow.latency_ns), peers += *slow.peer_median_ns;
  return Value::of(sum).over(peers);
}

template <ServingPart Part>
void add_part(const FieldGroup& add, std::string_view share_name, std::string_view tail_name, std::string_view share_help,
              std::string_view tail_help) {
  add(share_name, Unit::kShare, share_help, share<Part>);
  add(tail_name, Unit::kShare, tail_help, tail_share<Part>);
}

}  // namespace

void add_serving_fields(std::vector<Field>& fields) {
  using enum ServingPart;
  const FieldGroup add(fields, Capture::kRequests, Place::kServing);
  FieldGroup(fields, Capture::kAlways, Place::kServing)
      .truth("serves", "an engine marks its requests, and at least one ended in the capture",
             [](const Subject& s) { return Value::of_truth(serving(s) != nullptr && serving(s)->tail.judged > 0); });
  add("judged_requests", Unit::kCount, "requests that began and ended in the window and were not cancelled",
      [](const Subject& s) { return serving(s) != nullptr ? Value::of(serving(s)->tail.judged) : Value::not_captured(); });
  add("slow_requests", Unit::kCount, "of them the slowest percent, against requests of like sizes",
      [](const Subject& s) { return serving(s) != nullptr ? Value::of(serving(s)->tail.requests.size()) : Value::not_captured(); });
  add("slow_against_peers", Unit::kNumber, "their time ÷ the median of requests of like sizes", against_peers);
  add.text("slow_cause",
           "why they are slow, as most of their time has it: queue, prefill, decode, interference, preemption, other_steps, between_steps, "
           "detokenising, network",
           [](const Subject& s) {
             if (serving(s) == nullptr) return Value::not_captured();
             return cause(s) != nullptr ? Value::of_text(key_of(cause(s)->part)) : Value::none();
           });
  add("slow_cause_share", Unit::kShare, "of their time: what is due to that", [](const Subject& s) {
    if (serving(s) == nullptr) return Value::not_captured();
    return cause(s) != nullptr ? Value::of(cause(s)->ns).over(serving(s)->tail.latency_ns) : Value::none();
  });
  add_part<kQueue>(add, "request_queue_share", "slow_queue_share", "of the time of all requests: before their first step",
                   "likewise, of the slowest");
  add_part<kInterference>(add, "request_interference_share", "slow_interference_share", "of the time of all requests: prompts of others",
                          "likewise, of the slowest");
  add_part<kPreemption>(add, "request_preemption_share", "slow_preemption_share",
                        "of the time of all requests: preempted, or computing again", "likewise, of the slowest");
  add_part<kBetweenSteps>(add, "request_between_share", "slow_between_share", "of the time of all requests: no step runs",
                          "likewise, of the slowest");
  add_part<kDetokenising>(add, "request_detokenising_share", "slow_detokenising_share",
                          "of the time of all requests: finished, and their text is not made", "likewise, of the slowest");
  add("between_steps_time", Unit::kTime, "no step of a worker runs, and a request of its own is there", between_time);
  add.text("between_steps_range", "the range that most of it lies in",
           [](const Subject& s) { return text_of_code(s, &ServingCode::range); });
  add.text("between_steps_process", "its process", [](const Subject& s) { return text_of_code(s, &ServingCode::process); });
  add.text("between_steps_function", "the function that runs there, by samples of the host's stacks", [](const Subject& s) {
    if (serving(s) == nullptr || code(s) == nullptr || !code(s)->function) return Value::not_captured();
    return Value::of_text(code(s)->function->function);
  });
  add("between_steps_range_share", Unit::kShare, "of `between_steps_time`: in that range", code_share);
  add("preempted_requests", Unit::kCount, "requests that were preempted",
      [](const Subject& s) { return serving(s) != nullptr ? Value::of(serving(s)->preempted) : Value::not_captured(); });
}

}  // namespace nl::analysis::rules

#include "analysis/figures/serving/serving.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "analysis/figures/energy/energy.h"
#include "analysis/figures/serving/between.h"
#include "analysis/figures/serving/costs.h"
#include "analysis/figures/serving/curves.h"
#include "analysis/figures/serving/network.h"
#include "analysis/figures/serving/tail.h"

namespace nl::analysis {
namespace serving {
namespace {

constexpr std::size_t kMostListed = 5'000;  // requests, and the slowest

// Of all GPUs whose meters were read, idle power included; nothing, and why.
std::optional<double> joules_in(const Evidence& evidence, const Window& window, std::string& note) {
  const auto& samples = evidence.power;
  std::set<std::int32_t> devices;
  for (const PowerSample& sample : samples) devices.insert(sample.device);
  if (devices.empty()) {
    note = evidence.power_note.empty() ? "the GPUs' meters were not read" : evidence.power_note;
    return std::nullopt;
  }
  if (!evidence.trace.utc_start_ns) {
    note = "the capture has no start time to join the meters' readings with";
    return std::nullopt;
  }
  const UtcWindow utc{*evidence.trace.utc_start_ns + window.start_ns, *evidence.trace.utc_start_ns + window.end_ns};
  double joules = 0;
  for (const std::int32_t device : devices) {
    EnergyCurve curve = EnergyCurve::of_counter(samples, device);
    if (curve.empty()) curve = EnergyCurve::of_power(samples, device);
    if (curve.empty() || !curve.covers(utc)) {
      note = "the meters' readings do not cover the window";
      return std::nullopt;
    }
    joules += curve.joules(utc);
  }
  return joules;
}

class Biller {
 public:
  Biller(const Evidence& evidence, Events events)
      : evidence_(evidence), trace_(evidence.trace), events_(std::move(events)), window_(window_of(events_, trace_.duration_ns)) {}

  Serving bill() {
    out_.start_ns = window_.start_ns;
    out_.end_ns = window_.end_ns;
    lives_ = lives_of(events_, window_);
    out_.gpu_other_ns = find_gpu_work(trace_, window_, events_);
    bill_time();
    bill_steps();
    bill_energy();
    join_client(evidence_.loads, trace_, requests_, events_.damage, out_);
    tell_workers();
    out_.steps = step_kinds(events_);
    out_.longest_steps = longest_steps(events_);
    out_.series = series_of(events_, window_, spans_);
    out_.latencies = latencies_of(requests_);
    tell_tail();
    count();
    list_requests();
    for (const auto& [what, count] : events_.damage) out_.damage.push_back({what, count});
    return std::move(out_);
  }

 private:
  void bill_time() {
    std::vector<DecodeTimes> decode_times;
    for (const Worker& worker : events_.workers) decode_times.emplace_back(worker);
    for (std::uint32_t i = 0; i < lives_.size(); ++i) {
      const Life& life = lives_[i];
      const RequestEvents& events = events_.requests[i];
      spans_.push_back(spans_of(events_, i, life, life.worker == kNoWorker ? nullptr : &decode_times[life.worker]));
      ServingRequest& request = requests_.emplace_back();
      request.id = events.id;
      request.name = events.name;
      if (life.worker != kNoWorker) request.worker = life.worker;
      request.prompt_tokens = events.prompt_tokens;
      request.output_tokens = events.output_tokens;
      request.end = events.end;
      request.began_before = life.began_before;
      request.ended_after = life.ended_after;
      request.start_ns = life.start_ns;
      request.end_ns = life.end_ns;
      request.times = sum_of(spans_.back());
      if (events.arrived_ns && events.first_token_ns && *events.first_token_ns >= *events.arrived_ns)
        request.first_token_ns = *events.first_token_ns - *events.arrived_ns;
      request.preemptions = events.preempted.size();
      request.steps = life.own.size();
      request.decode_steps =
          static_cast<std::uint64_t>(std::count_if(life.own.begin(), life.own.end(), [](const OwnStep& own) { return !own.prefill; }));
      for (std::size_t part = 0; part < kServingParts; ++part) out_.times.ns[part] += request.times.ns[part];
    }
  }

  void bill_steps() {
    out_.step_floor = floor_of(events_.workers, wall_of);
    const auto steps = costs_of(events_, window_, out_.step_floor, wall_of);
    for (std::size_t i = 0; i < requests_.size(); ++i) requests_[i].step = steps[i];
    if (!out_.gpu_other_ns) return;
    out_.gpu_floor = floor_of(events_.workers, gpu_of);
    const auto gpu = costs_of(events_, window_, out_.gpu_floor, gpu_of);
    out_.gpu_steps = 0;
    for (const Worker& worker : events_.workers)
      for (const Step& step : worker.steps) *out_.gpu_steps += step.gpu_ns.has_value();
    out_.gpu_step_ns = 0;
    for (std::size_t i = 0; i < requests_.size(); ++i) requests_[i].gpu = gpu[i], *out_.gpu_step_ns += gpu[i].total();
  }

  void bill_energy() {
    const auto joules = joules_in(evidence_, window_, out_.energy_note);
    if (!joules || requests_.empty()) return;
    std::vector<std::uint64_t> weights;
    for (const ServingRequest& request : requests_)
      weights.push_back(static_cast<std::uint64_t>((request.gpu ? *request.gpu : request.step).total()));
    out_.energy_uj = static_cast<std::int64_t>(std::llround(std::max(0.0, *joules) * 1e6));
    const auto parts = divided(*out_.energy_uj, weights);
    for (std::size_t i = 0; i < requests_.size(); ++i) requests_[i].energy_uj = parts[i];
  }

  void tell_workers() {
    std::vector<std::vector<std::pair<Ns, Ns>>> between(events_.workers.size());
    for (std::uint32_t i = 0; i < events_.workers.size(); ++i) {
      ServingWorker worker = worker_times(trace_, events_.workers[i], lives_, i, window_, between[i]);
      for (const Step& step : events_.workers[i].steps) worker.shared_ns += std::min(time_in(step, window_), out_.step_floor.value_or(0));
      out_.workers.push_back(std::move(worker));
    }
    out_.between_code = code_between(trace_, events_, between);
  }

  void tell_tail() {
    out_.tail = tail_of(requests_);
    for (SlowRequest& slow : out_.tail.requests)
      for (std::size_t i = 0; i < requests_.size(); ++i)
        if (requests_[i].id == slow.id) slow.others = prompts_beside(events_, lives_[i]);
    out_.tracks = tracks_of(events_, lives_, spans_, out_.tail);
  }

  void count() {
    out_.count = requests_.size();
    for (const ServingRequest& request : requests_) {
      out_.whole += request.whole();
      out_.began_before += request.began_before;
      out_.ended_after += request.ended_after;
      out_.cancelled += request.end == RequestEnd::kCancelled;
      out_.preempted += request.preemptions > 0;
      if (!request.began_before) ++out_.arrived, out_.prompt_tokens += request.prompt_tokens.value_or(0);
      if (!request.ended_after) out_.output_tokens += request.output_tokens.value_or(0);
    }
  }

  void list_requests() {
    std::stable_sort(requests_.begin(), requests_.end(),
                     [](const ServingRequest& a, const ServingRequest& b) { return a.start_ns < b.start_ns; });
    std::set<std::uint64_t> slow;
    for (const SlowRequest& each : out_.tail.requests) slow.insert(each.id);
    std::size_t listed = 0;
    std::erase_if(requests_, [&](const ServingRequest& each) { return ++listed > kMostListed && !slow.contains(each.id); });
    out_.requests = std::move(requests_);
  }

  const Evidence& evidence_;
  const Trace& trace_;
  Events events_;
  Window window_;
  Serving out_;
  std::vector<Life> lives_;               // by request
  std::vector<ServingRequest> requests_;  // by request, until they are listed
  SpansByRequest spans_;                  // by request
};

}  // namespace
}  // namespace serving

std::optional<Serving> serving_of(const Evidence& evidence) {
  auto events = serving::read_events(evidence.trace);
  if (!events && evidence.loads.empty()) return std::nullopt;
  if (!events) {  // a client says that it sent requests, and the engine marked none
    Serving none;
    none.end_ns = evidence.trace.duration_ns;
    none.client = evidence.loads.front().arrivals;
    none.energy_note = "no request is marked";
    return none;
  }
  return serving::Biller(evidence, std::move(*events)).bill();
}

}  // namespace nl::analysis

#include "model/serving.h"
#include "exporters/run_json/parts.h"

namespace nl::exporters {

void fields(auto& io, Ref<decltype(io), ServingTimes> t) {
  constexpr const char* kAbout[] = {"arrived, until its first step begins",
                                    "steps that compute a part of its prompt",
                                    "steps that write a token of it, as far as they would have taken without prompts of others",
                                    "the rest of such steps, and steps that compute only prompts of others while it waits",
                                    "steps that write a token of it beside prompts of others, with no steps to compare them with",
                                    "preempted, until its next step begins, and steps that compute again what it had computed",
                                    "steps without it that write tokens of others, between its own",
                                    "no step runs, after its first one and before it is finished",
                                    "finished by the scheduler, until all of its text is made",
                                    "between client and server, in both directions; 0: not known"};
  for (std::size_t i = 0; i < kServingParts; ++i) io(kKeys<ServingPart>[i].data(), t.ns[i], kAbout[i], kAnySign);
}

void fields(auto& io, Ref<decltype(io), ServingCost> c) {
  io("own_ns", c.own_ns, "by its tokens");
  io("shared_ns", c.shared_ns,
     "its part, by tokens, of what a step costs whatever is in it; 0 where step_floor_ns or gpu_floor_ns is null");
}

void fields(auto& io, Ref<decltype(io), ServingSpan> s) {
  io("start_ns", s.start_ns, "in the capture", kAnySign);
  io("end_ns", s.end_ns, "likewise", kAnySign);
  io.code("part", s.part, "what most of it is");
}

void fields(auto& io, Ref<decltype(io), ServingRequest> r) {
  io("id", r.id, "as the engine counts them");
  io.known("name", r.name, "its X-Request-Id; null: not known");
  io("worker", r.worker, "index into workers; null: no step had it");
  io("prompt_tokens", r.prompt_tokens, "of its prompt; null: not known");
  io("output_tokens", r.output_tokens, "written; null: it did not end in the window");
  io.code("end", r.end, "why it ended; null: it did not end in the window");
  io("began_before", r.began_before, "the window: only its part inside is here");
  io("ended_after", r.ended_after, "the window: likewise");
  io("start_ns", r.start_ns, "in the capture, within the window", kAnySign);
  io("end_ns", r.end_ns, "all of its text is made; in the capture, within the window", kAnySign);
  io("times_ns", r.times, "add up to end_ns − start_ns, and the network where it is known");
  io("network_before_ns", r.network_before_ns, "from sending it until it has arrived; null: not captured");
  io("network_after_ns", r.network_after_ns, "from its last text until the client has all of it; null: not captured");
  io("first_token_ns", r.first_token_ns, "since it arrived; null: not known");
  io("preemptions", r.preemptions, "how often its blocks were taken");
  io("steps", r.steps, "that had it");
  io("decode_steps", r.decode_steps, "of them, those that wrote a token of it");
  io("step_ns", r.step, "its part of the time of the steps");
  io("gpu_ns", r.gpu, "its part of the GPU's time; null: not captured");
  io("energy_uj", r.energy_uj, "its part of the energy, in microjoules, by GPU time; null: not measured");
}

void fields(auto& io, Ref<decltype(io), ServingWorker> w) {
  io.known("process", w.process, "null: not known");
  io("pid", w.pid, "its process");
  io("steps", w.steps, "in the window");
  io("step_ns", w.step_ns, "a step runs");
  io("between_ns", w.between_ns, "no step runs, and a request of its own is there");
  io("idle_ns", w.idle_ns, "no request is there; the three add up to the window");
  io("shared_ns", w.shared_ns, "of step_ns: what the steps cost whatever is in them");
}

void fields(auto& io, Ref<decltype(io), ServingSteps> s) {
  io.code("kind", s.kind, "prefill: prompts alone, decode: one token of each request, mixed: both");
  io("wall", s.wall, "of the steps' ranges");
  io("requests", s.requests, "in all of them together");
  io("prefill_tokens", s.prefill_tokens, "in all of them together");
  io("decode_tokens", s.decode_tokens, "in all of them together");
  io("gpu_ns", s.gpu_ns, "of all of them together; null: not captured");
}

void fields(auto& io, Ref<decltype(io), ServingStep> s) {
  io("worker", s.worker, "index into workers");
  io("index", s.index, "as the engine counts them");
  io("start_ns", s.start_ns, "in the capture", kAnySign);
  io("end_ns", s.end_ns, "likewise", kAnySign);
  io("prefills", s.prefills, "requests with a part of their prompt");
  io("decodes", s.decodes, "requests with a token");
  io("prefill_tokens", s.prefill_tokens, "of the prompts");
  io("gpu_ns", s.gpu_ns, "GPU time of the work that it launched; null: not captured");
}

void fields(auto& io, Ref<decltype(io), ServingCode> c) {
  io("range", c.range, "its name");
  io.known("process", c.process, "null: not known");
  io("time_ns", c.ns, "of the time between steps, each moment in one range");
  io("function", c.function, "that most samples of the host show there; null: not known");
}

void fields(auto& io, Ref<decltype(io), ServingLatency::Quantile> q) {
  io("share", q.share, "of the requests that are not above it", kFraction);
  io("ns", q.ns, "the median between the two middle values, others by nearest rank");
  io("low_ns", q.low_ns, "95 % interval; null: too few requests");
  io("high_ns", q.high_ns, "likewise");
}

void fields(auto& io, Ref<decltype(io), ServingLatency> l) {
  io.code("figure", l.figure, "queue; ttft: to the first token; tpot: from then on, ÷ (tokens − 1); total: until all of its text is made");
  io("count", l.count, "requests that have it");
  io("mean_ns", l.mean_ns, "their mean");
  io("quantiles", l.quantiles, "rising");
}

void fields(auto& io, Ref<decltype(io), ServingSeries> s) {
  io("start_ns", s.start_ns, "in the capture", kAnySign);
  io("step_ns", s.step_ns, "of a piece");
  io("arrivals", s.arrivals, "in each piece");
  io("running", s.running, "requests on average, from their first step to their last");
  io("waiting", s.waiting, "requests on average, in the queue or preempted");
  io("batch", s.batch, "requests of a step on average, by the steps' time; 0: no step");
}

void fields(auto& io, Ref<decltype(io), SlowRequest> s) {
  io("id", s.id, "of requests");
  io("latency_ns", s.latency_ns, "from its arrival until all of its text is made; with the network where that is known of all requests");
  io("peers", s.peers, "requests of like sizes");
  io("peer_median_ns", s.peer_median_ns, "of their time; null: fewer than five");
  io("excess_ns", s.excess, "by part, above the medians of its peers; 0 without peers");
  io("slower_than_peers", s.slower_than_peers,
     "then the cause is the part with the largest excess, else the largest that is not its own computing");
  io.code("cause", s.cause, "that part");
  io("cause_ns", s.cause_ns, "and its time");
  io("others", s.others, "requests whose prompts shared its steps, the most tokens first");
}

void fields(auto& io, Ref<decltype(io), ServingTrack> t) {
  io("id", t.id, "of requests");
  io("spans", t.spans, "by time");
}

void fields(auto& io, Ref<decltype(io), ServingCause> c) {
  io.code("part", c.part, "the cause");
  io("requests", c.requests, "that have it");
  io("time_ns", c.ns, "of theirs");
}

void fields(auto& io, Ref<decltype(io), ServingTail> t) {
  io("judged", t.judged, "requests that began and ended in the window, and were not cancelled");
  io("judged_ns", t.judged_times, "the time of all of them");
  io("requests", t.requests, "the slowest percent of them against requests of like sizes, the slowest first");
  io("causes", t.causes, "of their time, the most first");
  io("latency_ns", t.latency_ns, "of the slowest");
  io("times_ns", t.times, "likewise, by part");
}

void fields(auto& io, Ref<decltype(io), LoadArrivals> a) {
  io.code("kind", a.kind, "how they come");
  io("rate_per_s", a.rate_per_s, "as asked for; null: not known, or a closed loop");
  io("burstiness", a.burstiness, "of gamma arrivals; null: of others");
  io("concurrency", a.concurrency, "users of a closed loop; null: of others");
  io("seed", a.seed, "null: not known");
}

void fields(auto& io, Ref<decltype(io), ServingDamaged> d) {
  io.code("what", d.what, "what is wrong");
  io("count", d.count, "how often");
}

void fields(auto& io, Ref<decltype(io), Serving> s) {
  io("start_ns", s.start_ns, "of the window, in the capture", kAnySign);
  io("end_ns", s.end_ns, "likewise", kAnySign);
  io("count", s.count, "of requests");
  io("arrived", s.arrived, "in the window");
  io("whole", s.whole, "that began and ended in it");
  io("began_before", s.began_before, "the window");
  io("ended_after", s.ended_after, "the window");
  io("cancelled", s.cancelled, "by their clients");
  io("preempted", s.preempted, "once or more");
  io("prompt_tokens", s.prompt_tokens, "of those that arrived");
  io("output_tokens", s.output_tokens, "of those that ended");
  io("times_ns", s.times, "of all requests inside the window, without the network");
  io("requests", s.requests, "by arrival; `count` says how many there are");
  io("workers", s.workers, "by their first step");
  io("steps", s.steps, "of the kinds that there are");
  io("longest_steps", s.longest_steps, "the longest first");
  io("step_floor_ns", s.step_floor, "what a step of one token takes, the median; null: fewer than five, so that nothing is shared");
  io("gpu_floor_ns", s.gpu_floor, "its GPU time; null: likewise");
  io("gpu_step_ns", s.gpu_step_ns, "GPU time of the work that steps launched; null: not captured");
  io("gpu_steps", s.gpu_steps, "how many steps that is: only those whose GPU work was recorded as a whole; null: not captured");
  io("gpu_other_ns", s.gpu_other_ns, "GPU time of other work in the window; null: not captured");
  io("energy_uj", s.energy_uj, "of the GPUs in the window, in microjoules, idle power included; null: not measured");
  io.known("energy_note", s.energy_note, "why there is none; null: there is one");
  io("between_code", s.between_code, "what ran when no step did, the most time first");
  io("latencies", s.latencies, "of the requests that began and ended in the window, and were not cancelled");
  io("series", s.series, "the window in equal pieces");
  io("tail", s.tail, "why the slowest requests are slow");
  io("tracks", s.tracks, "the slowest request and those beside it, for a picture");
  io("client", s.client, "how the client sent them; null: no records of a client");
  io.code("network", s.network, "whether its records could be joined");
  io("joined", s.joined, "requests with a record of the client");
  io("damage", s.damage, "marks and records that are wrong, counted");
}

void serving_fields(auto& io, Ref<decltype(io), Run> run) {
  io("serving", run.serving, "the bill of a window of serving; null: no marks of requests");
}

template void serving_fields(JsonWriter&, const Run&);
template void serving_fields(JsonReader&, Run&);
template void serving_fields(SchemaWriter&, const Run&);

}  // namespace nl::exporters

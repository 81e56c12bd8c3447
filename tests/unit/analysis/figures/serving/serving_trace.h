#pragma once

#include <fmt/format.h>

#include <string>

#include "analysis/figures/serving/serving.h"
#include "tests/unit/analysis/trace_builder.h"

// A trace of an engine that marks its requests and steps, event by event. Thread 0 computes the steps; the scheduler and the API are processes of
// their own.
struct ServingTrace : TraceBuilder {
  std::string domain = "LLM";
  std::uint32_t scheduler = thread(process()), api = thread(process());
  std::uint64_t steps = 0;
  nl::Evidence evidence;

  ServingTrace() {
    trace.processes[0].name = "worker";
    trace.processes[1].name = "scheduler";
    trace.processes[2].name = "api";
  }

  void say(const std::string& text, nl::Ns at, std::uint32_t thread) {
    const std::string told = domain.empty() ? "LLM@" + text : text;
    mark(domain.c_str(), told.c_str(), at, thread);
    trace.duration_ns = std::max(trace.duration_ns, at);
  }
  void arrived(int id, nl::Ns at, int prompt = 8, const std::string& name = "") {
    say(fmt::format("request arrived id={} prompt={} most=9 name={}", id, prompt, name.empty() ? fmt::format("r-{}", id) : name), at, api);
  }
  void queued(int id, nl::Ns at) { say(fmt::format("request queued id={}", id), at, scheduler); }
  void scheduled(int id, nl::Ns at, int again = 0) { say(fmt::format("request scheduled id={} again={}", id, again), at, scheduler); }
  void preempted(int id, nl::Ns at, int tokens = 9) { say(fmt::format("request preempted id={} tokens={}", id, tokens), at, scheduler); }
  void first_token(int id, nl::Ns at) { say(fmt::format("request first_token id={}", id), at, scheduler); }
  void finished(int id, nl::Ns at, int tokens = 2, const char* reason = "length") {
    say(fmt::format("request finished id={} tokens={} reason={}", id, tokens, reason), at, scheduler);
  }
  void detokenised(int id, nl::Ns at) { say(fmt::format("request detokenised id={} tokens=2 us=1", id), at, api); }
  void step(const std::string& requests, nl::Ns start, nl::Ns end, std::uint32_t thread = 0, const char* name = "execute_step") {
    say(fmt::format("step index={} requests={}", steps++, requests), start - 1, thread);
    range("vendor", name, start, end, thread);
    trace.duration_ns = std::max(trace.duration_ns, end);
  }
  // A request of two tokens that nothing disturbs, from `at` on: 10 in the queue, 20 of prefill, 5 between, 10 of decode, 1, 4 of detokenising.
  void plain(int id, nl::Ns at, nl::Ns decode = 10) {
    arrived(id, at);
    step(fmt::format("{}:prefill:8", id), at + 10, at + 30);
    first_token(id, at + 31);
    step(fmt::format("{}:decode:1", id), at + 35, at + 35 + decode);
    finished(id, at + 36 + decode);
    detokenised(id, at + 40 + decode);
  }

  nl::Serving bill() {
    evidence.trace = std::move(trace);
    auto serving = nl::analysis::serving_of(evidence);
    REQUIRE(serving);
    return *serving;
  }
};

inline const nl::ServingRequest& request(const nl::Serving& serving, std::uint64_t id) {
  for (const nl::ServingRequest& each : serving.requests)
    if (each.id == id) return each;
  FAIL("no request " << id);
  throw 0;
}

// The parts that are not zero.
inline std::string text_of(const nl::ServingTimes& times) {
  std::string out;
  for (std::size_t i = 0; i < nl::kServingParts; ++i)
    if (times.ns[i] != 0) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", nl::kKeys<nl::ServingPart>[i], times.ns[i]);
  return out;
}

inline std::uint64_t damage(const nl::Serving& serving, nl::ServingDamage what) {
  for (const nl::ServingDamaged& each : serving.damage)
    if (each.what == what) return each.count;
  return 0;
}

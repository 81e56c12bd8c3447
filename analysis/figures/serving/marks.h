#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/serving.h"
#include "model/trace.h"

// What an engine says of its requests and steps, in marks of the domain LLM (workloads/serve/README.md has them all):
//
//   request arrived id=7 prompt=512 most=128 name=load-7
//   step index=41 requests=7:prefill:512,8:decode:1
namespace nl::analysis::serving {

struct RequestEvents {
  std::uint64_t id = 0;
  std::string name;
  std::optional<std::uint64_t> prompt_tokens, output_tokens;
  std::optional<Ns> arrived_ns, queued_ns, first_token_ns, finished_ns, detokenised_ns;
  std::vector<std::pair<Ns, std::uint64_t>> scheduled;  // when, and how often it was preempted before
  std::vector<std::pair<Ns, std::uint64_t>> preempted;  // when, and how many tokens it has to compute again
  RequestEnd end = RequestEnd::kNone;
};

struct StepEntry {
  std::uint32_t request = 0;  // index into Events::requests
  bool prefill = false;
  std::uint64_t tokens = 0;
};

struct Step {
  Ns start_ns = 0, end_ns = 0;
  std::uint64_t index = 0;
  std::vector<StepEntry> entries;  // not empty, each request once
  std::uint64_t prefills = 0, decodes = 0, prefill_tokens = 0, decode_tokens = 0;
  std::optional<Ns> gpu_ns;

  std::uint64_t tokens() const { return prefill_tokens + decode_tokens; }
  ServingStepKind kind() const {
    if (prefills == 0) return ServingStepKind::kDecode;
    return decodes == 0 ? ServingStepKind::kPrefill : ServingStepKind::kMixed;
  }
};

struct Worker {
  std::uint32_t thread = kNone;  // that computes the steps
  std::vector<Step> steps;       // by start, none overlapping another
};

using Damage = std::map<ServingDamage, std::uint64_t>;

struct Events {
  std::vector<RequestEvents> requests;  // in the order in which they are first told of
  std::vector<Worker> workers;          // by their first step
  std::vector<std::uint32_t> scheduler_threads;
  Ns first_ns = 0, last_ns = 0;  // of all marks and steps
  bool any_detokenised = false;  // the engine says when texts are made
  Damage damage;
};

// Nothing where the trace has no such marks.
std::optional<Events> read_events(const Trace& trace);

}  // namespace nl::analysis::serving

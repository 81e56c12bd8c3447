#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/trace.h"
#include "orchestrator/config/config.h"

// capture.duty: the collector traces whole steps, one in so many, chosen at random among those of each kind.
namespace nl::orchestrator {

// What tells the collector; empty where every step is traced.
std::map<std::string, std::string> duty_environment(const Config& config);

// The stages of stages.map whose regular expressions the collector cannot match, "decode_step: ^step [0-9]+".
std::vector<std::pair<std::string, std::string>> unknown_steps(const Config& config);

// Whether the program or its engine marks steps of a kind that is chosen from.
bool marks_steps(const Trace& trace);

}  // namespace nl::orchestrator

#pragma once

#include <string>

#include "model/serving.h"

// The bill of a window of serving in words.
namespace nl::exporters::report {

std::string part_title(ServingPart part);    // "between steps"
const char* part_meaning(ServingPart part);  // what it is, in a sentence
const char* part_colour(ServingPart part);   // "b-queue"

std::string request_text(const ServingRequest& request);  // "7 (load-7)"
const ServingRequest* request_of(const Serving& serving, std::uint64_t id);

// What runs most of the time between steps: "range schedule of nl-serve schedu, function tidy_queue (scheduler.py:10)"; empty: nothing is named.
std::string code_text(const ServingCode& code);

// Why a request took so long, for those who run the engine.
std::string reason_text(const Serving& serving, const SlowRequest& slow);

std::string damage_text(const ServingDamaged& damage);
std::string network_text(const Serving& serving);
std::string load_sentence(const Serving& serving);

}  // namespace nl::exporters::report

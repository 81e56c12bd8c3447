#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/codes.h"

// What the collector's notes mean. They come as sentences as long as its trace has no codes for them; this is the only
// place that reads them, and goes when it has.
namespace nl {

// Why a pass counted nothing: kCountersDenied, kCountersBusy or kCountersFailed. Nothing: no note says so.
std::optional<Remark> counter_trouble(const std::vector<std::string>& notes);

// Why kernels, copies and calls were not recorded, in the collector's words.
std::optional<std::string> recording_trouble(const std::vector<std::string>& notes);

// Why activity or stalls were not sampled: kSamplingDenied or kSamplingFailed.
std::optional<Remark> activity_trouble(const std::vector<std::string>& notes);
std::optional<Remark> stall_trouble(const std::vector<std::string>& notes);

}  // namespace nl

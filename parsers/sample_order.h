#pragma once

#include "model/host_code.h"

namespace nl::parsers {

// Puts samples and collections into the order of time, and finds the period: the median time between two samples of one thread. A thread
// that sleeps is not sampled.
void order_samples(HostSamples& host);

}  // namespace nl::parsers

#pragma once

#include <vector>

#include "model/operator.h"

namespace nl {

// The time of each call that belongs to it alone, so that times can be added: its GPU time where that is known, else its host time without the
// calls inside it. Calls that have neither take none.
std::vector<Ns> own_times(const OperatorStep& step);

Ns sum_of(const std::vector<Ns>& times);

// Whether the step is one of nodes of a model file, with names of their own.
bool has_nodes(const OperatorStep& step);

}  // namespace nl

#pragma once

#include "model/run.h"
#include "model/session.h"

namespace nl::analysis {

// A session as a whole: how long its iterations take, and how much of that its operators explain.
SessionEntry session_figures(const ModelSession& session);

}  // namespace nl::analysis

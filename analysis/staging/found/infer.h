#pragma once

#include "analysis/staging/found/found.h"
#include "model/trace.h"

namespace nl::analysis {

// Prefill and steps of decoding from what repeats in a trace, thread by thread. Nothing where nothing repeats, where it cannot be
// told where a step begins, and where nothing shows that tokens are generated; the notes say what was seen.
FoundStages infer_stages(const Trace& trace);

}  // namespace nl::analysis

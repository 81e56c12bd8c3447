#pragma once

#include "collector/gpu/cupti_library.h"

namespace nl::collector {

// Which stream a call waits for is in no record of the call, and CUPTI's own records of waits slow every launch. So
// CUPTI tells us of these calls as they are made.
bool is_stream_wait(const char* function);
void around_stream_wait(const CuptiLibrary& library, const cupti::CallbackData& call);

}  // namespace nl::collector

#pragma once

#include "collector/nvtx/recorder.h"
#include "collector/trace_file.h"

namespace nl::collector {

bool keeps_ring();  // this process records all the time, and its GPU only in windows

}  // namespace nl::collector

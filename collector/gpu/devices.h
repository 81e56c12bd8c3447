#pragma once

#include "collector/gpu/cupti_api.h"

namespace nl::collector {

// Asks the CUDA driver in this process for its GPUs and calls visit for each, as CUPTI would have described it. For
// where CUPTI does not: it tells of GPUs only when they were found after it was asked to.
void visit_devices(void (*visit)(const cupti::DeviceRecord& device));

}  // namespace nl::collector

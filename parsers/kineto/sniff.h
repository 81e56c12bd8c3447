#pragma once

#include "parsers/file_head.h"

namespace nl::parsers::kineto {

// A Chrome trace with events of categories that only torch.profiler writes, plain or packed with gzip.
bool is_trace(const FileHead& head);

}  // namespace nl::parsers::kineto

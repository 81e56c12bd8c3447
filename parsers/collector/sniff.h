#pragma once

#include "parsers/file_head.h"

namespace nl::parsers::collector_trace {

// The first bytes of a file that the injected collector wrote.
bool is_trace(const FileHead& head);

}  // namespace nl::parsers::collector_trace

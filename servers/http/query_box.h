#pragma once

#include <string>

#include "servers/http/parts.h"

namespace nl::servers::http {

// A box that asks the tool `query` about a run; empty where the server has no such tool.
std::string query_box(const Parts& parts, const std::string& run_id);

}  // namespace nl::servers::http

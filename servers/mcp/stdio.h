#pragma once

#include "servers/mcp/server.h"

namespace nl::servers::mcp {

// Serves one client on standard input and output, a message a line, until it closes its end or a signal comes. What is under way ends then, and
// keeps what it has captured. Whatever else would be printed to standard output goes to standard error. Returns the number of the signal; 0: none.
int serve_stdio(Server& server, Access access);

}  // namespace nl::servers::mcp

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "servers/http/message.h"

// Addresses: "/runs/a%20b?tag=x" ↔ its parts.
namespace nl::servers::http {

struct Target {
  std::vector<std::string> path;  // decoded: {"runs", "a b"}
  Fields query;
};

// Nothing where the target is no path of this server: an absolute address, "..", an empty part, a control character, a wrong escape, or an
// escaped '/' (no name of ours has one).
std::optional<Target> parse_target(std::string_view target);

// "a=1&b=x+y"; nothing where an escape is wrong.
std::optional<Fields> parse_fields(std::string_view text);

std::string escaped(std::string_view text);    // for a part of a path, and a value of a query
std::string query_text(const Fields& fields);  // "?a=1&b=x%20y"; empty where there are none

}  // namespace nl::servers::http

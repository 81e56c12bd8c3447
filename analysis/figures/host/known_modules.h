#pragma once

#include <optional>
#include <string_view>

#include "analysis/figures/host/code_origin.h"

// What is known of Python's modules by their names: who wrote them, and what their code does. The one table of it.
namespace nl::analysis {

// Nothing where the name does not say it: the file does, or the module is the user's own.
std::optional<CodeOrigin> known_origin(std::string_view module);

struct KnownWork {
  std::optional<HostWork> work;  // empty: whose work it is, the caller says
};
std::optional<KnownWork> known_work(std::string_view module);

// "torch": it and all below it; "a.b*": whatever begins so; "*.b_*": whatever has it inside.
bool names_module(std::string_view pattern, std::string_view module);

}  // namespace nl::analysis

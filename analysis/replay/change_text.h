#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/replay/changes.h"

// Changes as people write them, in arguments of `nl-stage whatif` and in rules.
namespace nl::analysis {

struct NamedChange {
  std::string text;  // "--graph decode_step"
  Change change;
};

// The flags that stand for a change, in the order in which the changes are made: waits before graphs, which begin and end at them.
const std::vector<std::string_view>& change_flags();

// Of a flag and what follows it; empty where the flag stands alone. Throws Error(kUsage).
NamedChange change_of(const std::string& flag, const std::string& value);

// The same of one text: "--host audit_tokens=0".
NamedChange change_of(const std::string& text);

}  // namespace nl::analysis

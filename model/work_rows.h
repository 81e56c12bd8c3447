#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "model/trace.h"

// Rows as a reader meets them, for what is summed up while it is read: nothing keeps them. What ran on a GPU belongs to the call of the same
// process that has its correlation.
namespace nl {

struct CallRow {
  Ns start_ns = 0, end_ns = 0;
  std::uint32_t thread = kNone;  // index into Trace::threads
  std::uint32_t process = kNone;
  std::uint32_t correlation = kNone;  // kNone: it launched nothing
};

struct LaunchedRow {
  Ns start_ns = 0, end_ns = 0;
  StringId name;
  std::uint32_t process = kNone;  // kNone: whose it is is not known
  std::uint32_t correlation = kNone;
};

// Parts of a table are read side by side, each in its order.
using TakeCalls = std::function<void(std::size_t part, std::span<const CallRow>)>;
using TakeWork = std::function<void(std::size_t part, std::span<const LaunchedRow>)>;

}  // namespace nl

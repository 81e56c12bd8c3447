#pragma once

#include <cstdint>
#include <cstring>

#include "collector/gpu/cupti_api.h"

namespace nl::collector {

inline constexpr std::uint32_t kMaxFunctions = 2048;  // of a domain

// CUDA's functions, as this CUPTI numbers and names them.
template <typename Visit>
void visit_functions(const cupti::Api& api, cupti::Domain domain, Visit visit) {
  // Numbers have gaps where functions were taken out.
  for (std::uint32_t function = 1, missing = 0; function < kMaxFunctions && missing < 128; ++function) {
    const char* name = nullptr;
    if (api.cuptiGetCallbackName(domain, function, &name) != cupti::kSuccess || name == nullptr) {
      ++missing;
      continue;
    }
    missing = 0;
    visit(function, name);
  }
}

// Whether its stream 0 is the thread's own default stream.
inline bool has_thread_streams(const char* function) { return std::strstr(function, "_ptsz") != nullptr; }

}  // namespace nl::collector

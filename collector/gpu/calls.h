#pragma once

#include <cstdint>
#include <cstring>

#include "collector/gpu/cupti_api.h"
#include "collector/trace_format.h"

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

// Which of CUDA's functions are recorded. A program calls several for each launch that neither start work nor
// wait for it, and each record costs the thread that calls.
class CallChooser {
 public:
  static bool starts_or_waits(const char* function);  // or manages memory
  static bool is_noise(const char* function);         // asks a question, or is called by the compiler's own code

  void choose(const cupti::Api& api, trace_format::CallChoice choice);  // once
  // Tells CUPTI; where it cannot choose by function (before CUDA 12), all are recorded and wanted() sorts them.
  void enable(const cupti::Api& api);
  void disable(const cupti::Api& api) const;
  bool wanted(std::uint32_t domain, std::uint32_t function) const {
    return !sorts_ || (domain < 3 && function < kMaxFunctions && wanted_[domain][function]);
  }

 private:
  bool enable_one_by_one(const cupti::Api& api) const;
  void list(const cupti::Api& api, cupti::Domain domain);

  trace_format::CallChoice choice_ = trace_format::CallChoice::kNone;
  bool sorts_ = false;
  bool wanted_[3][kMaxFunctions] = {};
  bool exists_[3][kMaxFunctions] = {};
};

}  // namespace nl::collector

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/trace.h"

// What Nsight Compute measured, launch by launch, in base units (ns, bytes, Hz, %).
namespace nl {

struct NcuRange {
  std::string domain;  // empty: the default domain
  std::string name;
  RangeStyle style = RangeStyle::kPushPop;
};

struct NcuLaunch {
  std::uint64_t id = 0;
  std::uint32_t pid = 0;
  std::string kernel_name;  // as ncu printed it: demangled, shortened or mangled
  std::int32_t device = 0;
  std::uint32_t context = 0, stream = 0;
  Dim3 grid, block;
  std::vector<NcuRange> ranges;                     // open on the launching thread, outermost first
  std::map<std::string, double> metrics;            // metric → value in base units
  std::map<std::string, std::string> text_metrics;  // those that are no numbers
};

struct NcuReport {
  std::string page;  // "raw" or "details"
  std::vector<NcuLaunch> launches;
  DamagedRows rows_damaged;
  std::vector<std::string> tool_messages;  // the ==…== lines met between the rows
};

}  // namespace nl

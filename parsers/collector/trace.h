#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/counters.h"
#include "model/evidence.h"
#include "model/trace.h"

namespace nl::parsers {

enum class CallRows {
  kWork,  // api_calls are those that launched GPU work or waited for it, as the analysis wants them
  kAll,   // all that were recorded, for an export
};

// The files that the injected collector wrote, one per process, of one run. A file that ends in the
// middle of a record (the process was killed) gives all records before it.
Trace read_collector_traces(const std::vector<std::filesystem::path>& files, CallRows rows = CallRows::kWork);

// The launches of a pass that records only these, by thread; a thread that launched nothing is left out. `notes`: why the GPU half
// recorded none, as far as it says.
struct RecordedLaunches {
  std::vector<ThreadLaunches> threads;
  std::vector<Remark> notes;
};
RecordedLaunches read_collector_launches(const std::vector<std::filesystem::path>& files);

// Whether the GPU half worked in any of the files, even if it recorded nothing. Reads only as much of them as that needs.
bool gpu_half_recorded(const std::vector<std::filesystem::path>& files);

// The name of the process that wrote the file, from its header; empty: the header has none, or cannot be read.
std::string process_name_of(const std::filesystem::path& file);
std::string host_name_of(const std::filesystem::path& file);  // the same for the machine that it ran on

// The files that the injected collector wrote in a counter pass, one per process. Times are since the earliest of them
// was made. A metric that could not be measured is absent. A bad header is an Error, a bad record is counted.
//
// A kernel is measured by two sets: one in place on one launch, one by replaying a later launch of the same shape. Both
// are one launch here, with the name, time and ranges of the first. Where both sets have a metric, the one that
// took fewer runs of the kernel counts; and replays leave the caches warm, so that what they say of DRAM is left
// out where the launch was also measured in place.
CounterReport read_collector_counters(const std::vector<std::filesystem::path>& files);

}  // namespace nl::parsers

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "orchestrator/sampling/perf_records.h"
#include "orchestrator/sampling/unwinder.h"

namespace nl::orchestrator::sampling {

// What the records say, in the order of time: which process has which code where, and the stacks of its threads.
class SampledProcesses {
 public:
  explicit SampledProcesses(const Machine& machine, std::size_t most_samples) : machine_(machine), images_(machine), most_(most_samples) {}

  void take(const PerfRecord& record);

  std::uint64_t samples() const { return kept_; }
  std::uint64_t lost() const { return lost_; }

  // The text of stacks-<pid>.txt of each process that has samples. Reads the symbols. `cost_ns`: the processor time of sampling until
  // `end_ns`.
  std::vector<std::pair<std::uint32_t, std::string>> texts(const std::vector<std::string>& only_with, int hertz, std::int64_t end_ns,
                                                           std::int64_t cost_ns);

 private:
  struct Sample {
    std::int64_t time_ns = 0;
    std::uint32_t tid = 0, stack = 0;
  };
  struct Process {
    AddressSpace space;
    bool python = false, ended = false;
    std::vector<std::uint32_t> images;  // that it has or had
    std::vector<Sample> samples;
  };
  struct Name {
    std::string function;
    std::uint32_t image = 0;
    friend auto operator<=>(const Name&, const Name&) = default;
  };

  void map(const MapRecord& record);
  void start(const TaskRecord& record);
  void sample(const PerfRecord& record);
  void keep(Process& process, const Sample& sample);
  void thin_out();
  Process* process_of(std::uint32_t pid);
  std::uint32_t stack_of(std::vector<CodePlace> places);
  bool is_wanted(const Process& process, const std::vector<std::string>& only_with) const;
  std::string text_of(const Process& process, int hertz);
  Name name_of(const CodePlace& place);

  const Machine& machine_;
  Images images_;
  std::size_t most_;
  std::map<std::uint32_t, Process> processes_;
  std::map<std::vector<CodePlace>, std::uint32_t> numbers_;
  std::vector<const std::vector<CodePlace>*> stacks_;  // the innermost frame first
  std::map<CodePlace, Name> names_;
  std::uint64_t kept_ = 0, lost_ = 0, seen_ = 0, keep_one_in_ = 1;
};

}  // namespace nl::orchestrator::sampling

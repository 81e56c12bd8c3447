#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/figures/detail/innermost.h"
#include "analysis/figures/host/host_work.h"
#include "analysis/trace/api_kind.h"
#include "model/detail.h"
#include "model/trace.h"

namespace nl::analysis {

// Lines of the program: where the workload marks them (the domain LLM.lines) that line, else that of the sample of the thread
// nearest to the moment, at most one period away. It is the line of the call where no other call of the thread lies between;
// samples are rare, so mostly it is only nearby.
class Sites {
 public:
  Sites(const Trace& trace, const CallsByThread& launches, const CallsByThread& other_calls,
        const std::vector<std::uint32_t>& ranges_by_start);

  std::uint32_t of(const WorkOrigin& origin);  // index into the list, or kNone
  std::vector<DetailSite> take() { return std::move(sites_); }

 private:
  std::uint32_t number(const DetailSite& site);
  std::uint32_t sampled(const WorkOrigin& origin);
  bool leads_to(const WorkOrigin& call, Ns sample_ns) const;

  const Trace& trace_;
  std::vector<std::uint32_t> line_of_range_;  // the range's name where it is a line
  InnermostItem lines_;
  HostWorks works_;
  std::vector<std::vector<std::uint32_t>> samples_;  // by thread
  const CallsByThread &launches_, &others_;
  std::vector<DetailSite> sites_;
  std::map<std::pair<std::string, bool>, std::uint32_t> numbers_;
};

}  // namespace nl::analysis

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "model/trace.h"

namespace nl::parsers {

// Processes, threads, queues and kernel shapes of a trace, numbered as they are met in a JSON trace.
class TracePlaces {
 public:
  explicit TracePlaces(Trace& trace) : trace_(trace) {}

  std::uint32_t thread(std::int64_t pid, std::int64_t tid);
  std::uint32_t queue(std::int64_t device, std::int64_t context, std::int64_t stream);
  std::uint32_t shape(const KernelShape& shape);
  // Names may come before or after what they name.
  void name(std::int64_t pid, std::optional<std::int64_t> tid, std::string_view name);
  // Once all is read.
  void finish();

 private:
  using Place = std::pair<std::int64_t, std::int64_t>;
  Trace& trace_;
  std::map<std::int64_t, std::uint32_t> processes_;
  std::map<Place, std::uint32_t> threads_;
  std::map<Queue, std::uint32_t> queues_;
  std::map<KernelShape, std::uint32_t> shapes_;
  std::map<std::int64_t, std::string> process_names_;
  std::map<Place, std::string> thread_names_;
  Place last_place_;
  std::uint32_t last_thread_ = kNone;
};

}  // namespace nl::parsers

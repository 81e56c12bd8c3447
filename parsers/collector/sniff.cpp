#include "parsers/collector/sniff.h"

#include "collector/trace_format.h"

namespace nl::parsers::collector_trace {

bool is_trace(const FileHead& head) {
  return head.starts_with(std::string_view(trace_format::kMagic, sizeof trace_format::kMagic));
}

}  // namespace nl::parsers::collector_trace

#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace nl {

// The mend of graphs whose kernels are not in the trace.
inline constexpr const char* kTraceNodes = "--set nsys.cuda_graph_trace=node, of the collector capture.cuda_graphs=node";

// Several files of one capture may say the same.
inline void add_note(std::vector<std::string>& notes, const std::string& note) {
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
}

}  // namespace nl

#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace nl {

// Several files of one capture may say the same.
inline void add_note(std::vector<std::string>& notes, const std::string& note) {
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
}

}  // namespace nl

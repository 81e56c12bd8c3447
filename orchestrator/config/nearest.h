#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nl::orchestrator {

// Edits (insert, delete, replace, swap of neighbours) that turn one text into the other.
std::size_t edit_distance(std::string_view from, std::string_view to);

// The candidate that was most likely meant: fewest edits, or one whose last part is the very word; ""
// where none is near.
std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates);

// The nearest candidates, the nearest first, even if all are far; a name that contains the word is near.
std::vector<std::string> nearest_names(std::string_view word, const std::vector<std::string>& candidates, std::size_t most);

// "did you mean 'decode'?", "one of: prefill, decode" where none is near, "" where there are none.
std::string nearest_or_all(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace nl::orchestrator

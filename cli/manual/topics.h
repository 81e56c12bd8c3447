#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/bundle/packed_text.h"

// The pages of docs/, which are inside the program: `nl-stage help TOPIC`.
namespace nl::cli {

extern const std::span<const orchestrator::PackedText> kPackedPages;  // sorted; made from docs/ by tools/embed

struct Topic {
  std::string name;   // "exit-status"
  std::string title;  // "Exit statuses of nl-stage"
  std::string text;   // the page, Markdown
};

std::vector<Topic> all_topics();  // sorted by name
std::vector<std::string> topic_names();

// "exit-status", or as messages name it: "docs/exit-status.md". nullptr: there is none.
const orchestrator::PackedText* find_topic(std::string_view name);
Topic read_topic(const orchestrator::PackedText& page);

// A page for a terminal so many places wide: prose, lists and tables are broken to fit, commands stay as they are.
std::string page_text(std::string_view markdown, std::size_t width);

}  // namespace nl::cli

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// The pages of docs/, which are inside the program: `nl-stage help TOPIC`.
namespace nl::cli {

struct PackedPage {
  std::string_view file;    // "exit-status.md"
  std::string_view packed;  // by zlib
  std::size_t size;         // of the page
};
extern const std::span<const PackedPage> kPackedPages;  // sorted; made from docs/ by tools/embed

struct Topic {
  std::string name;   // "exit-status"
  std::string title;  // "Exit statuses of nl-stage"
  std::string text;   // the page, Markdown
};

std::vector<Topic> all_topics();  // sorted by name
std::vector<std::string> topic_names();

// "exit-status", or as messages name it: "docs/exit-status.md". nullptr: there is none.
const PackedPage* find_topic(std::string_view name);
Topic read_topic(const PackedPage& page);

// A page for a terminal so many places wide: prose, lists and tables are broken to fit, commands stay as they are.
std::string page_text(std::string_view markdown, std::size_t width);

}  // namespace nl::cli

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "exporters/report/text/document.h"

namespace nl::exporters {

// A document as Markdown. Figures and what explains them are left out: what they show stands in tables.
std::string markdown(const report::Document& document);

// A document for a terminal so many places wide, without its title: prose is broken into lines, tables are fitted, and figures are
// left out.
std::string terminal_text(const report::Document& document, std::size_t width);

// The document with its empty sections, of which there is nothing but the reason why, as one list at the end: "Energy, Layers: not captured."
report::Document with_empty_together(report::Document document);

// Text that stays itself in a Markdown table: one line, pipes escaped, no `<unnamed>` that a browser would take for
// a tag, and no link: names out of a capture are a program's own. Nothing else changes, so that scripts find names as they are.
std::string markdown_text(std::string_view text);

// A code span on one line whose fence is longer than any run of backticks inside.
std::string markdown_code(std::string_view text);

}  // namespace nl::exporters
